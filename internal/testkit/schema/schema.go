// Package schema holds documents against a JSON Schema in tests.
package schema

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON Schema that is compiled once.
type Schema struct {
	compiled func() (*jsonschema.Schema, error)
}

// New is the schema of a text.
func New(text []byte) *Schema {
	return &Schema{sync.OnceValues(func() (*jsonschema.Schema, error) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("schema.json", doc); err != nil {
			return nil, err
		}
		return c.Compile("schema.json")
	})}
}

// Check says how a document does not fit the schema; nil means it does.
func (s *Schema) Check(t testing.TB, document []byte) error {
	t.Helper()
	c, err := s.compiled()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return c.Validate(v)
}

// Fits checks that a value, as JSON, is what the schema describes.
func (s *Schema) Fits(t testing.TB, value any) {
	t.Helper()
	if err := s.Check(t, encoded(t, value)); err != nil {
		t.Errorf("the document does not fit its schema: %v", err)
	}
}

// Refuses checks that a value, as JSON, is refused once it has been bent in any of these ways: a
// schema that takes anything would prove nothing.
func (s *Schema) Refuses(t testing.TB, value any, bends map[string]func(doc map[string]any)) {
	t.Helper()
	data := encoded(t, value)
	for name, bend := range bends {
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		bend(doc)
		if s.Check(t, encoded(t, doc)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func encoded(t testing.TB, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
