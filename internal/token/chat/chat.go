// Package chat turns a conversation into a model's input by its chat template, as inference servers
// do.
package chat

import (
	"errors"
	"maps"
	"slices"
	"strings"
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

// Message is a message of a conversation, with a request's members: role, content, tool_calls and
// so on.
type Message = *jinja.Dict

// NewMessage makes a message of a role and a text.
func NewMessage(role, content string) Message { return jinja.NewDict("role", role, "content", content) }

// Options are what a template is given besides the messages.
type Options struct {
	// AddGenerationPrompt ends the text where the model's response begins.
	AddGenerationPrompt bool
	// ContinueFinalMessage ends the text with the last message's content, for the model to go on.
	ContinueFinalMessage bool
	// Special are the special tokens by name, such as bos_token. Others are undefined in the
	// template.
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

// tag marks where the last message's content ends. Like transformers' it has a blank at its end,
// which tells whether the template took away the white space there.
const tag = "CONTINUE_FINAL_MESSAGE_TAG "

// tagged puts the tag behind the content of the last message, or behind the last text of its
// parts, and returns that text without it.
func tagged(messages []Message) (out []Message, final string, err error) {
	none := errors.New("the last message cannot be continued: it has no text")
	if len(messages) == 0 {
		return nil, "", none
	}
	out = slices.Clone(messages)
	last := out[len(out)-1].Clone()
	out[len(out)-1] = last
	content, _ := last.Get("content")
	switch content := content.(type) {
	case string:
		last.Set("content", content+tag)
		return out, content, nil
	case *jinja.List:
		parts := slices.Clone(content.Items())
		for i, part := range slices.Backward(parts) {
			d, ok := part.(*jinja.Dict)
			if !ok {
				continue
			}
			if v, ok := d.Get("text"); ok {
				if final, ok = v.(string); !ok {
					return nil, "", none
				}
				d = d.Clone()
				d.Set("text", final+tag)
				parts[i] = d
				last.Set("content", jinja.NewList(parts...))
				return out, final, nil
			}
		}
	}
	return nil, "", none
}

// cut ends a rendered text at the tag.
func cut(text, final string) (string, error) {
	bare := strings.TrimSpace(tag)
	i := strings.LastIndex(text, bare)
	if i < 0 || !strings.Contains(text, strings.TrimFunc(final, jinja.IsSpace)) {
		return "", errors.New("the last message cannot be continued: the chat template leaves its content out or changes it")
	}
	if strings.HasPrefix(text[i:], tag) {
		return text[:i], nil
	}
	return strings.TrimRightFunc(text[:i], jinja.IsSpace), nil
}
