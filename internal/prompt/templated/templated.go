// Package templated counts prompts as a server sees them: with the model's chat
// template around them.
package templated

import (
	"context"
	"time"

	"inferometer/internal/chat"
	"inferometer/internal/prompt"
)

// Source gives the prompts of another source, their length counted in what the
// model is given: the rendered template, which has the special tokens in it.
type Source struct {
	prompt.Source
	template *chat.Template
	options  chat.Options
	tok      prompt.Tokenizer
}

// New puts a template around the prompts of a source. options say what the
// template's variables are; a generation prompt is always asked for, as servers do.
func New(s prompt.Source, t *chat.Template, options chat.Options, tok prompt.Tokenizer) *Source {
	options.AddGenerationPrompt = true
	return &Source{Source: s, template: t, options: options, tok: tok}
}

// Next implements prompt.Source.
func (s *Source) Next(ctx context.Context) (prompt.Prompt, error) {
	p, err := s.Source.Next(ctx)
	if err != nil {
		return p, err
	}
	return s.count(p)
}

// count counts a prompt, and those that follow it when they come.
func (s *Source) count(p prompt.Prompt) (prompt.Prompt, error) {
	if p.Late != nil {
		p.Late = late{p.Late, s}
		return p, nil
	}
	if p.Play != nil {
		p.Play.Measure = s.measure
		return p, nil
	}
	if p.Rest != nil {
		p.Rest = conversation{p.Rest, s}
	}
	var err error
	p.Tokens, err = s.measure(p)
	return p, err
}

// conversation counts the turns of another.
type conversation struct {
	prompt.Conversation
	source *Source
}

// Next implements prompt.Conversation.
func (c conversation) Next(a prompt.Answer) (prompt.Prompt, time.Duration, error) {
	p, think, err := c.Conversation.Next(a)
	if err != nil {
		return p, think, err
	}
	if s, ok := p.Rest.(conversation); ok {
		p.Rest = s.Conversation // counted once
	}
	p, err = c.source.count(p)
	return p, think, err
}

// late counts what another says when it is sent.
type late struct {
	prompt.Late
	source *Source
}

// Prompt implements prompt.Late.
func (l late) Prompt() (prompt.Prompt, error) {
	p, err := l.Late.Prompt()
	if err != nil {
		return p, err
	}
	return l.source.count(p)
}

// Schedule implements prompt.Scheduler.
func (s *Source) Schedule() []time.Duration {
	if inner, ok := s.Source.(prompt.Scheduler); ok {
		return inner.Schedule()
	}
	return nil
}

// SetStage implements prompt.Stager.
func (s *Source) SetStage(i int) {
	if inner, ok := s.Source.(prompt.Stager); ok {
		inner.SetStage(i)
	}
}
