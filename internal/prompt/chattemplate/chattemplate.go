// Package chattemplate counts prompts as a server sees them: in the model's chat template.
package chattemplate

import (
	"context"
	"slices"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token/chat"
)

// Source gives the prompts of another source, their length counted in what the
// model is given: the rendered template, which has the special tokens in it.
type Source struct {
	prompt.Wrapper
	template *chat.Template
	options  chat.Options
	tok      prompt.Tokenizer
}

// New puts a template around the prompts of a source. options say what the template's
// variables are, and whether it ends where the response begins.
func New(s prompt.Source, t *chat.Template, options chat.Options, tok prompt.Tokenizer) *Source {
	return &Source{Wrapper: prompt.Wrapper{Source: s}, template: t, options: options, tok: tok}
}

// Prompt implements prompt.Source.
func (s *Source) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.AtChanged(ctx, s.Source, at, s)
}

// Change counts a prompt, and those that follow it when they come.
func (s *Source) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.TransformFollowUps(p, s)
	if p.Late != nil {
		return p, nil
	}
	if p.Play != nil {
		p.Play.Measure = s.measure
		return p, nil
	}
	var err error
	p.Tokens, err = s.measure(p)
	return p, err
}

// between counts special tokens around the texts of another source.
type between struct {
	prompt.Wrapper
	specials int
}

// Between counts special tokens around every prompt, as a server has around a completion's text.
func Between(s prompt.Source, specials int) prompt.Source {
	return &between{Wrapper: prompt.Wrapper{Source: s}, specials: specials}
}

// Prompt implements prompt.Source.
func (b *between) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.AtChanged(ctx, b.Source, at, b)
}

// Change counts a prompt, and those that follow it when they come.
func (b *between) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.TransformFollowUps(p, b)
	without := slices.ContainsFunc(p.Fields, func(f prompt.Field) bool { return f.Name == "add_special_tokens" && string(f.Value) == "false" })
	if p.Late == nil && p.Play == nil && p.Tokens >= 0 && p.Texts == nil && !without {
		p.Tokens += b.specials
	}
	return p, nil
}
