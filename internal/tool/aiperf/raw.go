package aiperf

import (
	"encoding/json"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// exchange is what the raw form has besides: when the parts of the response came, and what they
// said. What was sent, with its headers, is not read.
type exchange struct {
	StartPerf int64      `json:"start_perf_ns"`
	Status    int        `json:"status"`
	Responses []response `json:"responses"`
}

// response is what one read of the network brought: events of a stream, or a whole response.
type response struct {
	At      int64 `json:"perf_ns"`
	Packets []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"packets"`
	Text string          `json:"text"`
	JSON json.RawMessage `json:"json"`
}

// message is what an event says, as far as it matters.
type message struct {
	Choices []struct {
		Text    string `json:"text"`
		Delta   delta  `json:"delta"`
		Message delta  `json:"message"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached *int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

type delta struct {
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	Thinking  string          `json:"reasoning"`
	Tools     []any           `json:"tool_calls"`
}

// streamed reports whether the response came in events.
func (e *exchange) streamed() bool {
	for _, r := range e.Responses {
		if len(r.Packets) > 0 {
			return true
		}
	}
	return false
}

// fill takes the times and the counts out of the response.
func (e *exchange) fill(r *importer.Request) {
	at := func(perf int64) time.Duration { return max(r.Sent+time.Duration(perf-e.StartPerf), r.Sent) }
	r.Streamed, r.Counted = e.streamed(), record.FromServer
	if e.Status >= 300 {
		r.Failure = importer.Failure(e.Status, "", "", r.End)
		return
	}
	end, visible := r.Sent, false
	for _, resp := range e.Responses {
		var content, reasoning bool
		texts := []string{resp.Text, string(resp.JSON)}
		for _, p := range resp.Packets {
			if p.Name == "data" {
				texts = append(texts, p.Value)
			}
		}
		for _, text := range texts {
			c, t := readEvent(text, r)
			content, reasoning = content || c, reasoning || t
		}
		if !content && !reasoning {
			continue
		}
		end = at(resp.At)
		if r.Streamed {
			r.Events = append(r.Events, end)
		}
		if visible = visible || content; !visible {
			r.Visible++
		}
	}
	if end > r.Sent {
		r.End = end
	}
	r.Each = len(r.Events) == r.Out
}

// readEvent reads one event: whether it has visible text, or text of reasoning, and the usage.
func readEvent(text string, r *importer.Request) (content, reasoning bool) {
	var m message
	if text == "" || json.Unmarshal([]byte(text), &m) != nil {
		return false, false
	}
	for _, c := range m.Choices {
		for _, d := range []delta{c.Delta, c.Message} {
			s := string(d.Content)
			content = content || s != "" && s != "null" && s != `""` || len(d.Tools) > 0
			reasoning = reasoning || d.Reasoning != "" || d.Thinking != ""
		}
		content = content || c.Text != ""
	}
	if u := m.Usage; u != nil {
		r.In, r.Out = max(u.Prompt, 0), max(u.Completion, 0)
		if u.Details.Cached != nil {
			r.Cached = max(*u.Details.Cached, 0)
		}
	}
	return content, reasoning
}
