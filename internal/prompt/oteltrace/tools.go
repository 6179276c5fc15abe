package oteltrace

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/prompt"
)

// readTools reads what a call could use: a list of functions, each as OpenAI writes it or
// without the word function around it. JSON, or a text of JSON.
func readTools(raw json.RawMessage) ([]prompt.Tool, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	if !given(raw) {
		return nil, nil
	}
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	var all []struct {
		function
		Function *function `json:"function"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	var out []prompt.Tool
	for i, one := range all {
		f := one.function
		if one.Function != nil {
			f = *one.Function
		}
		if f.Name == "" {
			return nil, fmt.Errorf("tool %d has no name", i+1)
		}
		schema, err := safeSchema(f.Parameters)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", f.Name, err)
		}
		out = append(out, prompt.Tool{Name: f.Name, Description: f.Description, Parameters: schema})
	}
	return out, nil
}

// safeSchema keeps of a JSON schema what all servers take: they refuse requests for
// words of a schema that the compilers of their grammars do not know. nil means there is none.
func safeSchema(raw json.RawMessage) ([]byte, error) {
	if !given(raw) {
		return nil, nil
	}
	var schema any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	return json.Marshal(safe(schema))
}

func safe(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = safe(v[i])
		}
		return out
	case map[string]any:
		return safeObject(v)
	}
	return v
}

func safeObject(v map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"type", "description", "enum", "required", "items", "allOf", "$ref", "const"} {
		if value, ok := v[key]; ok {
			out[key] = safe(value)
		}
	}
	if value, ok := v["additionalProperties"]; ok {
		yes, _ := value.(bool) // a schema in this place is not taken
		out["additionalProperties"] = yes
	}
	if value, ok := v["properties"]; ok {
		out["properties"] = value
		if named, ok := value.(map[string]any); ok {
			all := map[string]any{}
			for name, schema := range named {
				all[name] = safe(schema)
			}
			out["properties"] = all
		}
	}
	// A choice of schemas (anyOf, oneOf) is not taken either; a text stands for all.
	if _, ok := out["type"]; !ok {
		out["type"] = "string"
	}
	if _, ok := out["properties"]; !ok && out["type"] == "object" {
		out["properties"] = map[string]any{}
	}
	return out
}

// choose says how free the model is: to call tools as the recorded call did or did not, since the
// results that follow are the record's.
func choose(list []prompt.Tool, called []string, free bool) *prompt.Tools {
	t := &prompt.Tools{List: list}
	switch {
	case free:
	case len(called) == 0:
		t.Choice = prompt.ChoiceNone
	case len(called) == 1 && slices.ContainsFunc(list, func(t prompt.Tool) bool { return t.Name == called[0] }):
		t.Choice, t.Name = prompt.ChoiceNamed, called[0]
	default:
		t.Choice = prompt.ChoiceAny
	}
	return t
}
