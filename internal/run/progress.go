package run

import (
	"time"

	"inferometer/internal/metric"
	"inferometer/internal/plan"
	"inferometer/internal/record"
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

// reporting is the phase after the last stage.
const reporting = 1

// progress tells how the run goes.
func (r *run) progress() Progress {
	p := Progress{
		At: r.clock.Now(), Stage: int(max(r.stage.Load(), 0)), Stages: r.queue.stages(),
		Reporting: r.phase.Load() == reporting,
		Sent:      r.live.Sent.Load(), InFlight: r.live.InFlight.Load(),
		Live: new(metric.Live), Failures: r.collector.Failures(),
	}
	for _, l := range r.lives {
		p.Live.Merge(l)
	}
	stage, phase := int(r.stage.Load()), record.Measured
	from, to := r.live.Window(stage)
	p.Warming = from > p.At
	p.Draining = to <= p.At
	p.Elapsed = min(p.At, to) - from
	if p.Warming {
		phase = record.Warmup
		p.Elapsed = max(p.At-r.live.Begin(stage), 0)
	}
	for _, l := range r.lives {
		p.Ended += l.Ended(stage, phase)
	}
	return p
}
