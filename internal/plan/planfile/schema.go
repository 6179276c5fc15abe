package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

// JSONSchema is the schema of a plan file, draft 2020-12, for editors.
func JSONSchema(known Known) []byte {
	s := objectSchema(newSpecs().form(reflect.TypeFor[plan.Plan]()).fields) // its own, to change
	for at, names := range map[[2]string][]string{{"target", "protocol"}: known.Protocols, {"data", "source"}: known.Sources} {
		field := s["properties"].(schema)[at[0]].(schema)["properties"].(schema)[at[1]].(schema)
		field["enum"] = plan.AddMissing(field["enum"].([]string), names)
	}
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Inferometer plan"
	s["description"] = "A benchmark of an inference server as plain data."
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("plan: the schema holds nothing but plain values: " + err.Error())
	}
	return append(out, '\n')
}

// objectSchema is the schema of a mapping: every field may be left out, no other
// is allowed.
func objectSchema(docs []fieldDoc) schema {
	props := schema{}
	for _, d := range docs {
		p := schema{"description": d.help}
		maps.Copy(p, d.schema)
		props[d.name] = p
	}
	return schema{"type": "object", "properties": props, "additionalProperties": false}
}

// Choices gives the words that a field takes, such as those of stages[0].arrival; nil: any.
func Choices() func(path string) []string {
	all := objectSchema(planSpec().fields)
	return func(path string) []string {
		at := all
		for name := range strings.SplitSeq(path, ".") {
			name, _, listed := strings.Cut(name, "[")
			props, _ := at["properties"].(schema)
			if at, _ = props[name].(schema); listed {
				at, _ = at["items"].(schema)
			}
		}
		words, _ := at["enum"].([]string)
		return words
	}
}

// Encode prints a plan as YAML, in a fixed order and without secrets: Decode reads it back.
func Encode(p *plan.Plan) ([]byte, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	shown := plan.Redacted(p)
	if err := errors.Join(enc.Encode(planSpec().write(&shown)), enc.Close()); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	return buf.Bytes(), nil
}

// Echo is the plan as a plain value for a JSON document, named as in a plan file, without secrets.
func Echo(p *plan.Plan) any {
	r := &reader{own: true}
	shown := plan.Redacted(p)
	v, err := r.jsonValue(planSpec().write(&shown), 0)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return v
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
