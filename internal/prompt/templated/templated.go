// Package templated counts prompts as a server sees them: with the model's chat
// template around them.
package templated

import (
	"context"

	"inferometer/internal/chat"
	"inferometer/internal/prompt"
)

// Source gives the prompts of another source, their length counted in what the
// model is given: the rendered template, which has the special tokens in it.
type Source struct {
	prompt.Around
	template *chat.Template
	options  chat.Options
	tok      prompt.Tokenizer
}

// New puts a template around the prompts of a source. options say what the
// template's variables are; a generation prompt is always asked for, as servers do.
func New(s prompt.Source, t *chat.Template, options chat.Options, tok prompt.Tokenizer) *Source {
	options.AddGenerationPrompt = true
	return &Source{Around: prompt.Around{Source: s}, template: t, options: options, tok: tok}
}

// Next implements prompt.Source.
func (s *Source) Next(ctx context.Context) (prompt.Prompt, error) {
	p, err := s.Source.Next(ctx)
	if err != nil {
		return p, err
	}
	return s.Change(p)
}

// Change counts a prompt, and those that follow it when they come.
func (s *Source) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.Follow(p, s)
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
