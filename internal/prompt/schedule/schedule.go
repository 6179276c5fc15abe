// Package schedule gives another source's prompts the times of a trace: they arrive as requests
// once did.
package schedule

import (
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/azure"
)

// Source is another source with a schedule.
type Source struct {
	prompt.Wrapper
	moments []time.Duration
}

// New reads the arrivals of a plan's trace for the prompts of a source.
func New(s prompt.Source, t plan.Trace, read func(string) ([]byte, error)) (prompt.Source, error) {
	data, err := read(t.Arrivals)
	if err != nil {
		return nil, message.Errorf("read the arrivals of %v: %w", message.Trace, err)
	}
	rows, err := azure.Parse(t.Arrivals, "data.trace.arrivals", data)
	if err != nil {
		return nil, err
	}
	out := &Source{Wrapper: prompt.Wrapper{Source: s}, moments: make([]time.Duration, len(rows))}
	for i := range rows {
		out.moments[i] = rows[i].At
	}
	// Lines of a trace of many servers may stand out of order, even before the first one.
	slices.Sort(out.moments)
	for i, first := 0, out.moments[0]; i < len(out.moments); i++ {
		out.moments[i] -= first
	}
	return out, nil
}

// Schedule implements prompt.Scheduler.
func (s *Source) Schedule() prompt.Moments { return prompt.NewMoments(s.moments) }
