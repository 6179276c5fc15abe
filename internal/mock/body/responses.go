package body

import (
	"fmt"
	"strings"
)

// itemParts are what the content of a message of OpenAI's responses API may hold.
const itemParts = " input_text output_text refusal input_image input_audio input_file "

// responsesField reads a body field of OpenAI's responses API.
func (r *Reader) responsesField(raw []byte) (taken bool, err error) {
	switch string(raw) {
	case "input":
		return true, r.items()
	case "instructions":
		return true, r.content()
	case "max_output_tokens":
		return true, r.integer(raw, &r.p.Max)
	case "tools":
		return true, r.tools(false)
	case "text":
		return true, r.responseText()
	case "previous_response_id":
		return true, r.text(raw, &r.p.Previous)
	case "stream_options": // has other fields than that of a chat
		return true, r.skipElement()
	case "max_tokens", "max_completion_tokens", "n", "messages", "dimensions", "encoding_format":
		if r.strict {
			r.p.unknown = append(r.p.unknown, string(raw))
		}
		return true, r.skipElement()
	}
	return false, nil
}

// items reads the input: a text, or a list of messages, calls, their results and thoughts.
func (r *Reader) items() error {
	r.p.present, r.p.Inputs = true, 0
	switch r.peek() {
	case '"':
		r.p.Inputs = 1
		return r.count()
	case '[':
		return r.array(r.item)
	}
	return fmt.Errorf("input: must be a string or an array")
}

// itemFields are what items of each type must have.
var itemFields = map[string]string{
	"": "role content", "message": "role content", "function_call": "call_id name arguments", "function_call_output": "call_id output",
	"reasoning": "summary", "item_reference": "id",
}

func (r *Reader) item() error {
	r.p.Inputs = 1
	if r.peek() != '{' {
		return fmt.Errorf("input: each must be an object")
	}
	kind, err := r.itemType()
	if err != nil {
		return err
	}
	needed, ok := itemFields[kind]
	if !ok && r.strict {
		return fmt.Errorf("input: unknown type %q", kind)
	}
	missing := strings.Fields(needed)
	err = r.object(func(key []byte) error {
		for i, name := range missing {
			if name == string(key) {
				missing = append(missing[:i:i], missing[i+1:]...)
				break
			}
		}
		switch {
		case string(key) == "content" && (kind == "" || kind == "message"), string(key) == "output" && kind == "function_call_output":
			return r.content()
		}
		return r.skipElement()
	})
	if err == nil && len(missing) > 0 {
		return fmt.Errorf("input: %s: field required", missing[0])
	}
	return err
}

// itemType looks ahead for the type of the item that begins here; empty: it says none.
func (r *Reader) itemType() (string, error) {
	ahead := Reader{scanner: r.scanner}
	kind := []byte(nil)
	err := ahead.object(func(key []byte) error {
		if string(key) != "type" {
			return ahead.skipElement()
		}
		return ahead.text(key, &kind)
	})
	return string(kind), err
}
