package responses

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/prompt"
)

// appendMessage appends the items that a message of a chat is: of an assistant's, what it
// thought, what it said and each call of a tool are one each.
func appendMessage(b []byte, m *prompt.Message, place int) ([]byte, error) {
	content, own := chatContent(m)
	if own {
		return append(b, m.Raw...), nil
	}
	if m.ToolCallID != "" {
		b = append(b, `{"type":"function_call_output","call_id":`...)
		b = append(body.AppendString(b, m.ToolCallID), `,"output":`...)
		return append(body.AppendString(b, m.Content), '}'), nil
	}
	if m.Reasoning != "" {
		b = append(b, `{"type":"reasoning","id":"rs_`...)
		b = strconv.AppendInt(b, int64(place), 10)
		b = append(b, `","summary":[],"content":[{"type":"reasoning_text","text":`...)
		b = append(body.AppendString(b, m.Reasoning), `}]},`...)
	}
	if len(m.ToolCalls) == 0 || m.Content != "" || m.Parts != nil || content != nil {
		var err error
		if b, err = appendSaid(b, m, content); err != nil {
			return nil, err
		}
		b = append(b, ',')
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		b = append(b, `{"type":"function_call","call_id":`...)
		b = append(body.AppendString(b, c.ID), `,"name":`...)
		b = append(body.AppendString(b, c.Name), `,"arguments":`...)
		b = append(body.AppendString(b, c.Arguments), '}', ',')
	}
	return b[:len(b)-1], nil
}

// appendSaid appends a message. Content is its content as JSON, where it is known as that.
func appendSaid(b []byte, m *prompt.Message, content []byte) ([]byte, error) {
	b = append(b, `{"role":`...)
	b = append(body.AppendString(b, m.Role), `,"content":`...)
	switch {
	case content != nil:
		return append(append(b, content...), '}'), nil
	case m.Parts == nil:
		return append(body.AppendString(b, m.Content), '}'), nil
	}
	text := `{"type":"` + textType(m.Role) + `","text":`
	b = append(b, '[')
	for i := range m.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		switch part := &m.Parts[i]; {
		case part.Kind == prompt.Text:
			b = append(body.AppendString(append(b, text...), part.Text), '}')
		case part.Kind == prompt.Image:
			b = append(b, `{"type":"input_image","detail":"auto","image_url":`...)
			b = append(body.AppendURL(b, part), '}')
		case part.Kind == prompt.Audio && part.URL == "":
			b = append(b, `{"type":"input_audio","input_audio":{"data":`...)
			b = append(body.AppendBase64(b, part.Data), `,"format":`...)
			b = append(body.AppendString(b, part.Format()), '}', '}')
		default:
			return nil, errors.New("responses support text, images and sound in the body, not video: use chat, or frames")
		}
	}
	return append(b, ']', '}'), nil
}

// textType is what the API calls a text of a message.
func textType(role string) string {
	if role == "assistant" {
		return "output_text"
	}
	return "input_text"
}

// chatContent gives the content of a message that came as one of a chat, in the form of this API; nil: there are no
// parts in it. Own: the message has this API's form already.
func chatContent(m *prompt.Message) (content []byte, own bool) {
	if m.Raw == nil {
		return nil, false
	}
	var head struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(m.Raw, &head) != nil || head.Type != "" || head.Role == "" {
		return nil, true
	}
	var parts []map[string]json.RawMessage
	if json.Unmarshal(head.Content, &parts) != nil || parts == nil {
		return nil, false
	}
	for _, part := range parts {
		var image struct {
			URL    json.RawMessage `json:"url"`
			Detail json.RawMessage `json:"detail"`
		}
		switch string(part["type"]) {
		case `"text"`:
			part["type"] = json.RawMessage(`"` + textType(m.Role) + `"`)
		case `"image_url"`:
			part["type"] = json.RawMessage(`"input_image"`)
			if json.Unmarshal(part["image_url"], &image) == nil && image.URL != nil {
				part["image_url"], part["detail"] = image.URL, json.RawMessage(`"auto"`)
			}
			if image.Detail != nil {
				part["detail"] = image.Detail
			}
		}
	}
	content, err := json.Marshal(parts)
	return content, err != nil
}
