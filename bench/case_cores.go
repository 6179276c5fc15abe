//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

// manyCoresRows are the rows about a client with many cores. Their names begin alike,
// so that -only finds them.
func manyCoresRows(full bool) []row {
	out := []row{unstreamedCoresRow(), mostCoresRow(), streamedCoresRow(), eventsCoresRow(), waitRow(), poissonCoresRow(), stampCoresRow(),
		workersRow(), coordinatorRow(), afterRow()}
	out = append(out, vllmRows()...)
	if full {
		out = append(out, millionWaitRow())
	}
	return out
}

// perCore is how many requests are in flight for each core of a client.
const perCore = 64

// growingCores are the runs of competitors, by name and number of cores.
type growingCores struct {
	runs   map[string]map[int][]attempt
	server int // its cores
}

// rate is what a competitor can keep up for good on so many cores.
func (g growingCores) rate(name string, cores int) float64 {
	return stats.MedianOf(g.runs[name][cores], sustainedOn(cores))
}

func (g growingCores) busy(name string, cores int) float64 {
	return stats.MedianOf(g.runs[name][cores], busyOf)
}

// grow measures competitors on more and more cores, all in turn and over again, so that
// a slow spell of the machine falls on all of them.
func (b *bench) grow(ctx context.Context, s *server, sp split, counts []int, w work, competitors []competitor) (growingCores, error) {
	g := growingCores{map[string]map[int][]attempt{}, len(sp.server)}
	w.duration = b.load
	for range b.reps {
		for _, n := range counts {
			for _, c := range competitors {
				if c.crowded && n > counts[0] {
					continue
				}
				w.inFlight = perCore * n
				a, err := b.among(ctx, s, c, sp.client[:n], sp.client[n:], w)
				if err != nil {
					return g, fmt.Errorf("%s on %d core(s): %w", c.name, n, err)
				}
				if g.runs[c.name] == nil {
					g.runs[c.name] = map[int][]attempt{}
				}
				g.runs[c.name][n] = append(g.runs[c.name][n], a)
			}
		}
	}
	return g, nil
}

// among has a competitor do work on some cores, while the others compute if it is to be crowded.
func (b *bench) among(ctx context.Context, s *server, c competitor, cores, others []int, w work) (attempt, error) {
	if !c.crowded || len(others) == 0 {
		return b.driven(ctx, s, c, cores, w)
	}
	ctx, stop := context.WithCancel(ctx)
	busy, err := host.Start(ctx, others, host.Command{Args: []string{b.self, "spin", "-work", host.SpinArithmetic, "-duration", "10m"}})
	if err != nil {
		stop()
		return attempt{}, err
	}
	defer func() {
		stop()
		<-busy.Done
	}()
	return b.driven(ctx, s, c, cores, w)
}

// judgeGrowth holds the growth from one core to all against a bound. It is judged by one core
// among busy ones: how much faster a core is while its neighbours idle is the machine's affair.
func (g growingCores) judgeGrowth(l *table.Line, most int, bound float64) {
	l.Add("growth", fmt.Sprintf("%.2f ×", g.rate(table.NameOurs, most)/g.rate(table.NameOurs, 1)), "one core's among idle ones")
	l.AtLeast(fmt.Sprintf("requests/s on %d cores ÷ one core's among busy ones", most), g.rate(table.NameOurs, most)/g.rate(table.NameCrowded, 1), bound, "")
}

// report adds what a competitor did on each number of cores; per is how many units of
// the given name a request has.
func (g growingCores) report(l *table.Line, name, unit string, per float64, counts []int) {
	for _, n := range counts {
		runs := g.runs[name][n]
		ceiling := stats.MedianOf(runs, func(a attempt) float64 { return a.ceiling(g.server) })
		bound := ""
		if g.busy(name, n) > serverBound {
			bound = ", server-bound"
		}
		times := ""
		if n > counts[0] {
			times = fmt.Sprintf("%.2f × one core's; ", g.rate(name, n)/g.rate(name, counts[0]))
		}
		l.AddAt(coreCount(n), name, table.Show(per*g.rate(name, n), "/s"), "%sclient CPU per %s %s; server on %s %.0f %% busy, its ceiling %s/s%s",
			times, unit, table.Show(stats.MedianOf(runs, cpuOf)/per, " µs"), coreCount(g.server), 100*g.busy(name, n), table.Show(per*ceiling, ""), bound)
	}
}

// unstreamedCoresRow has the client and the bare loop on 1, 2, 4 and 8 cores.
func unstreamedCoresRow() row {
	measure := func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		counts := sp.counts()
		g, err := b.grow(ctx, s, sp, counts, work{events: 16}, []competitor{ours(), oursCrowded(), bareLoop()})
		if err != nil {
			l.Miss("clients", err)
			return
		}
		g.report(l, table.NameOurs, "request", 1, counts)
		g.report(l, table.NameCrowded, "request", 1, counts[:1])
		g.report(l, table.NameBare, "request", 1, counts)
		b.describeCores(ctx, l, sp)
		if sp.judged(l, manyCores) {
			l.AtLeast("requests/s on 8 cores ÷ bare loop's", g.rate(table.NameOurs, manyCores)/g.rate(table.NameBare, manyCores), 0.95, "")
			g.judgeGrowth(l, manyCores, 6.5)
		}
	}
	return row{"many cores: requests/s, not streamed, 16 tokens, 64 in flight per core", withCanned(canned.Spec{Events: 16}, measure)}
}

// mostCoresRow has the client on nearly all cores of the machine. Where two cores of
// servers are what limits it, it is measured again with one more of them, and one more.
func mostCoresRow() row {
	const client, server, bound = 14, 2, 300_000
	return row{"many cores: requests/s, not streamed, 14 client cores and 2 of servers", func(ctx context.Context, b *bench) (l table.Line) {
		all := b.cores.All
		if len(all) < client+server {
			l.AddNote("%d cores here: there is no room for %d of clients and %d of servers", len(all), client, server)
			l.Must("not for this machine", "", "", true)
			return l
		}
		best := 0.0
		for n := client; n >= client-2; n-- {
			g, err := b.atFull(ctx, split{server: all[:len(all)-n], client: all[len(all)-n:]}, canned.Spec{Events: 16}, work{events: 16})
			if err != nil {
				l.Miss(table.NameOurs, err)
				return l
			}
			g.report(&l, table.NameOurs, "request", 1, []int{n})
			best = max(best, g.rate(table.NameOurs, n))
			if best >= bound || g.busy(table.NameOurs, n) <= serverBound {
				break
			}
		}
		l.AtLeast("requests/s", best, bound, "")
		return l
	}}
}

// atFull measures the program under test on all client cores of a split, on a server of
// its own.
func (b *bench) atFull(ctx context.Context, sp split, spec canned.Spec, w work) (growingCores, error) {
	s, err := b.startCannedServer(ctx, spec, sp.server)
	if err != nil {
		return growingCores{}, err
	}
	defer s.Stop()
	return b.grow(ctx, s, sp, []int{len(sp.client)}, w, []competitor{ours()})
}

// streamedCoresRow compares one core with eight for streams of 16 events.
func streamedCoresRow() row {
	measure := func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		counts := slices.Compact([]int{1, len(sp.client)})
		g, err := b.grow(ctx, s, sp, counts, work{events: 16, stream: true}, []competitor{ours(), oursCrowded()})
		if err != nil {
			l.Miss(table.NameOurs, err)
			return
		}
		g.report(l, table.NameOurs, "request", 1, counts)
		g.report(l, table.NameCrowded, "request", 1, counts[:1])
		if sp.judged(l, manyCores) {
			g.judgeGrowth(l, manyCores, 6)
		}
	}
	return row{"many cores: requests/s, 16 streamed events, 64 in flight per core", withCanned(canned.Spec{Events: 16}, measure)}
}

// eventsCoresRow has long streams, whole in a write and in one write for eight events.
func eventsCoresRow() row {
	const events = 512
	return row{"many cores: events/s, 512 events each, 64 in flight per core", func(ctx context.Context, b *bench) (l table.Line) {
		sp := b.scale()
		n := len(sp.client)
		rates := map[int]float64{}
		for _, writes := range []int{1, events / 8} {
			g, err := b.atFull(ctx, sp, canned.Spec{Events: events, Writes: writes}, work{events: events, stream: true})
			if err != nil {
				l.Miss(table.NameOurs, err)
				return l
			}
			l.Add("server", "", "%d write(s) for each response of %d events:", writes, events)
			g.report(&l, table.NameOurs, "event", events, []int{n})
			rates[writes] = events * g.rate(table.NameOurs, n)
		}
		if sp.judged(&l, manyCores) {
			l.AtLeast("events/s, responses in one write", rates[1], 5_000_000, "")
		}
		return l
	}}
}
