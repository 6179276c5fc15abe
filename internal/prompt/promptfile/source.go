// Package promptfile reads prompts from a file: JSON lines, or plain text with one
// prompt on each line.
package promptfile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
)

// Source hands out the prompts and conversations of a file in order, again and again. Every stage
// begins with the first.
type Source struct {
	chats  []chat
	tok    prompt.Tokenizer
	output *prompt.Lengths // for prompts that do not say it themselves
	salt   prompt.Salt
	next   prompt.Place
	unsent []string // what lines have that is not sent
	name   string
}

// New reads the file that d names with read. What is wrong with the file is
// returned as plan.Faults.
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
		f := &file{name: name, limit: prompt.Files(d)}
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
		measure(&chats[i].prompt, tok)
	}
	return &Source{
		chats:  chats,
		tok:    tok,
		output: prompt.NewLengths(d.Output, prompt.Mix(seed^'o')),
		salt:   prompt.NewSalt(d.Salt, seed),
		unsent: unsent, name: d.File,
	}, nil
}

// Open implements prompt.Opener: fields of lines that belong into a request are sent where the
// requests have a place for them.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
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

// mostUnsent is how many fields a note names.
const mostUnsent = 12

// Notes are worth telling the user.
func (s *Source) Notes() []string {
	if len(s.unsent) == 0 {
		return nil
	}
	names := s.unsent
	if more := len(names) - mostUnsent; more > 0 {
		names = append(slices.Clone(names[:mostUnsent]), fmt.Sprintf("and %d more", more))
	}
	return []string{fmt.Sprintf("%s has fields that are not part of a request and are not sent: %s.", s.name, strings.Join(names, ", "))}
}

// Len is the number of distinct prompts that are handed out.
func (s *Source) Len() int { return len(s.chats) }

// SetStage implements prompt.Stager.
func (s *Source) SetStage(i int) bool {
	s.next = prompt.Place{Stage: uint64(i)}
	return true
}

// Next implements prompt.Source. It never ends.
func (s *Source) Next(context.Context) (prompt.Prompt, error) {
	place := s.next
	s.next.I++
	c := s.chats[place.I%uint64(len(s.chats))]
	p := c.prompt
	if p.Output == 0 {
		p.Output = s.output.At(place.Number())
	}
	if !s.salt.None() {
		s.season(&p, place)
	}
	if p.Session != "" {
		s.converse(&p, c.rest, place.I/uint64(len(s.chats)))
	}
	return p, nil
}

// season puts salt in front of a prompt. A chat gets it in front of the first
// message, which is where a server's prompt begins.
func (s *Source) season(p *prompt.Prompt, place prompt.Place) {
	var buf [16]byte
	word := string(s.salt.Append(buf[:0], place))
	if p.Messages == nil {
		p.Text = word + p.Text
		if len(p.Parts) > 0 {
			p.Parts = append([]prompt.Part{{Kind: prompt.Text, Text: word}}, p.Parts...)
		}
	} else {
		p.Messages = slices.Clone(p.Messages)
		p.Messages[0].Content = word + p.Messages[0].Content
	}
	measure(p, s.tok)
}

// measure fills in what follows from a prompt's content.
func measure(p *prompt.Prompt, tok prompt.Tokenizer) {
	if p.Messages == nil {
		p.Tokens = tok.Count(p.Text)
		p.Hash = prompt.HashText(p.Text)
		for i := range p.Parts {
			if part := &p.Parts[i]; part.Kind == prompt.Image {
				p.Hash = prompt.Mix(p.Hash ^ prompt.HashText(part.URL+string(part.Data)))
			}
		}
		for _, f := range p.Tensors {
			p.Hash = prompt.Mix(p.Hash ^ prompt.HashText(f.Name+string(f.Value)))
		}
		return
	}
	p.Tokens = 0
	for _, m := range p.Messages {
		p.Tokens += tok.Count(m.Content)
	}
	p.Hash = prompt.HashMessages(p.Messages)
}
