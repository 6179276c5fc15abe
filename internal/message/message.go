// Package message holds what is said to users as data: a text, and the settings that it
// names. Whoever finds something out says it here, by the setting's place in a plan; the tool
// that ran words it, once, with the names that its users know.
package message

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

// Message is a text that names settings.
type Message struct {
	format string
	args   []any // settings, stages, messages and errors among them are worded with the rest
	other  *Message
}

// New makes a message of a format, as fmt.Errorf has it.
func New(format string, args ...any) Message { return Message{format: format, args: args} }

// Or is what a tool that lacks one of the settings says instead; an empty format leaves a clause
// out.
func (m Message) Or(format string, args ...any) Message {
	last := New(format, args...)
	if m.other != nil {
		last = m.other.Or(format, args...)
	}
	m.other = &last
	return m
}

// String is the message in inferometer's own names.
func (m Message) String() string { return m.In(Names{}) }

// In is the message in the names of a tool.
func (m Message) In(n Names) string {
	text, _ := m.words(n)
	return text
}

// words words a message; known is false where the tool lacks a setting that is named.
func (m Message) words(n Names) (text string, known bool) {
	args, known := m.worded(n)
	if !known && m.other != nil {
		return m.other.words(n)
	}
	return fmt.Errorf(m.format, args...).Error(), known
}

// worded are the arguments in the names of a tool.
func (m Message) worded(n Names) (args []any, known bool) {
	known = true
	args = slices.Clone(m.args)
	for i, arg := range args {
		ok := true
		switch a := arg.(type) {
		case Setting:
			args[i], ok = n.name(a)
		case Stage:
			args[i] = n.stage(int(a))
		case Message:
			args[i], ok = a.words(n)
		case error:
			args[i] = n.Error(a)
		}
		known = known && ok
	}
	return args, known
}

// Error is a message that is an error.
type Error struct {
	Message
	own error // in our own names, with what it wraps
}

// Errorf is fmt.Errorf for errors that name settings.
func Errorf(format string, args ...any) error {
	m := New(format, args...)
	own, _ := m.worded(Names{})
	return &Error{m, fmt.Errorf(format, own...)}
}

// Error is the message in our own names.
func (e *Error) Error() string { return e.own.Error() }

// Worded is the error in the names of a tool.
func (e *Error) Worded(n Names) error { return errors.New(e.In(n)) }

// Unwrap gives what it wraps.
func (e *Error) Unwrap() error { return errors.Unwrap(e.own) }

// Names are how the users of a tool call things. The zero Names are our own.
type Names struct {
	// Of is how a setting is called that has a path in a plan, empty where the tool has none;
	// ok is false where nothing is known of it.
	Of func(path string) (name string, ok bool)
	// Place is where the user has set a path of the plan, and its path there; nil: the flag that
	// Of gives.
	Place func(path string) (where, at string)
	// Stage is what stage i is called; nil means by its number in the plan, from 1, and its name.
	Stage func(i int) string
}

// name is what a tool calls a setting; has is false where it has none, and the name ours.
func (n Names) name(s Setting) (name string, has bool) {
	if n.Of == nil {
		return s.String(), true
	}
	name, known := n.Of(s.Path())
	return cmp.Or(name, s.String()), name != "" || !known
}

// Stage is a stage that a message names, by its place in the plan.
type Stage int

func (n Names) stage(i int) string {
	if n.Stage != nil {
		return n.Stage(i)
	}
	return fmt.Sprintf("stage %d", i+1)
}

// Error is an error in the names of a tool: what in it has words of this package, and faults
// of a plan. Errors that only wrap others keep their words around what those say.
func (n Names) Error(err error) error {
	if err == nil || n.Of == nil && n.Place == nil {
		return err
	}
	if e, ok := err.(interface{ Worded(Names) error }); ok {
		return e.Worded(n)
	}
	text, inner := err.Error(), wrapped(err)
	worded := make([]error, len(inner))
	for i, e := range inner {
		worded[i] = n.Error(e)
	}
	if len(inner) > 0 && errors.Join(inner...).Error() == text {
		return errors.Join(worded...)
	}
	for i, e := range inner {
		text = strings.Replace(text, e.Error(), worded[i].Error(), 1)
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

func wrapped(err error) []error {
	//lint:ignore errorlint this is how to look into it
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return []error{inner}
		}
	}
	return nil
}

// Table is a Names.Of that looks paths up in rows of a path and a name: the first row that a path
// is at or within counts, wherever in a list. An empty name: no such setting.
func Table(rows [][2]string) func(path string) (name string, ok bool) {
	return func(path string) (string, bool) {
		path = places().ReplaceAllString(path, "")
		for _, r := range rows {
			if rest, ok := strings.CutPrefix(path, r[0]); ok && (rest == "" || rest[0] == '.') {
				return r[1], true
			}
		}
		return "", false
	}
}

// places are those of elements in a list.
var places = pattern.New(`\[\d+\]`)

// Log is where messages go while something is going on.
type Log struct {
	To    io.Writer
	Names Names
}

// Printf writes a message, in one piece.
func (l Log) Printf(format string, args ...any) {
	fmt.Fprint(l.To, New(format, args...).In(l.Names))
}
