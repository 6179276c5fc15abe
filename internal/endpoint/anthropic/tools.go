package anthropic

import (
	"encoding/json"

	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/prompt"
)

// tools is how a request names them. That none may be called is not said: not every server
// knows the word for it.
var tools = body.ToolForm{
	Open: `{"name":`, Schema: "input_schema", Always: true, Close: "}",
	Choices: map[prompt.Choice]string{prompt.ChoiceAny: `{"type":"any"}`},
	Named:   `{"type":"tool","name":`,
}

// appendToolMessage appends a response that calls tools, or a tool's result, which is the user's.
func appendToolMessage(b []byte, m *prompt.Message) []byte {
	if m.ToolCallID != "" {
		b = append(b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":`...)
		b = body.AppendString(b, m.ToolCallID)
		b = append(b, `,"content":`...)
		return append(body.AppendString(b, m.Content), '}', ']', '}')
	}
	b = append(b, `{"role":"assistant","content":[`...)
	if m.Content != "" {
		b = append(b, `{"type":"text","text":`...)
		b = append(body.AppendString(b, m.Content), '}', ',')
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"tool_use","id":`...)
		b = body.AppendString(b, c.ID)
		b = append(b, `,"name":`...)
		b = body.AppendString(b, c.Name)
		b = append(b, `,"input":`...)
		b = append(appendInput(b, c.Arguments), '}')
	}
	return append(b, ']', '}')
}

// appendInput appends the arguments of a call. The API wants an object.
func appendInput(b []byte, arguments string) []byte {
	var object map[string]json.RawMessage
	switch {
	case arguments == "":
		return append(b, '{', '}')
	case json.Unmarshal([]byte(arguments), &object) == nil && object != nil:
		return append(b, arguments...)
	case json.Valid([]byte(arguments)):
		b = append(b, `{"value":`...)
		b = append(b, arguments...)
	default:
		b = append(b, `{"arguments":`...)
		b = body.AppendString(b, arguments)
	}
	return append(b, '}')
}
