package prompt

import (
	"encoding/json"
	"strings"
)

// ToolCall is a call of a tool that a model asked for.
type ToolCall struct {
	ID        string
	Name      string // of the function
	Arguments string // JSON as a text, as the model wrote it
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  []byte // JSON schema of its arguments, or nil
}

// Choice says how free a model is to call tools.
type Choice uint8

// The choices.
const (
	ChoiceOpen  Choice = iota // nothing is said: the model chooses
	ChoiceNone                // no tool
	ChoiceAny                 // some tool, whichever
	ChoiceNamed               // the tool of that name
)

// Tools are what a request may call. Its response ends where the model ends it, at any length.
type Tools struct {
	List   []Tool
	Choice Choice
	Name   string // of ChoiceNamed
}

// text is what a model is told of the tools, for counting where no template says it.
func (t *Tools) text() string {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	var b strings.Builder
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	for _, tool := range t.List {
		one := struct {
			Type     string   `json:"type"`
			Function function `json:"function"`
		}{"function", function{tool.Name, tool.Description, tool.Parameters}}
		if to.Encode(one) != nil { // parameters that are no JSON are text
			one.Function.Parameters = nil
			_ = to.Encode(one)
			b.Write(tool.Parameters)
		}
	}
	return b.String()
}
