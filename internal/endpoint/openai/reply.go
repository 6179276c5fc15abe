package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// delta is a message of a response, or a piece of one.
type delta struct {
	Content          content `json:"content"`
	Reasoning        *string `json:"reasoning"`
	ReasoningContent *string `json:"reasoning_content"`
	ToolCalls        []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// content is what a message says: a string, or a list of parts with text and, as Mistral
// sends it, with thinking, which is a string or such a list itself.
type content struct{ said, thought string }

// UnmarshalJSON implements json.Unmarshaler. What has another form says nothing.
func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	if json.Unmarshal(b, &c.said) == nil {
		return nil
	}
	var parts []struct {
		Text     string   `json:"text"`
		Thinking *content `json:"thinking"`
	}
	if json.Unmarshal(b, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		c.said += p.Text
		if p.Thinking != nil {
			c.thought += p.Thinking.said
		}
	}
	return nil
}

// Reply reads what the first choice says, anew: only sessions that send tool calls back ask for it.
func (d *Decoder) Reply(rec *record.Record) prompt.Response {
	r := reply{calls: map[int]*prompt.ToolCall{}}
	if body := bytes.TrimLeft(rec.Body, " \r\n\t\xef\xbb\xbf"); len(body) > 0 && body[0] == '{' {
		r.addPiece(body, true)
		return r.answer()
	}
	var scan sse.Scanner
	scan.Reset(rec.Body)
	var e sse.Event
	for scan.Next(&e) {
		r.addPiece(e.Data, false)
	}
	return r.answer()
}

type reply struct {
	said, thought []byte
	calls         map[int]*prompt.ToolCall
	found         bool
}

// addPiece takes a piece, or the whole. What is no JSON says nothing.
func (r *reply) addPiece(data []byte, whole bool) {
	var doc struct {
		Choices []struct {
			Index   int    `json:"index"`
			Delta   *delta `json:"delta"`
			Message *delta `json:"message"`
			Text    string `json:"text"` // of a completion, which has no message
		} `json:"choices"`
	}
	if json.Unmarshal(data, &doc) != nil {
		return
	}
	for _, c := range doc.Choices {
		d := c.Delta
		if d == nil {
			d = c.Message
		}
		if c.Index != 0 {
			continue
		}
		r.said = append(r.said, c.Text...)
		if d == nil {
			continue
		}
		r.found = true
		r.said = append(r.said, d.Content.said...)
		r.thought = append(r.thought, d.Content.thought...)
		if d.Reasoning != nil && *d.Reasoning != "" {
			r.thought = append(r.thought, *d.Reasoning...)
		} else if d.ReasoningContent != nil {
			r.thought = append(r.thought, *d.ReasoningContent...)
		}
		for k, piece := range d.ToolCalls {
			at := piece.Index
			if whole { // such calls stand in order, with or without a number
				at = k
			}
			call := r.calls[at]
			if call == nil {
				call = &prompt.ToolCall{}
				r.calls[at] = call
			}
			if piece.ID != "" {
				call.ID = piece.ID
			}
			call.Name += piece.Function.Name
			call.Arguments += piece.Function.Arguments
		}
	}
}

func (r *reply) answer() prompt.Response {
	a := prompt.Response{Text: string(r.said), Reasoning: string(r.thought), Empty: !r.found}
	for _, at := range slices.Sorted(maps.Keys(r.calls)) {
		a.ToolCalls = append(a.ToolCalls, *r.calls[at])
	}
	return a
}
