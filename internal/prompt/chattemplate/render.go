package chattemplate

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/jinja"
)

// measure counts a prompt with the template around it. It is used concurrently.
func (s *Source) measure(p prompt.Prompt) (int, error) {
	messages := []chat.Message{chat.NewMessage("user", p.Text)}
	if len(p.Messages) > 0 {
		messages = make([]chat.Message, len(p.Messages))
		for i, m := range p.Messages {
			messages[i] = message(m)
		}
	}
	options := asked(s.options, p.Fields)
	if p.Tools != nil && p.Tools.Choice != prompt.ChoiceNone {
		options.Tools = tools(p.Tools.List)
	}
	text, err := s.template.Render(messages, options)
	if err != nil {
		return 0, fmt.Errorf("counting a prompt with its chat template: %w", err)
	}
	return s.tok.Count(text), nil
}

// asked are the options of one request, whose own fields come before those of the run.
func asked(o chat.Options, fields []prompt.Field) chat.Options {
	var add any
	chosen := true
	for _, f := range fields {
		switch v := value(f.Value); f.Name {
		case "add_generation_prompt":
			add = v
		case "continue_final_message":
			o.ContinueFinalMessage = v == true
			o.AddGenerationPrompt = !o.ContinueFinalMessage
		case "chat_template_kwargs":
			o.Extra = map[string]any{}
			if d, ok := v.(*jinja.Dict); ok {
				o.Extra = d.Map()
			}
		case "documents":
			o.Documents = v
		case "tools":
			o.Tools = v
		case "tool_choice":
			chosen = v != "none"
		}
	}
	if on, ok := add.(bool); ok {
		o.AddGenerationPrompt = on
	}
	if !chosen {
		o.Tools = nil
	}
	return o
}

// message is a message as servers hand it to a template.
func message(m prompt.Message) chat.Message {
	out := chat.NewMessage(m.Role, m.Content)
	if m.Reasoning != "" {
		out.Set("reasoning_content", m.Reasoning)
	}
	if m.ToolCallID != "" {
		out.Set("tool_call_id", m.ToolCallID)
	}
	if len(m.ToolCalls) > 0 {
		calls := make([]any, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			calls[i] = jinja.NewDict("id", c.ID, "type", "function", "function", jinja.NewDict("name", c.Name, "arguments", value([]byte(c.Arguments))))
		}
		out.Set("tool_calls", jinja.NewList(calls...))
	}
	return out
}

// tools are definitions as servers hand them to a template.
func tools(list []prompt.Tool) *jinja.List {
	out := make([]any, len(list))
	for i, t := range list {
		function := jinja.NewDict("name", t.Name)
		if t.Description != "" {
			function.Set("description", t.Description)
		}
		if t.Parameters != nil {
			function.Set("parameters", value(t.Parameters))
		}
		out[i] = jinja.NewDict("type", "function", "function", function)
	}
	return jinja.NewList(out...)
}

// value reads JSON, which servers do before they render; what is none stays a text.
func value(text []byte) any {
	v, err := jinja.FromJSON(text)
	if err != nil {
		return string(text)
	}
	return v
}
