// Package batched puts several texts of another source into one prompt.
package batched

import (
	"context"
	"time"

	"inferometer/internal/prompt"
)

// Source gives prompts of several texts each, made of as many prompts of another
// source.
type Source struct {
	inner prompt.Source
	texts int
	query bool
}

// New makes prompts of so many texts. query: one more text goes ahead of them, the
// one that they are ranked by, which is the prompt's own.
func New(s prompt.Source, texts int, query bool) *Source {
	return &Source{inner: s, texts: max(texts, 1), query: query}
}

// Next implements prompt.Source.
func (s *Source) Next(ctx context.Context) (prompt.Prompt, error) {
	first, err := s.inner.Next(ctx)
	if err != nil || first.Body != nil || first.Texts != nil {
		return first, err
	}
	first.Parts = media(first.Parts)
	if !s.query {
		first.Texts = append(first.Texts, said(&first))
	}
	for len(first.Texts) < s.texts {
		p, err := s.inner.Next(ctx)
		if err != nil {
			return first, err
		}
		first.Texts = append(first.Texts, said(&p))
		first.Hash = prompt.Mix(first.Hash) ^ p.Hash
		if first.Tokens >= 0 && p.Tokens >= 0 {
			first.Tokens += p.Tokens
		} else {
			first.Tokens = -1
		}
		first.Parts = append(first.Parts, media(p.Parts)...)
	}
	first.Rest = nil
	return first, nil
}

// media are the parts that are no text, which stands in the texts.
func media(parts []prompt.Part) []prompt.Part {
	var list []prompt.Part
	for _, p := range parts {
		if p.Kind != prompt.Text {
			list = append(list, p)
		}
	}
	return list
}

// said is a prompt as one text.
func said(p *prompt.Prompt) string {
	text := p.Text
	for i := range p.Messages {
		if text != "" {
			text += "\n"
		}
		text += p.Messages[i].Content
	}
	return text
}

// Schedule implements prompt.Scheduler. A prompt is due when the first of those that it
// is made of is.
func (s *Source) Schedule() []time.Duration {
	inner, ok := s.inner.(prompt.Scheduler)
	if !ok {
		return nil
	}
	each := s.texts
	if s.query {
		each++
	}
	var due []time.Duration
	for i, d := range inner.Schedule() {
		if i%each == 0 {
			due = append(due, d)
		}
	}
	return due
}

// SetStage implements prompt.Stager.
func (s *Source) SetStage(i int) {
	if inner, ok := s.inner.(prompt.Stager); ok {
		inner.SetStage(i)
	}
}
