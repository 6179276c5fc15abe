//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

// poissonCoresRow asks for arrivals that take many cores to send in time.
func poissonCoresRow() row {
	const rate, duration = 50_000, 10 * time.Second
	measure := func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		// On fewer cores, their part of it.
		o := openLoop{rate: float64(rate * len(sp.client) / manyCores), poisson: true, duration: duration, work: work{events: 16}}
		var kept []keptRate
		for range b.reps {
			a, err := b.openOn(ctx, s, sp.client, o)
			var k keptRate
			if err == nil {
				k, err = readKeptRate(a.dir)
			}
			if err != nil {
				l.Miss(table.NameOurs, err)
				return
			}
			kept = append(kept, k)
		}
		judgePoissonCores(l, sp, o.rate, kept)
	}
	return row{"many cores: Poisson arrivals, 50,000/s on 8 cores for 10 s, not streamed, 16 tokens", withCanned(canned.Spec{Events: 16}, measure)}
}

func judgePoissonCores(l *table.Line, sp split, rate float64, kept []keptRate) {
	sent := stats.MedianOf(kept, func(k keptRate) float64 { return float64(k.sent) / float64(max(k.scheduled, 1)) })
	spread := stats.MedianOf(kept, func(k keptRate) float64 { return k.dispersion })
	lag := stats.MedianOf(kept, func(k keptRate) float64 { return stats.Milliseconds(k.lag99) })
	l.AddAt(coreCount(len(sp.client)), table.NameOurs, table.Show(stats.MedianOf(kept, func(k keptRate) float64 { return k.rate }), "")+" of "+table.Show(rate, "/s"), "lag p50 / p99 %s / %s; variance ÷ mean of sends per 10 ms %s",
		table.Show(stats.MedianOf(kept, func(k keptRate) float64 { return stats.Milliseconds(k.lag50) }), " ms"), table.Show(lag, " ms"), table.Show(spread, ""))
	if sp.judged(l, manyCores) {
		l.Between("sent ÷ scheduled", sent, 0.99, 1.01)
		l.Between("variance ÷ mean of sends per 10 ms", spread, 0.9, 1.1)
		l.AtMost("lag p99", lag, 1, " ms")
	}
}

// stampCoresRow compares stamps with the mock's log while 4,096 streams are open.
func stampCoresRow() row {
	const inFlight, lasts = 4096, 2 * time.Second
	// In flight is rate × latency.
	spec := serverSpec{ttft: lasts / 5, itl: lasts / 40, events: 33, truth: true}
	return row{"many cores: stamp error per event, p50 / p99 / p99.9, 4,096 in flight on 8 cores", func(ctx context.Context, b *bench) (l table.Line) {
		sp := b.scale()
		spec.cores = sp.server
		o := openLoop{rate: float64(inFlight*len(sp.client)/manyCores) / lasts.Seconds(), duration: max(b.load, 3*lasts),
			work: work{stream: true, events: spec.events}}
		var runs []stampRun
		held := 0.0
		for range b.reps {
			r, a, err := b.stampRunOn(ctx, spec, sp.client, o)
			if err != nil {
				l.Miss(table.NameOurs, err)
				return l
			}
			runs = append(runs, r)
			held = max(held, a.running)
		}
		q := func(kernel bool, p float64) float64 {
			return stats.MedianOf(runs, func(r stampRun) float64 { return stats.Microseconds(r.errors(kernel, true, p)) })
		}
		describeStamps(&l, runs, q)
		l.Add("server", table.Show(held, ""), "requests in its hands on average; %s events/s", table.Show(o.rate*float64(spec.events), ""))
		if sp.judged(&l, manyCores) {
			l.AtMost("stamp error p99", q(true, 0.99), 100, " µs")
		}
		return l
	}}
}

func (b *bench) stampRunOn(ctx context.Context, spec serverSpec, cores []int, o openLoop) (stampRun, attempt, error) {
	s, err := b.startServer(ctx, spec)
	if err != nil {
		return stampRun{}, attempt{}, err
	}
	defer s.Stop()
	a, err := b.openOn(ctx, s, cores, o)
	if err != nil {
		return stampRun{}, a, err
	}
	truth, err := s.log(ctx)
	if err != nil {
		return stampRun{}, a, fmt.Errorf("comparing stamps: %w", err)
	}
	events, err := compareStamps(a.dir, truth)
	return stampRun{events: events}, a, err
}
