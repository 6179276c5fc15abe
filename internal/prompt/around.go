package prompt

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Around is what a source of another's prompts embeds. It hands on what the other can do
// besides giving prompts.
type Around struct{ Source }

// Schedule implements Scheduler.
func (a Around) Schedule() []time.Duration {
	if inner, ok := a.Source.(Scheduler); ok {
		return inner.Schedule()
	}
	return nil
}

// SetStage implements Stager.
func (a Around) SetStage(i int) bool {
	inner, ok := a.Source.(Stager)
	return ok && inner.SetStage(i)
}

// Lanes implements Laned.
func (a Around) Lanes() int { return LanesOf(a.Source) }

// Session implements Laned.
func (a Around) Session(at Place) uint64 {
	if inner, ok := a.Source.(Laned); ok {
		return inner.Session(at)
	}
	return at.I
}

// Fit implements Fitter.
func (a Around) Fit(m *tensor.Model) error {
	if inner, ok := a.Source.(Fitter); ok {
		return inner.Fit(m)
	}
	return nil
}

// Changer is what a source around another does to its prompts.
type Changer interface {
	// Change changes a prompt, and by Follow those that come after it. Of a prompt that
	// is Late there is nothing to change yet.
	Change(p Prompt) (Prompt, error)
}

// AtChanged is the prompt that a source has at a place, changed.
func AtChanged(ctx context.Context, s Source, at Place, by Changer) (Prompt, error) {
	p, err := s.At(ctx, at)
	if err != nil {
		return p, err
	}
	return by.Change(p)
}

// Follow has the prompts that come after one changed when they come: the turns that go on
// from its answer, and what it says itself where that is not known yet.
func Follow(p Prompt, by Changer) Prompt {
	switch {
	case p.Late != nil:
		p.Late = changedLate{p.Late, by}
	case p.Rest != nil:
		p.Rest = changedConversation{p.Rest, by}
	}
	return p
}

// changedConversation changes the turns of another conversation.
type changedConversation struct {
	Conversation
	by Changer
}

// Next implements Conversation.
func (c changedConversation) Next(a Answer) (Prompt, time.Duration, error) {
	p, think, err := c.Conversation.Next(a)
	if err != nil {
		return p, think, err
	}
	if rest, ok := p.Rest.(changedConversation); ok && rest.by == c.by {
		p.Rest = rest.Conversation // once is enough
	}
	p, err = c.by.Change(p)
	return p, think, err
}

// changedLate changes what another says when it is sent.
type changedLate struct {
	Late
	by Changer
}

// Prompt implements Late.
func (l changedLate) Prompt() (Prompt, error) {
	p, err := l.Late.Prompt()
	if err != nil {
		return p, err
	}
	return l.by.Change(p)
}
