// Package pool makes another source's requests once, and hands them out again and again.
package pool

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Source hands the requests out in turn. Every stage begins with the first.
type Source struct {
	prompt.Wrapper
	all []prompt.Prompt

	// Warmup is how many requests go ahead of the measured ones, which begin with the first again.
	Warmup uint64
}

// fitted is a source whose requests are others once the model is known.
type fitted interface {
	Fitted(p prompt.Prompt) (prompt.Prompt, error)
}

// most bounds what is kept in memory.
const most = 1_000_000

// New takes n requests of a source.
func New(ctx context.Context, s prompt.Source, n int) (*Source, error) {
	if n < 1 || n > most {
		return nil, plan.Faults{{Path: "data.pool", Text: fmt.Sprintf("a pool of %d requests cannot be kept: it has from 1 to %d", n, most), Hint: "change %v", Args: []any{message.Prompts}}}
	}
	out := &Source{Wrapper: prompt.Wrapper{Source: s}, all: make([]prompt.Prompt, 0, min(n, 4096))}
	for i := range uint64(n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := s.Prompt(ctx, prompt.Position{I: i})
		if errors.Is(err, io.EOF) && len(out.all) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if p.Late != nil {
			return nil, plan.Faults{{Path: "data.pool", Text: "these requests go on from responses, and cannot be made ahead", Hint: "leave it out"}}
		}
		out.all = append(out.all, p)
	}
	return out, nil
}

// All are the requests, in order. They are not to be changed.
func (s *Source) All() []prompt.Prompt { return s.all }

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	i := at.I
	if i >= s.Warmup {
		i -= s.Warmup
	}
	return s.all[i%uint64(len(s.all))], nil
}

// Lanes implements prompt.LaneSource: the requests are made.
func (s *Source) Lanes() int { return 0 }

// Session implements prompt.LaneSource.
func (s *Source) Session(at prompt.Position) uint64 { return at.I }

// Fit implements prompt.ModelBinder: the requests become those for the model.
func (s *Source) Fit(m *tensor.Signature) error {
	if err := s.Wrapper.Fit(m); err != nil {
		return err
	}
	by, ok := s.Source.(fitted)
	if !ok {
		return nil
	}
	for i := range s.all {
		var err error
		if s.all[i], err = by.Fitted(s.all[i]); err != nil {
			return err
		}
	}
	return nil
}

// SetStage implements prompt.StageStarter.
func (s *Source) SetStage(int) bool { return true }

// Sessions implements prompt.Finite.
func (s *Source) Sessions() int { return len(s.all) }
