package promptfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/inferometer/inferometer/internal/prompt"
)

// expand is the file, or those that end in .jsonl of a directory.
func expand(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, nil // reading it says what is wrong
	}
	names, err := filepath.Glob(filepath.Join(name, "*.jsonl"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("the directory %s has no file that ends in .jsonl", name)
	}
	return names, nil
}

// isDocument reports whether a file is one JSON document with a list of prompts in it:
// a list, the "data" of input data, or the "rows" that the hub's viewer serves.
func isDocument(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return false
	}
	if data[0] == '[' {
		return true
	}
	var doc struct{ Data, Rows json.RawMessage }
	return data[0] == '{' && json.Unmarshal(data, &doc) == nil && (isList(doc.Data) || isList(doc.Rows))
}

func isList(value json.RawMessage) bool { return len(value) > 0 && value[0] == '[' }

// document takes each element of the document's list as if it stood on a line.
func (f *file) document(data []byte) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		f.line, f.lineNo = data, 1
		f.valid()
		return
	}
	start := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
	take := func(_ int, value []byte, off int) {
		f.lineNo = 1 + bytes.Count(data[:off], []byte("\n"))
		f.element(value)
	}
	if data[start] == '[' {
		elements(data[start:], start, take)
		return
	}
	members(data[start:], start, func(key string, value []byte, off int) {
		if (key == "data" || key == "rows") && isList(value) {
			elements(value, off, take)
		}
	})
}

// element takes one element: a text, or an object in one of the forms of such lists.
func (f *file) element(value []byte) {
	f.request, f.tensors = nil, nil
	switch f.line = value; value[0] {
	case '"':
		f.line = append(append([]byte(`{"text":`), value...), '}')
	case '{':
		f.line, f.request, f.tensors = plainElement(value), requestOf(value), tensorsOf(value)
	}
	f.object()
}

// requestOf is the request that stands whole in an element, as a payload, or nil
// does.
func requestOf(value []byte) json.RawMessage {
	var element struct{ Payload json.RawMessage }
	if json.Unmarshal(value, &element) != nil {
		return nil
	}
	var one []json.RawMessage
	if json.Unmarshal(element.Payload, &one) == nil && len(one) == 1 {
		element.Payload = one[0]
	}
	if len(element.Payload) == 0 || element.Payload[0] != '{' {
		return nil
	}
	return element.Payload
}

// tensorField is the prompt of a request in Triton's own form.
const tensorField = "text_input"

// tensorsOf are the inputs of a request in Triton's own form beside its text and its
// length, and beside what a run says of all requests.
func tensorsOf(value []byte) []prompt.Field {
	var list []prompt.Field
	found := false
	members(value, 0, func(key string, value []byte, _ int) {
		found = found || key == tensorField
		if !slices.Contains(known(), key) && key != "exclude_input_in_output" && string(value) != "null" {
			list = append(list, prompt.Field{Name: key, Value: slices.Clone(value)})
		}
	})
	if !found {
		return nil
	}
	return list
}

// known are the fields of a request that are its prompt, or what a run says of all requests.
func known() []string {
	return append(append(textFields(), outputFields()...), messagesField, imageField, modelField, sessionField, delayField, timestampField, "stream", "stream_options")
}

// ownFields are a request's fields that are neither its prompt nor said of all requests.
func (f *file) ownFields() []prompt.Field {
	var list []prompt.Field
	members(f.request, 0, func(key string, value []byte, _ int) {
		if !slices.Contains(known(), key) {
			list = append(list, prompt.Field{Name: key, Value: slices.Clone(value)})
		}
	})
	return list
}

// plainElement takes what lists put around a prompt away: a row of the hub's viewer, a payload, and
// lists of one value. Others, and columns of faults, are left as they are.
func plainElement(value []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return value
	}
	changed := false
	for name, v := range fields {
		var one []json.RawMessage
		if name != messagesField && name != imageField && json.Unmarshal(v, &one) == nil && len(one) == 1 {
			fields[name], changed = one[0], true
		}
	}
	for _, name := range []string{"row", "payload"} {
		if inner := fields[name]; len(inner) > 0 && inner[0] == '{' {
			return plainElement(inner)
		}
	}
	if !changed {
		return value
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return value
	}
	return text
}
