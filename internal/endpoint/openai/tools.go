package openai

import (
	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/prompt"
)

// tools is how a request names them.
var tools = body.ToolForm{
	Open: `{"type":"function","function":{"name":`, Schema: "parameters", Close: "}}",
	Choices: map[prompt.Choice]string{prompt.ChoiceNone: `"none"`, prompt.ChoiceAny: `"required"`},
	Named:   `{"type":"function","function":{"name":`,
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
