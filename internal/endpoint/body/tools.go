package body

import "github.com/inferometer/inferometer/internal/prompt"

// ToolForm is how an API names the tools that a model may call.
type ToolForm struct {
	Open, Close string // of a tool, around its name and what follows
	Schema      string // the field of a tool's parameters
	Always      bool   // a tool without parameters has an empty object there
	// Choices are the words for how free the model is, and Named what begins those for one tool,
	// with its name. Where there is none, nothing is said.
	Choices map[prompt.Choice]string
	Named   string
}

// Append appends the fields of the tools and of the choice among them.
func (f *ToolForm) Append(b []byte, t *prompt.Tools) []byte {
	b = append(b, `"tools":[`...)
	for i := range t.List {
		tool := &t.List[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(append(b, f.Open...), tool.Name)
		if tool.Description != "" {
			b = AppendString(append(b, `,"description":`...), tool.Description)
		}
		schema := tool.Parameters
		if schema == nil && f.Always {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		if schema != nil {
			b = append(AppendString(append(b, ','), f.Schema), ':')
			b = append(b, schema...)
		}
		b = append(b, f.Close...)
	}
	b = append(b, ']', ',')
	choice := f.Choices[t.Choice]
	if t.Choice == prompt.ChoiceNamed {
		choice = f.Named + string(AppendString(nil, t.Name)) + f.Close
	}
	if choice != "" {
		b = append(append(append(b, `"tool_choice":`...), choice...), ',')
	}
	return b
}
