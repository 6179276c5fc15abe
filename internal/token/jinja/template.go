// Package jinja renders chat templates. They are written in Jinja and rendered by the
// rules that inference servers use: the sandboxed environment of the Python library
// transformers, with trim_blocks, lstrip_blocks and loop controls, and with
// tojson, raise_exception and strftime_now.
//
// A construct that the engine does not know is an error that names it and its
// line. Nothing is left out in silence.
package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Program is a parsed chat template. It is safe for concurrent use.
type Program struct {
	body    []stmt
	frame   *frame
	filters map[string]*callable
	tests   map[string]*callable
	globals map[string]any
	limits  Limits
}

// Error is a fault of a template: in its text, or in what it does with its variables.
type Error struct {
	Line    int
	Message string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("chat template, line %d: %s", e.Line, e.Message) }

// Raised is what a template refuses with raise_exception, such as roles that do not alternate.
type Raised struct{ Message string }

// Error implements error.
func (r *Raised) Error() string { return "the chat template rejects the messages: " + r.Message }

// bad is a fault to panic with; Parse and Render return it. Render knows its line.
func bad(format string, args ...any) *Error { return &Error{Message: fmt.Sprintf(format, args...)} }

// thrown is the fault that a function panicked with, or nil. Other panics go on.
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
func Parse(src string) (t *Program, err error) {
	defer func() {
		if err = thrown(recover()); err != nil {
			t = nil
		}
	}()
	t = &Program{filters: filterNames(), tests: testNames(), globals: globals(), limits: Limits{Text: maxText, Steps: usualSteps}}
	p := &parser{toks: lex(src), filterTable: t.filters, testTable: t.tests}
	t.frame = p.within(nil, func() { t.body = p.body() })
	for _, f := range p.frames {
		f.resolveNames()
	}
	return t, nil
}

// usualSteps is the default limit of a rendering's work.
const usualSteps = 1_000_000

// Bound sets the limits of a rendering.
func (t *Program) Bound(l Limits) { t.limits = l }

// Render makes the text of a template with variables: values of Go, of FromJSON, and those that
// NewList and NewDict make. strftime_now tells the time now; the zero time is the present.
func (t *Program) Render(vars map[string]any, now time.Time) (string, error) {
	converted := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		v, err := convert(vars[name], 0)
		if err != nil {
			return "", fmt.Errorf("the variable %s for the chat template: %w", name, err)
		}
		converted[name] = v
	}
	m := &machine{out: &strings.Builder{}, filters: t.filters, tests: t.tests, most: t.limits, now: func() time.Time { return now }}
	if now.IsZero() {
		m.now = time.Now
	}
	if err := m.render(t, converted); err != nil {
		return "", err
	}
	return m.out.String(), nil
}

func (m *machine) render(t *Program, vars map[string]any) (err error) {
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
