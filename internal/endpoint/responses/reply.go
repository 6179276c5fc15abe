package responses

import (
	"bytes"
	"encoding/json"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// item is an item of a response's output.
type item struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []text `json:"content"`
	Summary   []text `json:"summary"`
}

type text struct {
	Text string `json:"text"`
}

// output is the output of a response that is there as a whole.
type output struct {
	Output []item `json:"output"`
}

// Reply reads what a response said, anew: only sessions that send tool calls back ask for it.
func (d *Decoder) Reply(rec *record.Record) prompt.Response {
	if body := bytes.TrimLeft(rec.Body, " \r\n\t\xef\xbb\xbf"); len(body) > 0 && body[0] == '{' {
		var whole output
		_ = json.Unmarshal(body, &whole) // what is no response says nothing
		return replyOf(whole.Output)
	}
	var items []item
	var scan sse.Scanner
	scan.Reset(rec.Body)
	var e sse.Event
	for scan.Next(&e) {
		var event struct {
			Type     string `json:"type"`
			Item     item   `json:"item"`
			Response output `json:"response"`
		}
		if json.Unmarshal(e.Data, &event) != nil {
			continue
		}
		if event.Type == "" {
			event.Type = string(e.Type)
		}
		switch k, _ := kindOf([]byte(event.Type)); {
		case k == itemDone:
			items = append(items, event.Item)
		case k == ended && len(items) == 0:
			items = event.Response.Output
		}
	}
	return replyOf(items)
}

func replyOf(items []item) prompt.Response {
	a := prompt.Response{Empty: len(items) == 0}
	for _, it := range items {
		switch it.Type {
		case "message":
			for _, t := range it.Content {
				a.Text += t.Text
			}
		case "reasoning":
			for _, t := range it.Content {
				a.Reasoning += t.Text
			}
			if len(it.Content) == 0 {
				for _, t := range it.Summary {
					a.Reasoning += t.Text
				}
			}
		case "function_call":
			a.ToolCalls = append(a.ToolCalls, prompt.ToolCall{ID: it.CallID, Name: it.Name, Arguments: it.Arguments})
		}
	}
	return a
}
