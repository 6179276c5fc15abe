package monitor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/health"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// ReadPower has the power of this machine's GPUs read, where the plan wants it. The function that it gives ends
// that, when there is a reading from after the last request. GPUs that cannot be read cost nothing of what
// is measured otherwise.
func ReadPower(ctx context.Context, p *plan.Plan, kit registry.Kit, now func() time.Duration, book *rundir.Journal,
	log io.Writer) (end func()) {
	every := cmp.Or(time.Duration(p.Cost.Interval), plan.PowerInterval)
	switch {
	case p.Cost.Power == plan.PowerAuto && !onThisMachine(p.Target.URLs):
		book.AddPower(record.Power{Source: plan.PowerSMI, Error: "the target is on another machine, whose power only an exporter there can tell"})
		return func() {}
	case p.Cost.Power != plan.PowerAuto && p.Cost.Power != plan.PowerSMI:
		return func() {}
	}
	m, err := kit.Meters(ctx, p, every, now, book.AddPower)
	if err != nil {
		fmt.Fprintf(log, "warning: the power of the GPUs is not read: %v\n", err)
		book.AddPower(record.Power{Source: plan.PowerSMI, Error: err.Error()})
		return func() {}
	}
	fmt.Fprintf(log, "reading the power of this machine's GPUs every %v\n", every)
	return func() {
		m.Wait(ctx, now())
		_ = m.Close()
	}
}

// onThisMachine reports whether all targets are on this machine, as far as their names say so.
func onThisMachine(urls []string) bool {
	own := []string{"localhost"}
	if name, err := os.Hostname(); err == nil {
		own = append(own, name)
	}
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr().String())
		}
	}
	return !slices.ContainsFunc(urls, func(raw string) bool {
		u, err := url.Parse(raw)
		if err != nil {
			return true
		}
		host := strings.ToLower(u.Hostname())
		ip, err := netip.ParseAddr(host)
		loopback := err == nil && (ip.IsLoopback() || ip.IsUnspecified())
		return !loopback && !slices.Contains(own, host) && !strings.HasSuffix(host, ".localhost")
	})
}

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
