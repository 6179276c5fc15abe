package run

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/executor"
)

// Progress is how a run goes at a given time.
type Progress struct {
	Plan      *plan.Plan    // as it is run; not to be changed
	Host      record.Host   // of this client
	Started   time.Time     // when the run's clock was 0
	At        time.Duration // on the run's clock
	Stage     int
	Searching bool // a step of a search is running, of which nothing is counted
	Stages    []plan.Stage
	Coming    []plan.Stage        // more of them, where they are known
	Times     []record.StageTimes // of the stages that have begun
	Warming   bool
	Draining  bool
	Reporting bool
	Reading   *record.Reading // tells how far the records are read once more, where they are, and ends that
	Elapsed   time.Duration   // of the measured part, or of the warm-up
	Sent      int64
	Ended     int64 // requests of the measured part, or of the warm-up
	InFlight  int64
	Live      *metric.LiveStats
	Failures  map[record.FailureKind]int64
	// Result is what came of the run; nil means it is not over.
	Result *result.Result
}

// Later are the stages after the one under way that are known.
func (p *Progress) Later() []plan.Stage { return slices.Concat(p.Stages[p.Stage+1:], p.Coming) }

// Part is what has ended of the part of a stage that is in flight.
func (p *Progress) Part() *metric.LivePart {
	switch {
	case p.Searching:
		return new(metric.LivePart)
	case p.Warming:
		return p.Live.Part(p.Stage, record.Warmup)
	}
	return p.Live.Part(p.Stage, record.Measured)
}

// progressTracker lets others see how a run goes.
type progressTracker struct {
	now       func() time.Duration
	queue     *executor.Queue
	live      *engine.Counters
	lives     []*metric.LiveStats
	collector *collect.Collector
	plan      *plan.Plan
	header    *record.Header
	reporting atomic.Bool // the last stage has ended
	reading   *record.Reading
	result    atomic.Pointer[result.Result]

	mu      sync.Mutex
	settled []*metric.LiveStage // the first stages, of which nothing more can come
}

func (g *progressTracker) progress() Progress {
	stage := g.queue.Current()
	p := Progress{
		Plan: g.plan, Host: g.header.Host, Started: g.header.Start, Result: g.result.Load(),
		At: g.now(), Stage: max(stage, 0), Searching: stage < 0, Stages: g.queue.Stages(), Coming: g.queue.Coming(),
		Reporting: g.reporting.Load(), Reading: g.reading,
		Sent: g.live.Sent(), InFlight: g.live.InFlight(),
		Live: g.merged(stage), Failures: g.collector.Failures(),
	}
	if len(p.Stages) == 0 { // the search for rates has found none
		p.Stages = g.plan.Stages[:1]
	}
	p.Stage = min(p.Stage, len(p.Stages)-1)
	times := g.live.Times(stage)
	p.Warming = times.WarmupEnd > p.At
	p.Draining = times.SendEnd <= p.At
	p.Elapsed = min(p.At, times.SendEnd) - times.WarmupEnd
	if p.Warming {
		p.Elapsed = max(p.At-times.Begin, 0)
	}
	p.Ended = p.Part().Ended()
	for i := range p.Stages[:min(max(stage+1, 0), len(p.Stages))] {
		times := g.live.Times(i)
		if next := i + 1; next <= stage && g.live.Times(next).Begin != record.NotYet {
			times.DrainEnd = g.live.Times(next).Begin - time.Duration(p.Stages[next].Gap)
		}
		p.Times = append(p.Times, times)
	}
	return p
}

// merged is what all folds have counted. Stages that ended before the last one have been
// counted to the end: what they have come to is put together once.
func (g *progressTracker) merged(stage int) *metric.LiveStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := metric.MergeLive(g.settled, g.lives)
	if n := min(stage-1, len(all.Stages())); n > len(g.settled) {
		g.settled = all.Stages()[:n:n]
	}
	return all
}
