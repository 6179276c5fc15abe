package report

import (
	"bytes"
	"encoding/json"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// usage is what the server says that it counted, in its own words, the last ones; null: nothing.
// Where that was not kept, it is made of the counts.
func usage(rec *record.Record, v *dialect.Values) any {
	all := object{}
	each(rec, func(data []byte, _ int) {
		var event struct {
			Usage   json.RawMessage `json:"usage"`
			Message struct {
				Usage json.RawMessage `json:"usage"`
			} `json:"message"`
		}
		if json.Unmarshal(data, &event) != nil {
			return
		}
		said, ok := ordered(event.Usage).(object)
		if !ok {
			said, _ = ordered(event.Message.Usage).(object)
		}
		for _, f := range said {
			all.set(f.name, f.value)
		}
	})
	if len(all) == 0 {
		return counted(rec, v)
	}
	return all
}

// counted is the same in the words of OpenAI.
func counted(rec *record.Record, v *dialect.Values) any {
	if !v.ServerIn && !v.ServerOut {
		return nil
	}
	o := object{}
	if v.ServerIn {
		o.put("prompt_tokens", v.In)
	}
	if v.ServerOut {
		o.put("completion_tokens", v.Server)
	}
	if v.ServerIn && v.ServerOut {
		o.put("total_tokens", v.In+v.Server)
	}
	if rec.Cached >= 0 {
		o.put("prompt_tokens_details", object{{"cached_tokens", rec.Cached}})
	}
	return o
}

// each gives the data of every event of a stream with its end, or the whole of another response.
func each(rec *record.Record, f func(data []byte, end int)) {
	if !rec.Streamed {
		f(rec.Body, len(rec.Body))
		return
	}
	var scan sse.Scanner
	var e sse.Event
	scan.Reset(rec.Body)
	for scan.Next(&e) {
		if len(e.Data) > 0 && string(e.Data) != "[DONE]" {
			f(e.Data, e.End)
		}
	}
}

// chunks are the data and times of the events with tokens. The original knows visible text only.
func chunks(rec *record.Record, faithful bool) (data, times list) {
	data, times = list{}, list{}
	mark := 0
	each(rec, func(event []byte, end int) {
		for mark < len(rec.Marks)-1 && rec.Marks[mark].Off < end {
			mark++
		}
		if bearing(event, faithful) && mark < len(rec.Marks) {
			data = append(data, string(event))
			times = append(times, rec.Marks[mark].Time())
		}
	})
	return data, times
}

// said is part of a response: of a choice of OpenAI's, or of a block of Anthropic's.
type said struct {
	Text      string            `json:"text"`
	Content   json.RawMessage   `json:"content"`
	Reasoning string            `json:"reasoning"`
	Thought   string            `json:"reasoning_content"`
	Thinking  string            `json:"thinking"`
	Refusal   string            `json:"refusal"`
	Partial   string            `json:"partial_json"`
	Calls     []json.RawMessage `json:"tool_calls"`
}

func (s *said) visible() bool {
	return s.Text != "" || len(s.Content) > 2 && s.Content[0] == '"' // more than an empty text
}

func (s *said) any() bool {
	return s.visible() || s.Reasoning != "" || s.Thought != "" || s.Thinking != "" || s.Refusal != "" || s.Partial != "" || len(s.Calls) > 0
}

func bearing(event []byte, faithful bool) bool {
	var e struct {
		Choices []struct {
			Text  string `json:"text"`
			Delta said   `json:"delta"`
		} `json:"choices"`
		Delta said `json:"delta"`
		Block said `json:"content_block"`
	}
	if json.Unmarshal(event, &e) != nil {
		return false
	}
	parts := []said{e.Delta, e.Block}
	for _, c := range e.Choices {
		if parts = append(parts, c.Delta, said{Text: c.Text}); faithful {
			break
		}
	}
	for i := range parts {
		if parts[i].visible() || !faithful && parts[i].any() {
			return true
		}
	}
	return false
}

// ordered is JSON whose objects keep their order, and numbers their digits; nil: null, or none.
func ordered(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, _ := next(dec)
	return v
}

func next(dec *json.Decoder) (any, bool) {
	t, err := dec.Token()
	if err != nil {
		return nil, false
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, false
			}
			v, ok := next(dec)
			if !ok {
				return nil, false
			}
			o.put(name.(string), v)
		}
		_, err = dec.Token()
		return o, err == nil
	case json.Delim('['):
		l := list{}
		for dec.More() {
			v, ok := next(dec)
			if !ok {
				return nil, false
			}
			l = append(l, v)
		}
		_, err = dec.Token()
		return l, err == nil
	}
	return t, true
}
