package planfile

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// JSONSchema is the schema of a plan file, draft 2020-12. Editors check and
// complete a plan with it.
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

// Choices gives the words that a field takes, such as those of stages[0].arrival; nil means it takes
// others.
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
