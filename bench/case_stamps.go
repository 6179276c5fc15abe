//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

// stampServer streams at a pace at which every event can be told apart.
var stampServer = serverSpec{ttft: 50 * time.Millisecond, itl: 10 * time.Millisecond, events: 64, truth: true}

// stampRow compares our receive stamps with the server's log of its writes.
func stampRow() row {
	return row{"stamp error per event, p50 / p99 / p99.9, 256 in flight", func(ctx context.Context, b *bench) table.Line {
		var l table.Line
		runs := b.stampRuns(ctx, &l, false)
		if len(runs) == 0 {
			return l
		}
		q := func(kernel bool, p float64) float64 {
			return stats.MedianOf(runs, func(r stampRun) float64 { return stats.Microseconds(r.errors(kernel, true, p)) })
		}
		describeStamps(&l, runs, q)
		l.AtMost("p50", q(true, 0.50), 20, " µs")
		l.AtMost("p99", q(true, 0.99), 100, " µs")
		l.AtMost("p99.9", q(true, 0.999), 500, " µs")
		return l
	}}
}

// hoggedStampRow is the same with another process keeping the client's core busy.
func hoggedStampRow() row {
	return row{"stamp error per event, p50 / p99 / p99.9, 256 in flight, client's core kept busy by another process", func(ctx context.Context, b *bench) table.Line {
		var l table.Line
		runs := b.stampRuns(ctx, &l, true)
		if len(runs) == 0 {
			return l
		}
		q := func(kernel bool, p float64) float64 {
			return stats.MedianOf(runs, func(r stampRun) float64 { return stats.Microseconds(r.errors(kernel, false, p)) })
		}
		describeStamps(&l, runs, q)
		l.AtMost("p99 without coalesced events", q(true, 0.99)/1000, 0.5, " ms")
		short := 0
		for _, r := range runs {
			if r.shortOfCPU {
				short++
			}
		}
		l.Must("verdict says the client was short of CPU", fmt.Sprintf("in %d of %d runs", short, len(runs)), "in all", short == len(runs))
		return l
	}}
}

func describeStamps(l *table.Line, runs []stampRun, q func(kernel bool, p float64) float64) {
	l.Add(table.NameOurs, table.Three(func(p float64) float64 { return q(true, p) }, " µs"), "share of coalesced events %.2f %%", 100*stats.MedianOf(runs, stampRun.coalescedShare))
	l.Add(table.NameUserClock, table.Three(func(p float64) float64 { return q(false, p) }, " µs"), "")
	l.AddNote("%s events joined with the server's log per run; stamps before their write: %d", table.Thousands(stats.MedianOf(runs,
		func(r stampRun) int64 { return int64(len(r.events)) })), stats.MedianOf(runs, stampRun.early))
}

// stampRun is one run whose stamps were compared.
type stampRun struct {
	events     []stampError
	shortOfCPU bool
}

// stampRuns makes the runs of a stamp row, with or without a hog.
func (b *bench) stampRuns(ctx context.Context, l *table.Line, hogged bool) []stampRun {
	var runs []stampRun
	for range b.reps {
		r, err := b.stampRun(ctx, hogged)
		if err != nil {
			l.Miss(table.NameOurs, err)
			return nil
		}
		runs = append(runs, r)
	}
	return runs
}

func (b *bench) stampRun(ctx context.Context, hogged bool) (stampRun, error) {
	s, err := b.startServer(ctx, stampServer)
	if err != nil {
		return stampRun{}, err
	}
	defer s.Stop()
	if hogged {
		h, err := host.Start(ctx, b.cores.Client, host.Command{Args: []string{b.self, "hog"}})
		if err != nil {
			return stampRun{}, err
		}
		defer h.Stop()
		b.hogged = true
		defer func() { b.hogged = false }()
	}
	a, err := b.try(ctx, ours(), s, work{inFlight: 256, stream: true, events: stampServer.events, duration: b.load})
	if err != nil {
		return stampRun{}, err
	}
	res, err := readResult(a.dir)
	if err != nil {
		return stampRun{}, err
	}
	r := stampRun{shortOfCPU: saysShortOfCPU(append(res.Verdict.Reasons, res.Notes...))}
	truth, err := s.log(ctx)
	if err != nil {
		return stampRun{}, err
	}
	r.events, err = compareStamps(a.dir, truth)
	return r, err
}

// saysShortOfCPU looks for a lack of CPU among the reasons and notes of a result.
func saysShortOfCPU(reasons []string) bool {
	return slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(r, "short of CPU") })
}

// errors is a quantile of the stamp errors, with the kernel's stamps or the
// user-space clock, with coalesced events or without.
func (r stampRun) errors(kernel, coalesced bool, p float64) time.Duration {
	var out []time.Duration
	for _, e := range r.events {
		switch {
		case e.coalesced && !coalesced:
		case kernel:
			out = append(out, e.kernel)
		default:
			out = append(out, e.user)
		}
	}
	return stats.Quantile(out, p)
}

func (r stampRun) coalescedShare() float64 {
	return float64(r.count(func(e stampError) bool { return e.coalesced })) / float64(max(len(r.events), 1))
}

// early counts stamps that lie before the write they belong to, which no true
// stamp can.
func (r stampRun) early() int64 { return r.count(func(e stampError) bool { return e.kernel < 0 }) }

func (r stampRun) count(is func(stampError) bool) (n int64) {
	for _, e := range r.events {
		if is(e) {
			n++
		}
	}
	return n
}
