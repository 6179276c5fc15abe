package run

import (
	"context"
	"time"
)

// sampleEvery is how often the client looks at itself and flushes its records.
const sampleEvery = time.Second

// sample keeps an eye on the client itself until ctx ends.
func (r *run) sample(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		r.takeSample()
		select {
		case <-ctx.Done():
			r.takeSample()
			r.output.note(r.collector.Flush())
			return
		case <-tick.C:
			r.output.note(r.collector.Flush())
		}
	}
}

func (r *run) takeSample() {
	h := r.sampler.Sample(r.clock.Now())
	h.InFlight = int(r.live.InFlight.Load())
	h.Backlog = r.collector.Waiting()
	h.ClockStep = r.clock.Step()
	h.Standstill, h.Pause = r.watchdog.Take()
	r.facts.Health = append(r.facts.Health, h)
	r.output.note(r.output.health(h))
}
