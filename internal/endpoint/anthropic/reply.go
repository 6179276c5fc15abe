package anthropic

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// block is a block of a response's content, or a change of one.
type block struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Input       json.RawMessage `json:"input"`
	PartialJSON string          `json:"partial_json"`
}

// Reply reads what a response said, anew: only sessions that send tool calls back ask for it.
func (d *Decoder) Reply(rec *record.Record) prompt.Response {
	if body := bytes.TrimLeft(rec.Body, " \r\n\t\xef\xbb\xbf"); len(body) > 0 && body[0] == '{' {
		return replyOf(body)
	}
	var said []byte
	calls := map[int]*prompt.ToolCall{}
	var scan sse.Scanner
	scan.Reset(rec.Body)
	var e sse.Event
	for scan.Next(&e) {
		var event struct {
			Type  string `json:"type"`
			Index int    `json:"index"`
			Block block  `json:"content_block"`
			Delta block  `json:"delta"`
		}
		if json.Unmarshal(e.Data, &event) != nil {
			continue
		}
		call := calls[event.Index]
		switch {
		case event.Type == "content_block_start" && event.Block.Type == "tool_use":
			calls[event.Index] = &prompt.ToolCall{ID: event.Block.ID, Name: event.Block.Name, Arguments: given(event.Block.Input)}
		case event.Type == "content_block_start" && event.Block.Type == "text":
			said = append(said, event.Block.Text...)
		case event.Type == "content_block_delta" && event.Delta.Type == "text_delta":
			said = append(said, event.Delta.Text...)
		case event.Type == "content_block_delta" && event.Delta.Type == "input_json_delta" && call != nil:
			call.Arguments += event.Delta.PartialJSON
		}
	}
	a := prompt.Response{Text: string(said)}
	for _, at := range slices.Sorted(maps.Keys(calls)) {
		a.ToolCalls = append(a.ToolCalls, *calls[at])
	}
	return a
}

// given are the arguments that a call begins with; an empty object says that they follow.
func given(input json.RawMessage) string {
	if text := string(bytes.TrimSpace(input)); text != "{}" && text != "null" {
		return text
	}
	return ""
}

// replyOf reads a response in one piece.
func replyOf(body []byte) prompt.Response {
	var doc struct {
		Content []block `json:"content"`
	}
	if json.Unmarshal(body, &doc) != nil || doc.Content == nil {
		return prompt.Response{Empty: true}
	}
	var a prompt.Response
	for _, b := range doc.Content {
		switch b.Type {
		case "text":
			a.Text += b.Text
		case "tool_use":
			input := string(b.Input)
			if input == "" || input == "null" {
				input = "{}"
			}
			a.ToolCalls = append(a.ToolCalls, prompt.ToolCall{ID: b.ID, Name: b.Name, Arguments: input})
		}
	}
	return a
}
