// Package tokenids sends another source's prompts as token ids: no server tokenizes, all count
// alike.
package tokenids

import (
	"context"
	"errors"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
)

// IDEncoder is a tokenizer that tells the ids of a text, without special tokens around it.
type IDEncoder interface {
	Encode(text string, special bool) []int32
}

// Source gives the prompts of another source with their ids.
type Source struct {
	prompt.Wrapper
	encoder IDEncoder
}

// New makes ids of the prompts of a source.
func New(s prompt.Source, e IDEncoder) *Source {
	return &Source{Wrapper: prompt.Wrapper{Source: s}, encoder: e}
}

// Prompt implements prompt.Source.
func (s *Source) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.AtChanged(ctx, s.Source, at, s)
}

// Change gives a prompt its ids, and those that follow it when they come. One that has ids keeps them.
func (s *Source) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.TransformFollowUps(p, s)
	switch {
	case p.Late != nil || p.IDs != nil:
		return p, nil
	case p.Play != nil || p.Body != nil || p.Texts != nil || p.Inputs != nil || p.Parts != nil:
		return p, errors.New("data.token_ids: only prompts of one text can be sent as token ids")
	}
	text := p.Text
	if len(p.Messages) > 0 {
		texts := make([]string, len(p.Messages))
		for i := range p.Messages {
			texts[i] = p.Messages[i].Content
		}
		text = strings.Join(texts, "\n")
	}
	p.IDs = s.encoder.Encode(text, false)
	p.Tokens = len(p.IDs)
	return p, nil
}
