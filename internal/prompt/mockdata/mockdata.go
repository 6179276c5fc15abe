// Package mockdata makes prompts of a few words and a number, to try things out with.
package mockdata

import (
	"context"
	"strconv"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Source counts. Every stage begins with 1.
type Source struct {
	prompt.RestartPerStage
	tok    prompt.Tokenizer
	output *prompt.Lengths
	salt   prompt.Salt
	pool   uint64
	words  string
}

// New makes a source whose responses have the length that d asks for.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64) *Source {
	return &Source{
		tok: tok, words: "1 2 3 ", pool: uint64(max(d.Prompts, 0)),
		output: prompt.NewLengths(d.Output, prompt.Mix(seed^'o')), salt: prompt.NewSalt(d.Salt, seed),
	}
}

// Open implements prompt.Opener: chats have other words.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	if u.Chat {
		s.words = "mock prompt "
	}
	return nil
}

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(_ context.Context, place prompt.Position) (prompt.Prompt, error) {
	number := place.I
	if s.pool > 0 {
		number %= s.pool
	}
	text := s.salt.Append(make([]byte, 0, 48), place)
	text = strconv.AppendUint(append(text, s.words...), number+1, 10)
	p := prompt.Prompt{Text: string(text), Output: s.output.At(place.Number())}
	p.Tokens, p.Hash = s.tok.Count(p.Text), prompt.HashText(p.Text)
	return p, nil
}
