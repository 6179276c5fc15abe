//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

const (
	perfEvents = 64
	// perfRate is asked of the original: more than it can do on a core.
	perfRate = 300
	// perfTimes is how many times the original's achieved rate is asked of us; a little
	// more than the bound, so that it can be met.
	perfTimes = 11
	// perfDelay is how late our sends may be at p99, in ms.
	perfDelay = 2.0
	// perfOpening is the length of a first stage, in seconds, which opens the connections.
	perfOpening = 1
)

// inferencePerfRow runs one config with the original and with our front end of the same
// name: the original is asked for more than it can do, ours for a multiple of what the
// original did.
//
// The figures are those of a second stage, for both. In the first moment of a run every
// request opens a connection, and with responses of a quarter of a second those are so many
// that they alone would be the last percent of the delays: of the 6,360 requests of four
// seconds at 1,590/s some 430 are sent before the first response has ended. What the first
// stage's delay was stands beside it.
func inferencePerfRow() row {
	name := fmt.Sprintf("inference-perf, random data, %d streamed tokens, constant rate: achieved of requested", perfEvents)
	return row{name, withServer(serverSpec{ttft: 20 * time.Millisecond, itl: 4 * time.Millisecond, events: perfEvents},
		func(ctx context.Context, b *bench, s *server, l *table.Line) {
			its := b.keep(ctx, l, s, perfRate, competitor{name: table.NamePerf, installed: peerInstalled("inference-perf", "inference-perf"),
				command: configCommand(func(b *bench) []string { return []string{peerPath(b, "inference-perf", "inference-perf")} })})
			if its == nil {
				return
			}
			achieved := stats.MedianOf(its, func(k loadSummary) float64 { return k.Achieved })
			asked := math.Ceil(perfTimes*achieved/10) * 10
			own := b.keep(ctx, l, s, asked, competitor{name: table.NameOursPerf, installed: always,
				command: configCommand(func(b *bench) []string { return []string{b.program, "inference-perf"} })})
			if own == nil {
				return
			}
			l.AtLeast("achieved rate ÷ the original's", stats.MedianOf(own, func(k loadSummary) float64 { return k.Achieved })/achieved, 10, "")
			l.Between("achieved ÷ asked for", stats.MedianOf(own, func(k loadSummary) float64 { return k.Achieved / asked }), 0.99, 1.01)
			late := func(k loadSummary) float64 { return 1e3 * k.Delay.P99 }
			l.AtMost("schedule_delay p99", stats.MedianOf(own, late), perfDelay, " ms")
			l.AtMost("schedule_delay p99 ÷ the original's", stats.MedianOf(own, late)/stats.MedianOf(its, late), 1, "")
		})}
}

// loadSummary is what a report says of the load.
type loadSummary struct {
	Count     float64
	Requested float64 `json:"requested_rate"`
	Achieved  float64 `json:"achieved_rate"`
	Delay     struct {
		Median, P99, Max float64
	} `json:"schedule_delay"`
	failed  float64
	opening float64 // p99 of the first stage's delay, in seconds
}

// keep asks a competitor to keep a rate and tells how that went; nil means it was not
// measured.
func (b *bench) keep(ctx context.Context, l *table.Line, s *server, rate float64, c competitor) []loadSummary {
	w := work{rate: rate, stream: true, events: perfEvents, duration: b.load}
	f := b.compete(ctx, s, w, []competitor{c})
	if !f.has(c.name) {
		l.Miss(c.name, f.missing[c.name])
		return nil
	}
	var list []loadSummary
	for _, a := range f.attempts[c.name] {
		k, err := readLoadSummary(a.dir)
		if err != nil {
			l.Miss(c.name, err)
			return nil
		}
		list = append(list, k)
	}
	l.Add(c.name, table.Show(stats.MedianOf(list, func(k loadSummary) float64 { return k.Achieved }), "")+" of "+table.Show(rate, "/s"), "")
	l.AddAt("schedule_delay p99", c.name, table.Show(stats.MedianOf(list, func(k loadSummary) float64 { return 1e3 * k.Delay.P99 }), " ms"),
		"median / max %s / %s; p99 of the second before, which opens the connections, %s; %s requests, %s failed; client CPU per request %s",
		table.Show(stats.MedianOf(list, func(k loadSummary) float64 { return 1e3 * k.Delay.Median }), " ms"),
		table.Show(stats.MedianOf(list, func(k loadSummary) float64 { return 1e3 * k.Delay.Max }), " ms"),
		table.Show(stats.MedianOf(list, func(k loadSummary) float64 { return 1e3 * k.opening }), " ms"),
		table.Thousands(int64(stats.MedianOf(list, func(k loadSummary) float64 { return k.Count }))),
		table.Thousands(int64(stats.MedianOf(list, func(k loadSummary) float64 { return k.failed }))),
		table.Show(median(f, c.name, func(a attempt) float64 { return stats.Microseconds(a.wholeCPU) }), " µs"))
	return list
}

// readLoadSummary reads what a run's reports say of its second stage.
func readLoadSummary(dir string) (loadSummary, error) {
	type report struct {
		Load     loadSummary `json:"load_summary"`
		Failures struct{ Count float64 }
	}
	var stages [2]report
	for i := range stages {
		if err := readJSONBelow(dir, fmt.Sprintf("stage_%d_lifecycle_metrics.json", i), &stages[i]); err != nil {
			return loadSummary{}, err
		}
	}
	k := stages[1].Load
	if k.Count == 0 || k.Achieved == 0 {
		return loadSummary{}, fmt.Errorf("the report in %s tells of no load", dir)
	}
	k.failed = stages[0].Failures.Count + stages[1].Failures.Count
	k.opening = stages[0].Load.Delay.P99
	return k, nil
}

// configCommand is a program that takes inference-perf's config file.
func configCommand(program func(b *bench) []string) func(b *bench, s *server, w work, dir string) (host.Command, error) {
	return func(b *bench, s *server, w work, dir string) (host.Command, error) {
		seconds := int(w.duration.Seconds())
		load := fmt.Sprintf("type: constant\n  interval: 0\n  stages: [{rate: %g, duration: %d}, {rate: %g, duration: %d}]", w.rate, perfOpening, w.rate, seconds)
		file, err := perfConfig(b, s, w, dir, load, int(w.rate)*seconds+1, true)
		return host.Command{Args: append(program(b), "-c", file), Env: offline, Dir: dir, OKCodes: []int{1}}, err
	}
}
