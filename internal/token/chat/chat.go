// Package chat turns a conversation into the text that a model is given, by the
// model's chat template. Templates are written in Jinja and rendered by the rules
// that inference servers use: the sandboxed environment of the Python library
// transformers, with trim_blocks, lstrip_blocks and loop controls, and with
// tojson, raise_exception and strftime_now.
//
// A construct that the engine does not know is an error that names it and its
// line. Nothing is left out in silence.
package chat

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Template is a parsed chat template. It is safe for use from many goroutines.
type Template struct {
	body    []stmt
	frame   *frame
	filters map[string]*callable
	tests   map[string]*callable
	globals map[string]any
	limits  Limits
}

// Error is a fault of a template: in its text, or in what it does with the messages.
type Error struct {
	Line    int
	Message string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("chat template, line %d: %s", e.Line, e.Message) }

// Raised is what a template itself refuses with raise_exception: a conversation
// whose roles do not alternate, for example.
type Raised struct{ Message string }

// Error implements error.
func (r *Raised) Error() string { return "the chat template rejects the messages: " + r.Message }

// bad is a fault that whoever finds it panics with; Parse and Render return it. Render knows
// its line.
func bad(format string, args ...any) *Error { return &Error{Message: fmt.Sprintf(format, args...)} }

// thrown is the fault that a function panicked with; nil where there was none. Any other panic
// goes on.
func thrown(r any) error {
	switch r := r.(type) {
	case nil:
		return nil
	case *Error:
		return r
	case *Raised:
		return r
	}
	panic(r)
}

// Parse reads a template.
func Parse(src string) (t *Template, err error) {
	defer func() {
		if err = thrown(recover()); err != nil {
			t = nil
		}
	}()
	t = &Template{filters: filterNames(), tests: testNames(), globals: globals(), limits: Limits{Text: maxText, Steps: usualSteps}}
	p := &parser{toks: lex(src), filterTable: t.filters, testTable: t.tests}
	t.frame = p.within(nil, func() { t.body = p.body() })
	for _, f := range p.frames {
		f.settle()
	}
	return t, nil
}

// usualSteps is the work that a rendering may take where nobody says otherwise.
const usualSteps = 1_000_000

// Bound sets the limits of a rendering.
func (t *Template) Bound(l Limits) { t.limits = l }

// Message is one message of a conversation, with the members that requests have:
// role, content, tool_calls and so on.
type Message = *Dict

// Say makes a message of a role and a text.
func Say(role, content string) Message { return NewDict("role", role, "content", content) }

// Options are what a template is given besides the messages.
type Options struct {
	// AddGenerationPrompt ends the text where the model's answer begins.
	AddGenerationPrompt bool
	// ContinueFinalMessage ends the text with the last message's content, which the model
	// is to go on from.
	ContinueFinalMessage bool
	// Special are the special tokens by name: bos_token, eos_token and so on. One that
	// is not there is undefined in the template.
	Special map[string]any
	// Tools and Documents are lists as FromJSON makes them; nil is none.
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
	list := &List{}
	for _, m := range messages {
		list.items = append(list.items, m)
	}
	vars := map[string]any{"messages": list, "tools": nil, "documents": nil, "add_generation_prompt": o.AddGenerationPrompt}
	given := []map[string]any{{"tools": o.Tools, "documents": o.Documents}, o.Special, o.Extra}
	for _, more := range given {
		for _, name := range slices.Sorted(maps.Keys(more)) {
			v, err := convert(more[name], 0)
			if err != nil {
				return "", fmt.Errorf("the variable %s for the chat template: %w", name, err)
			}
			vars[name] = v
		}
	}
	m := &machine{out: &strings.Builder{}, filters: t.filters, tests: t.tests, most: t.limits, now: func() time.Time { return o.Now }}
	if o.Now.IsZero() {
		m.now = time.Now
	}
	if err := m.render(t, vars); err != nil {
		return "", err
	}
	if o.ContinueFinalMessage {
		return cut(m.out.String(), final)
	}
	return m.out.String(), nil
}

// render runs a template.
func (m *machine) render(t *Template, vars map[string]any) (err error) {
	defer func() {
		err = thrown(recover())
		if fault := new(Error); errors.As(err, &fault) {
			fault.Line = m.line
		}
	}()
	run(m, t.frame.enter(&scope{vars: vars, outer: &scope{vars: t.globals}}), t.body)
	return nil
}

// convert turns values of Go into those of templates.
func convert(v any, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("it nests more than %d levels deep", maxNesting)
	}
	switch v := v.(type) {
	case nil, bool, int64, bigInt, float64, string, *List, *Dict:
		return v, nil
	case int:
		return int64(v), nil
	case []string:
		return list(v), nil
	case []any:
		out := &List{}
		for _, x := range v {
			c, err := convert(x, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, c)
		}
		return out, nil
	case map[string]any:
		out := &Dict{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			c, err := convert(v[k], depth+1)
			if err != nil {
				return nil, err
			}
			out.Set(k, c)
		}
		return out, nil
	}
	return nil, fmt.Errorf("a template cannot use a %T", v)
}
