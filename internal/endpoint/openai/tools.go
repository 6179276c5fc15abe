package openai

import (
	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/prompt"
)

// appendTools appends what the model may call, and how free it is to.
func appendTools(b []byte, t *prompt.Tools) []byte {
	b = append(b, `"tools":[`...)
	for i := range t.List {
		tool := &t.List[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = body.AppendString(b, tool.Name)
		if tool.Description != "" {
			b = append(b, `,"description":`...)
			b = body.AppendString(b, tool.Description)
		}
		if tool.Parameters != nil {
			b = append(b, `,"parameters":`...)
			b = append(b, tool.Parameters...)
		}
		b = append(b, '}', '}')
	}
	b = append(b, ']', ',')
	switch t.Choice {
	case prompt.ChoiceNone:
		b = append(b, `"tool_choice":"none",`...)
	case prompt.ChoiceAny:
		b = append(b, `"tool_choice":"required",`...)
	case prompt.ChoiceNamed:
		b = append(b, `"tool_choice":{"type":"function","function":{"name":`...)
		b = append(body.AppendString(b, t.Name), '}', '}', ',')
	}
	return b
}

func appendCalls(b []byte, calls []prompt.ToolCall) []byte {
	b = append(b, `,"tool_calls":[`...)
	for i := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = body.AppendString(b, calls[i].ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = body.AppendString(b, calls[i].Name)
		b = append(b, `,"arguments":`...)
		b = append(body.AppendString(b, calls[i].Arguments), '}', '}')
	}
	return append(b, ']')
}
