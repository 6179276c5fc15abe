package prompt

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Wrapper is what a source of another's prompts embeds: it hands on what else the other can do.
type Wrapper struct{ Source }

// Schedule implements Scheduler.
func (a Wrapper) Schedule() Moments {
	if inner, ok := a.Source.(Scheduler); ok {
		return inner.Schedule()
	}
	return nil
}

// PlaysWhole implements Replayer.
func (a Wrapper) PlaysWhole() bool {
	inner, ok := a.Source.(Replayer)
	return ok && inner.PlaysWhole()
}

// SetStage implements Stager.
func (a Wrapper) SetStage(i int) bool {
	inner, ok := a.Source.(StageStarter)
	return ok && inner.SetStage(i)
}

// Lanes implements Laned.
func (a Wrapper) Lanes() int { return LanesOf(a.Source) }

// Session implements Laned.
func (a Wrapper) Session(at Position) uint64 {
	if inner, ok := a.Source.(LaneSource); ok {
		return inner.Session(at)
	}
	return at.I
}

// Fit implements Fitter.
func (a Wrapper) Fit(m *tensor.Signature) error {
	if inner, ok := a.Source.(ModelBinder); ok {
		return inner.Fit(m)
	}
	return nil
}

// Transformer is what a source around another does to its prompts.
type Transformer interface {
	// Change changes a prompt, and by Follow those after it. Of one that is Late there is nothing
	// yet.
	Change(p Prompt) (Prompt, error)
}

// AtChanged is the prompt that a source has at a place, changed.
func AtChanged(ctx context.Context, s Source, at Position, by Transformer) (Prompt, error) {
	p, err := s.Prompt(ctx, at)
	if err != nil {
		return p, err
	}
	return by.Change(p)
}

// TransformFollowUps has the prompts that come after one changed when they come: the turns that go on
// from its response, and what it says itself where that is not known yet.
func TransformFollowUps(p Prompt, by Transformer) Prompt {
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
	by Transformer
}

// Next implements Conversation.
func (c changedConversation) Next(a Response) (Prompt, time.Duration, error) {
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
	DeferredPrompt
	by Transformer
}

// Prompt implements Late.
func (l changedLate) Prompt() (Prompt, error) {
	p, err := l.DeferredPrompt.Prompt()
	if err != nil {
		return p, err
	}
	return l.by.Change(p)
}
