// Package batched puts several texts of another source into one prompt.
package batched

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
)

// Source gives prompts of several texts each, made of as many prompts of another
// source.
type Source struct {
	inner prompt.Source
	texts int
	query bool
	// drawn are passages that are drawn for each query; none: they follow it.
	drawn []prompt.Prompt
	seed  uint64
	next  uint64
}

// New makes prompts of so many texts. query: one more text goes ahead of them, the
// one that they are ranked by, which is the prompt's own.
func New(s prompt.Source, texts int, query bool) *Source {
	return &Source{inner: s, texts: max(texts, 1), query: query}
}

// Draw makes each prompt of a source a query, with so many passages that are drawn for it.
func Draw(s prompt.Source, passages []prompt.Prompt, texts int, seed uint64) *Source {
	return &Source{inner: s, texts: max(texts, 1), query: true, drawn: passages, seed: prompt.Mix(seed ^ 'r')}
}

// passage is the next text of a request.
func (s *Source) passage(ctx context.Context, rng *rand.Rand) (prompt.Prompt, error) {
	if len(s.drawn) == 0 {
		return s.inner.Next(ctx)
	}
	return s.drawn[rng.IntN(len(s.drawn))], nil
}

// Next implements prompt.Source.
func (s *Source) Next(ctx context.Context) (prompt.Prompt, error) {
	first, err := s.inner.Next(ctx)
	if err != nil || first.Body != nil || first.Texts != nil {
		return first, err
	}
	rng := rand.New(rand.NewPCG(s.seed, s.next))
	s.next++
	first.Parts = media(first.Parts)
	if !s.query {
		first.Texts = append(first.Texts, said(&first))
	}
	for len(first.Texts) < s.texts {
		p, err := s.passage(ctx, rng)
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
	switch {
	case len(s.drawn) > 0:
		each = 1
	case s.query:
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
func (s *Source) SetStage(i int) bool {
	inner, ok := s.inner.(prompt.Stager)
	if !ok || !inner.SetStage(i) {
		return false
	}
	s.next = 0
	return true
}
