// Package promptfile reads prompts from a file: JSON lines, or plain text with a prompt a line.
package promptfile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Source hands out a file's prompts and conversations in order, again and again, anew in each
// stage.
type Source struct {
	prompt.RestartPerStage
	chats  []chat
	tok    prompt.Tokenizer
	output *prompt.Lengths // for prompts that do not say it themselves
	salt   prompt.Salt
	unsent []string // what lines have that is not sent
	name   string
	notes  []string
}

// New reads the file that d names with read. Its faults are plan.Faults.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64, read func(name string) ([]byte, error)) (*Source, error) {
	names, err := expand(d.File)
	if err != nil {
		return nil, plan.Faults{{Path: "data.file", Text: err.Error(), Hint: "name a file"}}
	}
	var chats []chat
	var unsent []string
	for _, name := range names {
		data, err := read(name)
		if err != nil {
			return nil, plan.Faults{{Path: "data.file", Text: err.Error(), Hint: "it must be a readable file of prompts"}}
		}
		f := &file{name: name, limit: prompt.Files(d), all: d.AllFields}
		list, err := f.read(data)
		if err != nil {
			return nil, err
		}
		chats = append(chats, list...)
		for _, field := range f.unsent {
			if !slices.Contains(unsent, field) {
				unsent = append(unsent, field)
			}
		}
	}
	if d.Prompts > len(chats) {
		return nil, plan.Faults{tooFew(d.File, d.Prompts, len(chats))}
	}
	if d.Prompts > 0 {
		chats = chats[:d.Prompts]
	}
	for i := range chats {
		chats[i].prompt.Measure(tok)
	}
	var notes []string
	if d.Dataset.Kind == plan.DatasetAuto {
		notes = []string{d.File + " has prompts, and is read as --input-file reads them."}
	}
	return &Source{
		notes:  notes,
		chats:  chats,
		tok:    tok,
		output: prompt.NewLengths(d.Output, prompt.Mix(seed^'o')),
		salt:   prompt.NewSalt(d.Salt, seed),
		unsent: unsent, name: d.File,
	}, nil
}

// Open implements prompt.Opener: fields of lines are sent where requests have a place for them.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	if !u.Chat || !u.Fields {
		if err := s.plain(); err != nil {
			return err
		}
	}
	take := func(e *entry) {
		for _, field := range e.own {
			if u.Fields {
				e.prompt.Fields = append(slices.Clip(e.prompt.Fields), field)
			} else if name := strconv.Quote(field.Name); !slices.Contains(s.unsent, name) {
				s.unsent = append(s.unsent, name)
			}
		}
		e.own = nil
	}
	for i := range s.chats {
		take(&s.chats[i].entry)
		for k := range s.chats[i].rest {
			take(&s.chats[i].rest[k])
		}
	}
	return nil
}

// plain refuses messages that only a chat can send.
func (s *Source) plain() error {
	for i := range s.chats {
		for _, e := range append([]entry{s.chats[i].entry}, s.chats[i].rest...) {
			if slices.ContainsFunc(e.prompt.Messages, func(m prompt.Message) bool { return m.Raw != nil }) {
				return plan.Faults{{
					Where: fmt.Sprintf("%s:%d", s.name, e.line), Path: "messages",
					Text: "has tool calls, images or other fields, which only chats over the OpenAI and the Messages API can send",
				}}
			}
		}
	}
	return nil
}

// mostUnsent is how many fields a note names.
const mostUnsent = 12

// Notes are worth telling the user.
func (s *Source) Notes() []string {
	if len(s.unsent) == 0 {
		return s.notes
	}
	names := s.unsent
	if more := len(names) - mostUnsent; more > 0 {
		names = append(slices.Clone(names[:mostUnsent]), fmt.Sprintf("and %d more", more))
	}
	return append(slices.Clip(s.notes), fmt.Sprintf("%s has fields that are not part of a request and are not sent: %s.", s.name, strings.Join(names, ", ")))
}

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(_ context.Context, place prompt.Position) (prompt.Prompt, error) {
	c := s.chats[place.I%uint64(len(s.chats))]
	p := c.prompt
	if p.Output == 0 {
		p.Output = s.output.At(place.Number())
	}
	s.salt.Put(&p, place, s.tok)
	if p.Session != "" {
		s.converse(&p, c.rest, place.I/uint64(len(s.chats)))
	}
	return p, nil
}
