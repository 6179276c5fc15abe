//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
	"github.com/inferometer/inferometer/internal/record"
)

// openLoop is a run of the program under test at a rate.
type openLoop struct {
	rate     float64
	poisson  bool
	inFlight int // cap; 0: none
	requests int64
	duration time.Duration
	work     work
}

func (o openLoop) command(b *bench, s *server, dir string) host.Command {
	argv := []string{b.program, "run", s.url, "--model", "mock", "--rate", strconv.FormatFloat(o.rate, 'f', -1, 64)}
	if o.poisson {
		argv = append(argv, "--arrival", "poisson")
	}
	if o.inFlight > 0 {
		argv = append(argv, "--max-in-flight", strconv.Itoa(o.inFlight))
	}
	if o.requests > 0 {
		argv = append(argv, "--requests", strconv.FormatInt(o.requests, 10))
	}
	if o.duration > 0 {
		argv = append(argv, "--duration", o.duration.String())
	}
	return host.Command{Args: append(argv, commonFlags(o.work, dir)...), OKCodes: []int{1}}
}

func (b *bench) open(ctx context.Context, s *server, o openLoop) (attempt, error) {
	return b.openOn(ctx, s, b.cores.Client, o)
}

func (b *bench) openOn(ctx context.Context, s *server, cores []int, o openLoop) (attempt, error) {
	return b.checked(ctx, s, cores, "open", func(dir string) (host.Command, error) { return o.command(b, s, dir), nil })
}

// poissonRow asks for more arrivals than any peer can keep up with.
func poissonRow() row {
	return row{"Poisson arrivals, 5,000/s for 30 s, not streamed, 16 tokens", withServer(serverSpec{events: 16}, func(ctx context.Context, b *bench, s *server, l *table.Line) {
		var kept []keptRate
		for range b.reps {
			a, err := b.open(ctx, s, openLoop{rate: 5000, poisson: true, duration: 30 * time.Second, work: work{events: 16}})
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
		judgePoisson(l, kept)
		if b.full {
			b.peerPoisson(ctx, l, s)
		}
	})}
}

func judgePoisson(l *table.Line, kept []keptRate) {
	sent := stats.MedianOf(kept, func(k keptRate) float64 { return float64(k.sent) / float64(max(k.scheduled, 1)) })
	spread := stats.MedianOf(kept, func(k keptRate) float64 { return k.dispersion })
	lag := stats.MedianOf(kept, func(k keptRate) float64 { return stats.Milliseconds(k.lag99) })
	l.Add(table.NameOurs, table.Show(stats.MedianOf(kept, func(k keptRate) float64 { return k.rate }), "/s"), "%s of %s scheduled sent; lag p50 / p99 %s / %s",
		table.Thousands(stats.MedianOf(kept, func(k keptRate) int64 { return k.sent })),
		table.Thousands(stats.MedianOf(kept, func(k keptRate) int64 { return k.scheduled })),
		table.Show(stats.MedianOf(kept, func(k keptRate) float64 { return stats.Milliseconds(k.lag50) }), " ms"), table.Show(lag, " ms"))
	l.Between("sent ÷ scheduled", sent, 0.99, 1.01)
	l.Between("variance ÷ mean of sends per 10 ms", spread, 0.9, 1.1)
	l.AtMost("lag p99", lag, 2, " ms")
}

// peerRate is the rate asked of the peers: a tenth of ours, and few keep it.
const peerRate = 500

// peerPoisson has the peers keep a rate.
func (b *bench) peerPoisson(ctx context.Context, l *table.Line, s *server) {
	w := work{rate: peerRate, events: 16, duration: 2 * b.load}
	report := func(l *table.Line, f field, name string) {
		l.Add(name, fmt.Sprintf("%s of %d/s", table.Show(median(f, name, rateOf), ""), peerRate), "")
	}
	pa := perfAnalyzer()
	if f := b.compete(ctx, s, w, []competitor{pa}); f.has(pa.name) {
		report(l, f, pa.name)
	} else {
		l.Miss(pa.name, f.missing[pa.name])
	}
	b.otherPeers(ctx, l, s, w, report)
}

// keptRate is how a run kept to its schedule.
type keptRate struct {
	sent, scheduled int64
	rate            float64
	dispersion      float64
	lag50, lag99    time.Duration
}

func readKeptRate(dir string) (keptRate, error) {
	var sent, lag []time.Duration
	f, err := readRecords(dir, func(r *record.Record) {
		if r.Sent != record.Never {
			sent = append(sent, r.Sent)
			lag = append(lag, r.Sent-r.Due)
		}
	})
	if err != nil {
		return keptRate{}, err
	}
	k := keptRate{sent: int64(len(sent)), scheduled: f.stage.Scheduled}
	k.rate = float64(k.sent) / (f.stage.SendEnd - f.stage.Begin).Seconds()
	k.dispersion = stats.Dispersion(sent, f.stage.Begin, f.stage.SendEnd, 10*time.Millisecond)
	k.lag50, k.lag99 = stats.Quantile(lag, 0.50), stats.Quantile(lag, 0.99)
	if k.scheduled == 0 {
		return k, fmt.Errorf("the run's records have no count of scheduled arrivals")
	}
	return k, nil
}

// reportRow measures how long one waits for the results after the last response.
func reportRow() row {
	return row{"last response → results on screen, 20,000 requests", withServer(serverSpec{events: 16}, func(ctx context.Context, b *bench, s *server, l *table.Line) {
		var waits []float64
		for range b.reps {
			wait, err := b.reportWait(ctx, s)
			if err != nil {
				l.Miss(table.NameOurs, err)
				return
			}
			waits = append(waits, wait.Seconds())
		}
		l.Add(table.NameOurs, table.Show(stats.Quantile(waits, 0.5), " s"), "from the last response to the program's end")
		l.AtMost("wait", stats.Quantile(waits, 0.5), 0.5, " s")
		if b.full {
			b.peerReportWait(ctx, l, s)
		}
	})}
}

// reportWait runs 20,000 streamed requests and returns the time between the end of
// the last one and the end of the program, whose last act is to print the table.
func (b *bench) reportWait(ctx context.Context, s *server) (time.Duration, error) {
	a, err := b.checked(ctx, s, b.cores.Client, "report", func(dir string) (host.Command, error) {
		return host.Command{Args: []string{b.program, "run", s.url, "--model", "mock", "--concurrency", "64", "--requests", "20000",
			"--input-tokens", strconv.Itoa(promptWords), "--output-tokens", "16", "--out", outDir(dir)}, OKCodes: []int{1}}, nil
	})
	if err != nil {
		return 0, err
	}
	var last time.Duration
	f, err := readRecords(a.dir, func(r *record.Record) { last = max(last, r.End) })
	return a.child.Ended.Sub(f.start.Add(last)), err
}

// peerReportWait has GenAI-Perf, which reads everything again after the load, do the
// same work.
func (b *bench) peerReportWait(ctx context.Context, l *table.Line, s *server) {
	c := pythonPeers()[0]
	f := b.compete(ctx, s, work{inFlight: 64, stream: true, events: 16, requests: 20_000}, []competitor{c})
	b.peerResult(l, c, f, func(l *table.Line, f field, name string) {
		l.Add(name, table.Show(median(f, name, func(a attempt) float64 { return a.tail.Seconds() }), " s"), "")
	})
}

// startupRow measures how long the program takes to do nothing.
func startupRow() row {
	return row{"start-up (--help)", func(ctx context.Context, b *bench) table.Line {
		var l table.Line
		times, err := startups(ctx, b, b.program, 20)
		if err != nil {
			l.Miss(table.NameOurs, err)
			return l
		}
		l.Add(table.NameOurs, table.Show(stats.Quantile(times, 0.5), " ms"), "median of %d", len(times))
		l.AtMost("start-up", stats.Quantile(times, 0.5), 50, " ms")
		if b.full {
			b.peerStartups(ctx, &l)
		}
		return l
	}}
}

// peerStartups starts the peers. Their first start writes caches and does not count.
func (b *bench) peerStartups(ctx context.Context, l *table.Line) {
	programs := map[string]string{table.NamePA: perfAnalyzerPath(b), "GenAI-Perf": peerPath(b, "genai-perf", "genai-perf"),
		"AIPerf": peerPath(b, "aiperf", "aiperf"), "inference-perf": peerPath(b, "inference-perf", "inference-perf"),
		"GuideLLM": peerPath(b, "guidellm", "guidellm")}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		times, err := startups(ctx, b, programs[name], 1+b.reps)
		if err != nil {
			l.Miss(name, err)
			continue
		}
		l.Add(name, table.Show(stats.Quantile(times[1:], 0.5), " ms"), "")
	}
}

// startups returns how long a program took to print its help, n times.
func startups(ctx context.Context, b *bench, program string, n int) ([]float64, error) {
	var times []float64
	for range n {
		// Perf Analyzer ends its help with exit code 99.
		c, err := host.Start(ctx, b.cores.Client, host.Command{Args: []string{program, "--help"}, OKCodes: []int{99}})
		if err != nil {
			return nil, err
		}
		if err := c.Wait(); err != nil {
			return nil, err
		}
		times = append(times, stats.Milliseconds(c.Ended.Sub(c.Started)))
	}
	return times, nil
}
