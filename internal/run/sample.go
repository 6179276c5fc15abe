package run

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/health"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// sampleEvery is how often the client looks at itself and flushes its records.
const sampleEvery = time.Second

// sampler keeps an eye on the client itself, and flushes its records.
type sampler struct {
	clock     *timedconn.Clock
	live      *engine.Counters
	collector *collect.Collector
	journal   *rundir.Journal

	health   *health.Sampler
	watchdog *health.Watchdog
}

// start samples until ctx ends, and once more then; the channel is closed when it is done.
func (s *sampler) start(ctx context.Context) <-chan struct{} {
	s.health, s.watchdog = health.NewSampler(), health.NewWatchdog(s.clock.Now)
	go s.watchdog.Watch(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for over := false; !over; {
			s.sample()
			select {
			case <-ctx.Done():
				s.sample()
				over = true
			case <-tick.C:
			}
			s.journal.Writer.AddError(s.collector.Flush())
		}
	}()
	return done
}

func (s *sampler) sample() {
	h := s.health.Sample(s.clock.Now())
	h.InFlight = int(s.live.InFlight())
	h.Backlog = s.collector.Waiting()
	h.ClockStep = s.clock.Step()
	h.Standstill, h.Pause = s.watchdog.Pauses()
	s.journal.AddHealth(h)
}
