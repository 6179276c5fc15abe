// Package engine runs one stage of load at a time: prepared requests wait ahead of
// their time, slots carry them out when they are due, finished records leave.
//
// Open, closed and capped open loop are one mechanism. Slots take jobs from a
// channel. In closed loop that is the feeder's own channel and the number of slots is
// fixed; in open loop a pacer stands between the two and lets each job through when
// it is due, starting slots as they are needed.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// Sink takes finished records and gives out blank ones.
type Sink interface {
	// Blank gives a slot a record to fill in, its slices empty.
	Blank(slot int) *record.Exchange
	// Begin notes a request that is about to be sent. It does not wait for anything.
	Begin(rec *record.Exchange)
	// Put takes a finished record; it is the sink's from then on.
	Put(rec *record.Exchange)
}

// Config is what an Engine works with.
type Config struct {
	Now        func() time.Duration // the run's clock
	Source     prompt.Source
	Prepare    func(p *prompt.Prompt) (endpoint.Call, error)
	Decoder    endpoint.Decoder // of responses that a conversation goes on from
	Sink       Sink
	Session    func(m record.SessionSummary) // is told how each recorded session was played; optional
	NewSleeper func() load.Sleeper
	// MaySend is asked right before each request goes, and before each time it goes again, with the clock as it was read
	// then; false ends the stage. It must not wait for anything. nil means always.
	MaySend func(now time.Duration) bool
	Live    *Counters
	Feeders int // goroutines that prepare requests ahead of time; at least 1
	// Retries is how often a request goes again that no server answered, Backoff about
	// how long it waits before the first time.
	Retries int
	Backoff time.Duration
	// CancelAfter is how long after the request of a number was sent its user goes away, 0: never; nil means never.
	CancelAfter func(seq int64) time.Duration
	// IgnoreRetryAfter: slots of a closed loop do not wait where a server asks for it.
	IgnoreRetryAfter bool
}

// Engine runs the stages of one benchmark.
type Engine struct {
	cfg  Config
	feed *feeder
	cuts []context.CancelCauseFunc
}

// New makes an Engine.
func New(cfg Config) *Engine {
	return &Engine{cfg: cfg, feed: &feeder{source: cfg.Source, prepare: cfg.Prepare}}
}

// slotsPerFeeder is how many slots one feeder serves at least. Few slots then take
// their prompts from one queue, in the order of the source.
const slotsPerFeeder = 16

func (e *Engine) feedersOf(s *load.Profile) int {
	switch {
	case s.Growth.Step > 0:
		return 1
	case s.MaxSlots == 0:
		return max(e.cfg.Feeders, 1)
	}
	return max(min(e.cfg.Feeders, s.MaxSlots/slotsPerFeeder), 1)
}

// Next is the number of the first prompt that no stage has taken.
func (e *Engine) Next() int64 { return e.feed.first }

// Close ends the contexts of all stages.
func (e *Engine) Close() {
	for _, cut := range e.cuts {
		cut(context.Canceled)
	}
}

// Run runs one stage. When stop yields a reason, or is closed, no more is sent; when ctx
// ends, what is in flight is aborted. The mark says how it went; an error means that requests
// could not be made, never that one failed.
func (e *Engine) Run(ctx context.Context, s load.Profile, stop <-chan record.StopReason) (record.StageSummary, error) {
	// The context outlives the stage unless the drain is cut off: idle
	// connections follow it, and its end would close them.
	ctx, cut := context.WithCancelCause(ctx)
	e.cuts = append(e.cuts, cut)
	st := newStage(e, s, ctx, e.feed.start(&s, e.feedersOf(&s)))
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		st.watchStop(ctx, stop, over)
	}()
	switch {
	case !st.awaitStart():
	case s.Growth.Step > 0:
		st.grow()
	case s.Arrivals == nil:
		st.openSlots()
	default:
		st.pace()
	}
	st.drain(ctx, cut)
	close(over)
	<-watched
	st.pollStop()
	// A prompt that could not be made is no fault where the stage ended before its turn.
	if err := e.feed.halt(); err != nil && st.empty.Load() && !errors.Is(err, errSourceEnded) {
		st.mark.Reason = record.StopPrompts
		return st.mark, fmt.Errorf("stage %d: %w", s.Index+1, err)
	}
	return st.mark, nil
}
