package dataset

import (
	"encoding/json"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// Data sets of tasks have no responses that say how long a server answers.

// readBench takes the first question of MT-Bench.
func readBench(row rows.Row, _ bool) (entry, bool) {
	turns, _ := row["turns"].([]any)
	if len(turns) == 0 {
		return entry{}, false
	}
	text, _ := turns[0].(string)
	return entry{text: text}, strings.TrimSpace(text) != ""
}

// readLong takes a long text and a question about it: LongBench's, or v2's with four choices.
func readLong(row rows.Row, _ bool) (entry, bool) {
	context, _ := row["context"].(string)
	asked, ok := first(row, "question", "input")
	text := context + "\n\n" + asked
	for _, choice := range []string{"A", "B", "C", "D"} {
		if s, ok := row["choice_"+choice].(string); ok {
			text += "\n" + choice + ") " + s
		}
	}
	return entry{text: text}, ok && strings.TrimSpace(context) != ""
}

// readFunctions takes a question of the Berkeley leaderboard, and its functions as OpenAI's tools.
func readFunctions(row rows.Row, chat bool) (entry, bool) {
	list, ok := turns(row["question"])
	functions, _ := row["function"].([]any)
	if !ok || len(list) == 0 || len(functions) == 0 {
		return entry{}, false
	}
	tools := make([]any, len(functions))
	for i, f := range functions {
		tools[i] = map[string]any{"type": "function", "function": openAISchema(f)}
	}
	data, err := json.Marshal(tools)
	if err != nil {
		return entry{}, false
	}
	e := entry{fields: []prompt.Field{{Name: "tools", Value: data}}}
	if chat {
		for _, t := range list {
			e.messages = append(e.messages, prompt.Message{Role: t.role, Content: t.text})
		}
		return e, true
	}
	e.text, e.fields = list[len(list)-1].text, nil
	return e, true
}

// openAISchema has the names that a JSON Schema has for the types of Python.
func openAISchema(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = openAISchema(v[i])
		}
	case map[string]any:
		for name, value := range v {
			as, _ := value.(string)
			if as = map[string]string{"dict": "object", "float": "number", "tuple": "array"}[as]; as != "" && name == "type" {
				v[name] = as
			} else {
				v[name] = openAISchema(value)
			}
		}
	}
	return v
}
