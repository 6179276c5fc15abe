// Package schema makes JSON that fits a JSON schema, as far as its types, required and fixed values go.
package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Document is JSON around any text. It has no white space, so that it is one word without the text.
type Document struct {
	Before, After string
	Open          bool // there is such a text between them
}

// filler stands where the text goes.
const filler = "\u0001"

// maxDepth bounds schemas that refer to themselves.
const maxDepth = 8

// New makes a document of a schema; an empty one is an object with a text.
func New(schema []byte) (Document, error) {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return Document{}, fmt.Errorf("the schema is not JSON: %v", err)
	}
	if m, ok := root.(map[string]any); ok && len(m) == 0 {
		root = map[string]any{"properties": map[string]any{"text": map[string]any{"type": "string"}}}
	}
	m := maker{root: root}
	value, err := json.Marshal(m.value(root, 0))
	if err != nil {
		return Document{}, fmt.Errorf("the schema has no JSON: %v", err)
	}
	// White space stands in texts alone, which can have it as escapes.
	text := strings.ReplaceAll(string(value), " ", `\u0020`)
	before, after, open := strings.Cut(text, `\u0001`)
	return Document{Before: before, After: after, Open: open}, nil
}

type maker struct {
	root   any
	filled bool // a text may be any already
}

// value is one that fits a schema.
func (m *maker) value(schema any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth > maxDepth { // true and false, and what never ends
		return nil
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[0]
	}
	if ref, ok := s["$ref"].(string); ok {
		return m.value(m.resolve(ref), depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			return m.value(list[0], depth+1)
		}
	}
	switch kind(s) {
	case "object":
		return m.object(s, depth)
	case "array":
		list := []any{}
		for range min(int(number(s, "minItems", 0)), 1<<10) {
			list = append(list, m.value(s["items"], depth+1))
		}
		return list
	case "string":
		return m.text(s)
	case "integer", "number":
		return number(s, "minimum", min(1, number(s, "maximum", 1)))
	case "boolean":
		return true
	}
	return nil
}

// kind is the type that a schema asks for: the first of several, or the one that its fields are of.
func kind(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := t[0].(string)
			return name
		}
	}
	if s["properties"] != nil || s["required"] != nil {
		return "object"
	}
	if s["items"] != nil {
		return "array"
	}
	return ""
}

// object has all properties at the top, and further in those that are required.
func (m *maker) object(s map[string]any, depth int) any {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	names := []string{}
	for name := range properties {
		if depth == 0 || slices.Contains(required, any(name)) {
			names = append(names, name)
		}
	}
	for _, name := range required {
		if text, ok := name.(string); ok && !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	slices.Sort(names)
	object := map[string]any{}
	for _, name := range names {
		object[name] = m.value(properties[name], depth+1)
	}
	return object
}

// text is the one that may be any, where it is the first and nothing speaks against it.
func (m *maker) text(s map[string]any) string {
	formats := map[string]string{"date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z", "time": "00:00:00Z", "email": "a@example.com",
		"uri": "http://example.com", "uuid": "00000000-0000-4000-8000-000000000000"}
	if format, ok := s["format"].(string); ok && formats[format] != "" {
		return formats[format]
	}
	if s["pattern"] == nil && s["maxLength"] == nil && !m.filled {
		m.filled = true
		return filler
	}
	return strings.Repeat("x", min(int(number(s, "minLength", 1)), 1<<16))
}

func number(s map[string]any, name string, otherwise float64) float64 {
	if v, ok := s[name].(float64); ok {
		return v
	}
	return otherwise
}

// resolve finds what a reference within the schema is to.
func (m *maker) resolve(ref string) any {
	at := m.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#"), "/") {
		if name == "" {
			continue
		}
		o, _ := at.(map[string]any)
		at = o[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return at
}
