// Package batched puts several texts of another source into one prompt.
package batched

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
)

// Source gives prompts of several texts each, made of as many prompts of another
// source.
type Source struct {
	prompt.Wrapper
	texts int
	query bool
	// drawn are passages that are drawn for each query; none: they follow it.
	drawn []prompt.Prompt
	seed  uint64
	// each is how many prompts of the other source make one; it is known once one was seen.
	each func() uint64
}

// New makes prompts of so many texts. query: one more text goes ahead of them, the
// one that they are ranked by, which is the prompt's own.
func New(s prompt.Source, texts int, query bool) *Source {
	out := &Source{Wrapper: prompt.Wrapper{Source: s}, texts: max(texts, 1), query: query}
	out.each = sync.OnceValue(out.measure)
	return out
}

// Draw makes each prompt of a source a query, with so many passages that are drawn for it.
func Draw(s prompt.Source, passages []prompt.Prompt, texts int, seed uint64) *Source {
	out := New(s, texts, true)
	out.drawn, out.seed = passages, prompt.Mix(seed^'r')
	return out
}

// measure finds out how many prompts make one: a source may have whole requests.
func (s *Source) measure() uint64 {
	first, err := s.Source.Prompt(context.Background(), prompt.Position{})
	if err == nil && isComplete(&first) {
		return 1
	}
	return s.several()
}

// several is how many prompts make a request of several texts.
func (s *Source) several() uint64 {
	switch {
	case len(s.drawn) > 0:
		return 1
	case s.query:
		return uint64(s.texts) + 1
	}
	return uint64(s.texts)
}

// isComplete reports whether a prompt is a request as it stands.
func isComplete(p *prompt.Prompt) bool { return p.Body != nil || p.Texts != nil || p.Late != nil }

// passage is a text of a request, the one at a place of the other source or a drawn one.
func (s *Source) passage(ctx context.Context, at prompt.Position, rng *rand.Rand) (prompt.Prompt, error) {
	if len(s.drawn) == 0 {
		return s.Source.Prompt(ctx, at)
	}
	return s.drawn[rng.IntN(len(s.drawn))], nil
}

// Prompt implements prompt.Source.
func (s *Source) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	rng := rand.New(rand.NewPCG(s.seed, at.I))
	at.I *= s.each()
	first, err := s.Source.Prompt(ctx, at)
	if err != nil || isComplete(&first) {
		return first, err
	}
	first.Parts = media(first.Parts)
	if !s.query {
		first.Texts = append(first.Texts, said(&first))
	}
	for len(first.Texts) < s.texts {
		at.I++
		p, err := s.passage(ctx, at, rng)
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

// Session implements prompt.LaneSource: a request of several texts is one of its own.
func (s *Source) Session(at prompt.Position) uint64 {
	if s.each() > 1 {
		return at.I
	}
	return s.Wrapper.Session(at)
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

// Schedule implements prompt.Scheduler. A prompt is due when the first of its parts is.
func (s *Source) Schedule() prompt.Moments {
	all := s.Wrapper.Schedule()
	if all == nil {
		return nil
	}
	return func() (time.Duration, bool) {
		due, ok := all()
		for i := uint64(1); ok && i < s.each(); i++ {
			all()
		}
		return due, ok
	}
}
