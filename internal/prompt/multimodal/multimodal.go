// Package multimodal adds images, videos and sound to the prompts of another source.
package multimodal

import (
	"context"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Source gives the prompts of another source with media in the user's messages. What
// a message gets follows from its text and the seed alone: the same text has the same
// media whenever it comes, so a conversation's history stays what it was.
type Source struct {
	prompt.Wrapper
	drawer *Drawer
}

// New adds media to the prompts of a source.
func New(s prompt.Source, m plan.Media, seed uint64) *Source {
	return &Source{Wrapper: prompt.Wrapper{Source: s}, drawer: NewDrawer(m, seed)}
}

// Prompt implements prompt.Source.
func (s *Source) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.AtChanged(ctx, s.Source, at, s)
}

// Change puts media into a prompt, and into those that follow it when they come.
func (s *Source) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.TransformFollowUps(p, s)
	if p.Late != nil {
		return p, nil
	}
	switch {
	case p.Body != nil || p.Inputs != nil:
	case p.Parts != nil:
		p.Parts = s.complete(p.Parts, p.Text)
	case p.Texts != nil:
		p.Parts = slices.DeleteFunc(s.parts(p.Text), func(p prompt.Part) bool { return p.Kind == prompt.Text })
	case len(p.Messages) == 0:
		p.Parts = s.parts(p.Text)
	default:
		p.Messages = slices.Clone(p.Messages)
		for i := range p.Messages {
			if m := &p.Messages[i]; m.Role == "user" && m.Parts == nil && m.Raw == nil {
				m.Parts = s.parts(m.Content)
			}
		}
	}
	return p, nil
}

// complete adds media of the kinds that a prompt's own parts lack, behind them.
func (s *Source) complete(own []prompt.Part, text string) []prompt.Part {
	out := slices.Clone(own)
	for _, p := range s.parts(text) {
		if p.Kind != prompt.Text && !slices.ContainsFunc(own, func(o prompt.Part) bool { return o.Kind == p.Kind }) {
			out = append(out, p)
		}
	}
	return out
}

// parts weaves media into a text. Nil: it gets none.
func (s *Source) parts(text string) []prompt.Part {
	media := s.drawer.Draw(prompt.HashText(text))
	if media == nil {
		return nil
	}
	return prompt.InsertMedia(text, media)
}
