package run

import (
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/collect"
)

// Progress is how a run goes at a moment.
type Progress struct {
	At        time.Duration // on the run's clock
	Stage     int
	Stages    []plan.Stage
	Warming   bool
	Draining  bool
	Reporting bool
	Elapsed   time.Duration // of the measured part, or of the warm-up
	Sent      int64
	Ended     int64 // requests of the measured part, or of the warm-up
	InFlight  int64
	Live      *metric.Live
	Failures  map[record.Class]int64
}

// gauge lets others see how a run goes.
type gauge struct {
	now       func() time.Duration
	queue     *queue
	live      *engine.Live
	lives     []*metric.Live
	collector *collect.Collector
	reporting atomic.Bool // the last stage has ended
}

// progress tells how the run goes.
func (g *gauge) progress() Progress {
	stage, phase := g.queue.under(), record.Measured
	p := Progress{
		At: g.now(), Stage: max(stage, 0), Stages: g.queue.stages(), Reporting: g.reporting.Load(),
		Sent: g.live.Sent(), InFlight: g.live.InFlight(),
		Live: new(metric.Live), Failures: g.collector.Failures(),
	}
	for _, l := range g.lives {
		p.Live.Merge(l)
	}
	from, to := g.live.Window(stage)
	p.Warming = from > p.At
	p.Draining = to <= p.At
	p.Elapsed = min(p.At, to) - from
	if p.Warming {
		phase = record.Warmup
		p.Elapsed = max(p.At-g.live.Begin(stage), 0)
	}
	for _, l := range g.lives {
		p.Ended += l.Ended(stage, phase)
	}
	return p
}
