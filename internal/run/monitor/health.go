package monitor

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

// HealthMonitor keeps an eye on the client itself, and flushes its records.
type HealthMonitor struct {
	Clock     *timedconn.Clock
	Live      *engine.Counters
	Collector *collect.Collector
	Journal   *rundir.Journal

	health   *health.Sampler
	watchdog *health.Watchdog
}

// Start samples until ctx ends, and once more then; the channel is closed when it is done.
func (s *HealthMonitor) Start(ctx context.Context) <-chan struct{} {
	s.health, s.watchdog = health.NewSampler(), health.NewWatchdog(s.Clock.Now)
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
			s.Journal.Writer.AddError(s.Collector.Flush())
		}
	}()
	return done
}

func (s *HealthMonitor) sample() {
	h := s.health.Sample(s.Clock.Now())
	h.InFlight = int(s.Live.InFlight())
	h.Backlog = s.Collector.Waiting()
	h.ClockStep = s.Clock.Step()
	h.Standstill, h.Pause = s.watchdog.Pauses()
	s.Journal.AddHealth(h)
}
