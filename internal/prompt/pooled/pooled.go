// Package pooled makes the requests of another source once, and hands them out again and
// again as they are.
package pooled

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/tensor"
)

// Source hands the requests out in turn. Every stage begins with the first.
type Source struct {
	inner prompt.Source
	all   []prompt.Prompt
	next  int
}

// most bounds what is kept in memory.
const most = 1_000_000

// New takes n requests of a source.
func New(ctx context.Context, s prompt.Source, n int) (*Source, error) {
	if n < 1 || n > most {
		return nil, plan.Faults{{Path: "data.pool", Text: fmt.Sprintf("a pool of %d requests cannot be kept: it has from 1 to %d", n, most), Hint: "change data.prompts"}}
	}
	out := &Source{inner: s, all: make([]prompt.Prompt, 0, min(n, 4096))}
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := s.Next(ctx)
		if errors.Is(err, io.EOF) && len(out.all) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		out.all = append(out.all, p)
	}
	return out, nil
}

// All are the requests, in order. They are not to be changed.
func (s *Source) All() []prompt.Prompt { return s.all }

// Next implements prompt.Source. It never ends.
func (s *Source) Next(context.Context) (prompt.Prompt, error) {
	p := s.all[s.next%len(s.all)]
	s.next++
	return p, nil
}

// SetStage implements prompt.Stager.
func (s *Source) SetStage(int) { s.next = 0 }

// Sessions implements prompt.Finite.
func (s *Source) Sessions() int { return len(s.all) }

// Schedule implements prompt.Scheduler.
func (s *Source) Schedule() []time.Duration {
	if inner, ok := s.inner.(prompt.Scheduler); ok {
		return inner.Schedule()
	}
	return nil
}

// Fit implements prompt.Fitter.
func (s *Source) Fit(m *tensor.Model) error {
	if inner, ok := s.inner.(prompt.Fitter); ok {
		return inner.Fit(m)
	}
	return nil
}
