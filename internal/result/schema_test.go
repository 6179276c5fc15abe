package result

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validate checks a result against the schema.
func validate(t *testing.T, r *Result) {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemaOf(t).Validate(decode(t, data)); err != nil {
		t.Errorf("the result does not fit its schema: %v", err)
	}
}

var schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("result.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("result.json")
})

func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaRefuses: a schema that takes anything would prove nothing.
func TestSchemaRefuses(t *testing.T) {
	data, err := json.Marshal(healthy().build(t))
	if err != nil {
		t.Fatal(err)
	}
	s := schemaOf(t)
	for name, bend := range map[string]func(doc map[string]any){
		"no verdict":         func(doc map[string]any) { delete(doc, "verdict") },
		"unknown field":      func(doc map[string]any) { doc["extra"] = 1 },
		"valid with reasons": func(doc map[string]any) { doc["verdict"].(map[string]any)["reasons"] = []any{"because"} },
		"another version":    func(doc map[string]any) { doc["schema"] = "inferometer.result/2" },
		"no percentile": func(doc map[string]any) {
			m := doc["stages"].([]any)[0].(map[string]any)["metrics"].(map[string]any)
			delete(m["request_latency"].(map[string]any), "p99")
		},
	} {
		doc := decode(t, data).(map[string]any)
		bend(doc)
		if s.Validate(doc) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
