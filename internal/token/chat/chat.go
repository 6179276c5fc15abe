// Package chat turns a conversation into the text that a model is given, by the
// model's chat template, as inference servers do.
package chat

import (
	"maps"
	"time"

	"github.com/inferometer/inferometer/internal/token/jinja"
)

// Template is a parsed chat template. It is safe for concurrent use.
type Template struct{ parsed *jinja.Program }

// Parse reads a template.
func Parse(src string) (*Template, error) {
	parsed, err := jinja.Parse(src)
	if err != nil {
		return nil, err
	}
	return &Template{parsed}, nil
}

// Bound sets the limits of a rendering.
func (t *Template) Bound(l jinja.Limits) { t.parsed.Bound(l) }

// Message is one message of a conversation, with the members that requests have:
// role, content, tool_calls and so on.
type Message = *jinja.Dict

// NewMessage makes a message of a role and a text.
func NewMessage(role, content string) Message { return jinja.NewDict("role", role, "content", content) }

// Options are what a template is given besides the messages.
type Options struct {
	// AddGenerationPrompt ends the text where the model's response begins.
	AddGenerationPrompt bool
	// ContinueFinalMessage ends the text with the last message's content, which the model
	// is to go on from.
	ContinueFinalMessage bool
	// Special are the special tokens by name: bos_token, eos_token and so on. One that
	// is not there is undefined in the template.
	Special map[string]any
	// Tools and Documents are lists as jinja.FromJSON makes them; nil is none.
	Tools, Documents any
	// Extra are more variables, such as a request's chat_template_kwargs.
	Extra map[string]any
	// Now is the time that strftime_now tells; the zero time is the present.
	Now time.Time
}

// Render makes the text of a conversation.
func (t *Template) Render(messages []Message, o Options) (string, error) {
	var final string
	if o.ContinueFinalMessage {
		var err error
		if messages, final, err = tagged(messages); err != nil {
			return "", err
		}
	}
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = m
	}
	vars := map[string]any{"messages": jinja.NewList(list...), "tools": o.Tools, "documents": o.Documents, "add_generation_prompt": o.AddGenerationPrompt}
	maps.Copy(vars, o.Special)
	maps.Copy(vars, o.Extra)
	text, err := t.parsed.Render(vars, o.Now)
	if err != nil || !o.ContinueFinalMessage {
		return text, err
	}
	return cut(text, final)
}
