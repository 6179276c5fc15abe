package promptfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
// a list, the "data" that Perf Analyzer reads, or the "rows" that the hub's viewer serves.
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
	switch f.line = value; value[0] {
	case '"':
		f.line = append(append([]byte(`{"text":`), value...), '}')
	case '{':
		f.line = plainElement(value)
	}
	f.object()
}

// plainElement takes what lists put around a prompt away: a row of the hub's viewer, the
// payload of Perf Analyzer, and its lists of one value. What has nothing of it is left
// as it is, and so are the columns of its faults.
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
