//go:build linux

package main

import (
	"context"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

// memoryRow is the peak resident set with 256 requests in flight.
func memoryRow() row {
	return row{"peak memory, 256 in flight", withServer(serverSpec{events: 64}, func(ctx context.Context, b *bench, s *server, l *table.Line) {
		competitors := []competitor{ours(), bareLoop(), perfAnalyzer()}
		f := b.compete(ctx, s, work{inFlight: 256, stream: true, events: 64, duration: b.load}, competitors)
		for _, c := range competitors {
			if !f.has(c.name) {
				l.Miss(c.name, f.missing[c.name])
				continue
			}
			l.Add(c.name, table.Show(median(f, c.name, peakMB), " MB"), "after %s requests of 64 events",
				table.Thousands(median(f, c.name, func(a attempt) int64 { return a.requests })))
		}
		if f.has(table.NameOurs) {
			l.AtMost("peak memory", median(f, table.NameOurs, peakMB), 100, " MB")
		}
	})}
}

func peakMB(a attempt) float64 { return float64(a.peak) / 1e6 }

// coresRow compares the client on one core with the client on as many as there
// are beside the server's.
func coresRow() row {
	return row{"client on more cores", func(ctx context.Context, b *bench) table.Line {
		var l table.Line
		serverCores, clientCores := splitCores(b.cores.All)
		if len(clientCores) < 2 {
			l.AddNote("%d core(s) beside the server's on this machine: there is nothing to scale to", len(clientCores))
			l.Must("share of linear", "1.00", "on one core", true)
			return l
		}
		s, err := b.startServer(ctx, serverSpec{events: 16, cores: serverCores})
		if err != nil {
			l.Miss("server", err)
			return l
		}
		defer s.Stop()
		one, err := b.onCores(ctx, s, clientCores[:1])
		if err != nil {
			l.Miss(table.NameOurs, err)
			return l
		}
		all, err := b.onCores(ctx, s, clientCores)
		if err != nil {
			l.Miss(table.NameOurs, err)
			return l
		}
		reportCores(&l, one, 1)
		reportCores(&l, all, len(clientCores))
		if stats.MedianOf(all, busyOf) > serverBound {
			l.AddNote("server-bound: compared by client CPU per request")
			l.AtLeast("share of linear, by client CPU per request", stats.MedianOf(one, cpuOf)/stats.MedianOf(all, cpuOf), 0.8, "")
			return l
		}
		l.AtLeast("share of linear", stats.MedianOf(all, sustainedOn(len(clientCores)))/stats.MedianOf(one, sustainedOn(1))/float64(len(clientCores)), 0.8, "")
		return l
	}}
}

// splitCores gives the server the first half: serving costs about what asking does.
func splitCores(all []int) (server, client []int) {
	half := max(1, len(all)/2)
	return all[:half], all[half:]
}

// onCores drives the program under test on some cores, with 64 in flight for each.
func (b *bench) onCores(ctx context.Context, s *server, cores []int) ([]attempt, error) {
	var out []attempt
	for range b.reps {
		w := work{inFlight: 64 * len(cores), stream: true, events: 16, duration: b.load}
		a, err := b.checked(ctx, s, cores, "cores", func(dir string) (host.Command, error) { return ours().command(b, s, w, dir) })
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func reportCores(l *table.Line, runs []attempt, cores int) {
	l.AddAt(coreCount(cores), table.NameOurs, table.Show(stats.MedianOf(runs, sustainedOn(cores)), "/s"), "requests of 16 streamed events; client CPU per request %s; server %.0f %% busy",
		table.Show(stats.MedianOf(runs, cpuOf), " µs"), 100*stats.MedianOf(runs, busyOf))
}

// growth compares CPU per request at two sizes of the same open-loop work.
type growth struct {
	small, large   openLoop
	smallServer    serverSpec
	largeServer    serverSpec
	smallN, largeN string // how the sizes are called
	// head is how many requests a run has whose cost is start-up: after it, all
	// connections are open and the load is in full swing.
	head int64
	reps int // of the large run
}

// inFlightRow has the same requests at the same rate last longer, so that more
// of them are in flight.
func inFlightRow() row {
	const rate, requests = 4000, 60000
	w := work{stream: true, events: 4}
	load := openLoop{rate: rate, requests: requests, work: w}
	// In flight is rate × latency: 64 at 16 ms, 4,096 at 1,024 ms.
	few := serverSpec{ttft: 13 * time.Millisecond, itl: time.Millisecond, events: w.events}
	many := few
	many.ttft = 1021 * time.Millisecond
	g := growth{small: load, large: load, smallServer: few, largeServer: many, smallN: "64 in flight", largeN: "4,096 in flight", head: 2 * 4096}
	return row{"cost as work grows: client CPU per request, 64 → 4,096 in flight", func(ctx context.Context, b *bench) table.Line {
		g.reps = b.reps
		return g.measure(ctx, b)
	}}
}

// millionRow has a run last 50 times as long.
func millionRow() row {
	small := openLoop{rate: 4000, requests: 20_000, work: work{stream: true, events: 4}}
	large := small
	large.requests = 1_000_000
	spec := serverSpec{ttft: 13 * time.Millisecond, itl: time.Millisecond, events: 4}
	g := growth{small: small, large: large, smallServer: spec, largeServer: spec, smallN: "20,000 requests", largeN: "1,000,000 requests", head: 2 * 64}
	return row{"cost as work grows: client CPU per request, 20,000 → 1,000,000 requests", func(ctx context.Context, b *bench) table.Line {
		g.reps = 1
		return g.measure(ctx, b)
	}}
}

func (g growth) measure(ctx context.Context, b *bench) table.Line {
	var l table.Line
	small, large, err := g.costs(ctx, b)
	if err != nil {
		l.Miss(table.NameOurs, err)
		return l
	}
	each := func(c cost) float64 { return stats.Microseconds(c.perRequest) }
	for _, at := range []struct {
		name string
		runs []cost
	}{{g.smallN, small}, {g.largeN, large}} {
		l.AddAt(at.name, table.NameOurs, table.Show(stats.MedianOf(at.runs, each), " µs"), "without the %s that the first %s took; peak memory %s; %.0f in the server's hands",
			table.Show(stats.Milliseconds(stats.MedianOf(at.runs, func(c cost) time.Duration { return c.startup })), " ms"), table.Thousands(g.head),
			table.Show(stats.MedianOf(at.runs, func(c cost) float64 { return peakMB(c.attempt) }), " MB"),
			stats.MedianOf(at.runs, func(c cost) float64 { return c.running }))
	}
	l.AtMost("growth", 100*(stats.MedianOf(large, each)/stats.MedianOf(small, each)-1), 15, " %")
	return l
}

type cost struct {
	attempt
	startup    time.Duration
	perRequest time.Duration
}

// costs measures both sizes in turns: what the machine does meanwhile, it does to both.
func (g growth) costs(ctx context.Context, b *bench) (small, large []cost, err error) {
	few, err := b.startServer(ctx, g.smallServer)
	if err != nil {
		return nil, nil, err
	}
	defer few.Stop()
	many, err := b.startServer(ctx, g.largeServer)
	if err != nil {
		return nil, nil, err
	}
	defer many.Stop()
	for i := range b.reps {
		c, err := b.cost(ctx, few, g.small, g.head)
		if err != nil {
			return nil, nil, err
		}
		small = append(small, c)
		if i >= g.reps {
			continue
		}
		if c, err = b.cost(ctx, many, g.large, g.head); err != nil {
			return nil, nil, err
		}
		large = append(large, c)
	}
	return small, large, nil
}

// cost measures CPU per request, less what a run of the first head requests takes.
func (b *bench) cost(ctx context.Context, s *server, o openLoop, head int64) (cost, error) {
	first := o
	first.requests = head
	startup, err := b.cpuOf(ctx, s, first)
	if err != nil {
		return cost{}, err
	}
	a, err := b.open(ctx, s, o)
	if err != nil {
		return cost{}, err
	}
	return cost{attempt: a, startup: startup, perRequest: (a.child.CPU() - startup) / time.Duration(o.requests-head)}, nil
}

// cpuOf is the CPU time of a run, from start to exit.
func (b *bench) cpuOf(ctx context.Context, s *server, o openLoop) (time.Duration, error) {
	dir, err := b.dir("head")
	if err != nil {
		return 0, err
	}
	c, err := host.Start(ctx, b.cores.Client, o.command(b, s, dir))
	if err != nil {
		return 0, err
	}
	if err := c.Wait(); err != nil {
		return 0, err
	}
	return c.CPU(), nil
}

// millionEventsRow is the peak memory of a run of a million requests.
func millionEventsRow() row {
	return row{"peak memory, 1,000,000 requests of 64 events", withServer(serverSpec{events: 64}, func(ctx context.Context, b *bench, s *server, l *table.Line) {
		a, err := b.checked(ctx, s, b.cores.Client, "million", func(dir string) (host.Command, error) {
			argv := []string{b.program, "run", s.url, "--model", "mock", "--concurrency", "64", "--requests", strconv.Itoa(1_000_000)}
			return host.Command{Args: append(argv, commonFlags(work{stream: true, events: 64}, dir)...), OKCodes: []int{1}}, nil
		})
		if err != nil {
			l.Miss(table.NameOurs, err)
			return
		}
		l.Add(table.NameOurs, table.Show(peakMB(a), " MB"), "%s requests/s; client CPU per event %s; %.0f s in all", table.Show(a.rate, ""),
			table.Show(stats.Microseconds(a.wholeCPU)/64, " µs"), a.child.Ended.Sub(a.child.Started).Seconds())
		l.AtMost("peak memory", peakMB(a), 600, " MB")
	})}
}
