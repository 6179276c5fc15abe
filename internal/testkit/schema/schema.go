// Package schema holds documents against a JSON Schema in tests.
package schema

import (
	"bytes"
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

// Check says how a document does not fit the schema; nil: it does.
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
