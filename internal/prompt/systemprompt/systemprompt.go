// Package systemprompt puts one system prompt in front of the prompts of another source.
package systemprompt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// Source gives the prompts of another source with the same system prompt in front of each: as a message of a
// chat that has none, or as the beginning of a text. It is the same in every stage.
type Source struct {
	prompt.Wrapper
	tok    prompt.Tokenizer
	chat   bool
	text   string
	tokens int
	hash   uint64
}

// New makes a system prompt of n tokens for the prompts of a source. chat says that they are sent as chats.
func New(s prompt.Source, n int, chat bool, tok prompt.Tokenizer, seed uint64) (*Source, error) {
	lex, err := lexicon.New(tok)
	if err != nil {
		return nil, err
	}
	seed = prompt.Mix(seed ^ 'y')
	text, err := lex.Text(rand.New(rand.NewPCG(seed, uint64(n))), n)
	if err != nil {
		return nil, fmt.Errorf("making the system prompt: %w", err)
	}
	return &Source{Wrapper: prompt.Wrapper{Source: s}, tok: tok, chat: chat, text: text, tokens: n, hash: prompt.HashText(text)}, nil
}

// Prompt implements prompt.Source.
func (s *Source) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.AtChanged(ctx, s.Source, at, s)
}

// Change puts the system prompt in front of a prompt, and of those that follow it when they come.
func (s *Source) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.TransformFollowUps(p, s)
	switch {
	case p.Late != nil || p.Body != nil || p.Inputs != nil || p.Play != nil:
	case !s.chat:
		p.Text = s.text + "\n\n" + p.Text
		p.Measure(s.tok)
	case len(p.Messages) > 0 && p.Messages[0].Role == "system":
	default:
		list := p.Messages
		if len(list) == 0 {
			list = []prompt.Message{{Role: "user", Content: p.Text, Parts: p.Parts}}
		}
		p.Messages, p.Text, p.Parts = slices.Insert(slices.Clone(list), 0, prompt.Message{Role: "system", Content: s.text}), "", nil
		if p.Tokens >= 0 {
			p.Tokens += s.tokens
		}
		p.Hash = prompt.Mix(p.Hash ^ s.hash)
	}
	return p, nil
}
