package executor

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/monitor"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/sweep"
)

// windowMeter measures stages in windows.
type windowMeter struct {
	plan     plan.Measurement
	observer Observer // nil means nobody follows
	now      func() time.Duration
	live     *engine.Counters
	samples  *sweep.SampleLog
	journal  *rundir.Journal
	servers  *monitor.Servers // nil means they are not asked
	settle   func(ctx context.Context)
}

// run runs a stage and measures it. The meter ends the stage where its windows are enough.
func (m *windowMeter) run(ctx context.Context, s plan.Stage, work load.Spec, to *Sender) (record.StageSummary, *sweep.Level, error) {
	i := work.Index
	meter := m.meter(i, s)
	if m.plan.Mode == plan.WindowStage && s.Warmup == (plan.Warmup{}) {
		meter.Before(ctx)
	}
	m.samples.Begin(i)
	over, end := context.WithCancel(context.Background())
	defer end()
	stop, measured := abort.NewStopper(), make(chan *sweep.Level, 1)
	endForward := to.Stopper.Forward(stop)
	go func() {
		from := m.from(over, i)
		l := meter.Run(over, i, s.Level(), from)
		if l.Ended != "" {
			stop.Stop(l.Ended)
		}
		measured <- l
	}()
	mark, err := to.Send(ctx, work, stop)
	end()
	l := <-measured
	endForward(l.Ended)
	l.Ended = mark.Reason.Windows()
	m.settle(ctx)
	meter.Finish(ctx, l, i)
	return mark, l, err
}

func (m *windowMeter) meter(i int, s plan.Stage) *sweep.Meter {
	meter := &sweep.Meter{
		Plan: m.plan, Now: m.now, Log: m.samples, Settle: m.settle, Edge: m.journal.AddEdge, Note: m.journal.Writer.AddError,
		Paced: s.Rate > 0 || s.Arrival == plan.ArrivalIntervals,
	}
	if rate := s.PerSecond(); meter.Paced && rate > 0 {
		meter.Gap = time.Duration(float64(time.Second) / rate)
	}
	if asked := m.servers; asked != nil {
		meter.GPUs = &asked.GPUs
		if asked.HaveStatistics() {
			meter.Probe = asked
		}
	}
	if m.observer != nil {
		meter.Window = func(trial int, w sweep.Window) { m.observer.Window(i, trial, w) }
	}
	return meter
}

// from waits for when a stage's measured part begins; the present if the stage ends before.
func (m *windowMeter) from(over context.Context, stage int) time.Duration {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if from := m.live.Times(stage).WarmupEnd; from <= m.now() {
			return from
		}
		select {
		case <-tick.C:
		case <-over.Done():
			return m.now()
		}
	}
}
