//go:build linux

package main

import (
	"context"
	"fmt"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
	"time"
)

// throughputCase is a row in which clients are driven as fast as they go.
type throughputCase struct {
	name    string
	unit    string // what is counted: a request, or an event of one
	server  serverSpec
	work    work
	judge   func(l *table.Line, f field, c throughputCase)
	needsPA bool
	// competitors in place of the usual ones, which speak OpenAI's protocol
	competitors []competitor
}

// per is how many units a request has.
func (c throughputCase) per() float64 {
	if c.unit == "event" {
		return float64(c.work.events)
	}
	return 1
}

func throughputRows() []row {
	cases := []throughputCase{
		{name: "requests/s, 64 in flight, not streamed, 16 tokens", unit: "request", needsPA: true,
			server: serverSpec{events: 16}, work: work{inFlight: 64, events: 16}, judge: judgeUnstreamed},
		{name: "requests/s, 64 in flight, 16 streamed events", unit: "request", needsPA: true,
			server: serverSpec{events: 16}, work: work{inFlight: 64, events: 16, stream: true}, judge: judgeStreamed},
		{name: "events/s, 64 in flight, 512 events, one write per event", unit: "event", needsPA: true,
			server: serverSpec{events: 512}, work: work{inFlight: 64, events: 512, stream: true}, judge: judgeEvents},
		{name: "events/s, 64 in flight, 512 events, coalesced", unit: "event",
			server: serverSpec{events: 512, coalesce: 512}, work: work{inFlight: 64, events: 512, stream: true}, judge: judgeCoalesced},
	}
	var out []row
	for _, c := range cases {
		out = append(out, row{c.name, withServer(c.server, c.measure)})
	}
	return out
}

func (c throughputCase) measure(ctx context.Context, b *bench, s *server, l *table.Line) {
	c.work.duration = b.load
	competitors := c.competitors
	if competitors == nil {
		competitors = []competitor{ours(), bareLoop()}
		if c.needsPA {
			competitors = append(competitors, perfAnalyzer())
		}
	}
	f := b.compete(ctx, s, c.work, competitors)
	for _, p := range competitors {
		c.report(l, f, p.name)
	}
	c.reportServer(l, f)
	if b.full && c.competitors == nil {
		b.otherPeers(ctx, l, s, c.work, c.report)
	}
	if len(l.Missing) == 0 {
		c.judge(l, f, c)
	}
}

// report prints what a competitor did.
func (c throughputCase) report(l *table.Line, f field, name string) {
	if !f.has(name) {
		l.Miss(name, f.missing[name])
		return
	}
	rate := median(f, name, rateOf) * c.per()
	whole := median(f, name, cpuOf) / c.per()
	cpu := median(f, name, func(a attempt) float64 { return stats.Microseconds(a.cpu) }) / c.per()
	bound := ""
	if serverWasBound(f, name) {
		bound = ", server-bound"
	}
	l.Add(name, table.Show(rate, "/s"), "server %.0f %% busy%s", 100*median(f, name, busyOf), bound)
	l.AddAt("client CPU per "+c.unit, name, table.Show(whole, " µs"), "%s in the middle of the run", table.Show(cpu, " µs"))
}

// reportServer prints the server's ceiling, as its CPU under the heaviest load tells.
func (c throughputCase) reportServer(l *table.Line, f field) {
	if f.has(table.NameOurs) {
		ceiling := median(f, table.NameOurs, func(a attempt) float64 { return a.ceiling(1) }) * c.per()
		l.Add("server", table.Show(ceiling, "/s"), "ceiling: what its CPU per %s allows on its core", c.unit)
	}
}

// sustainedOn is the rate that the client can keep up for good on so many cores.
// Work put off until after the load counts: a client that used more CPU than the
// load lasted is slower than it looked.
func sustainedOn(cores int) func(attempt) float64 {
	return func(a attempt) float64 {
		if a.wholeCPU <= 0 {
			return a.rate
		}
		return min(a.rate, float64(cores)*float64(time.Second)/float64(a.wholeCPU))
	}
}

// ratio is that of a competitor's figure to another's.
func ratio(f field, a, b string, figure func(attempt) float64) float64 {
	den := median(f, b, figure)
	if den == 0 {
		return 0
	}
	return median(f, a, figure) / den
}

func rateOf(a attempt) float64 { return a.rate }
func cpuOf(a attempt) float64  { return stats.Microseconds(a.wholeCPU) }
func busyOf(a attempt) float64 { return a.busy }

// faster checks our rate against a peer's; where the server was the bottleneck of
// either, CPU for the same work is compared instead.
func (c throughputCase) faster(l *table.Line, f field, peer string, bound float64) {
	if serverWasBound(f, table.NameOurs) || serverWasBound(f, peer) {
		l.AddNote("server-bound: compared by client CPU per %s", c.unit)
		l.AtMost(fmt.Sprintf("client CPU per %s ÷ %s's", c.unit, peer), ratio(f, table.NameOurs, peer, cpuOf), 1/bound, "")
		return
	}
	den := median(f, peer, rateOf)
	l.AtLeast(fmt.Sprintf("%ss/s ÷ %s's", c.unit, peer), median(f, table.NameOurs, sustainedOn(1))/den, bound, "")
}

// serverWasBound reports whether the server was the bottleneck of a competitor's runs.
func serverWasBound(f field, name string) bool { return median(f, name, busyOf) > serverBound }

func judgeUnstreamed(l *table.Line, f field, c throughputCase) { c.faster(l, f, table.NamePA, 1.2) }

func judgeStreamed(l *table.Line, f field, c throughputCase) {
	c.faster(l, f, table.NamePA, 1.0)
	l.AtMost("client CPU per request ÷ Perf Analyzer's", ratio(f, table.NameOurs, table.NamePA, cpuOf), 0.8, "")
}

func judgeEvents(l *table.Line, f field, _ throughputCase) {
	l.AtMost("client CPU per event ÷ Perf Analyzer's", ratio(f, table.NameOurs, table.NamePA, cpuOf), 0.8, "")
}

func judgeCoalesced(l *table.Line, f field, c throughputCase) { c.faster(l, f, table.NameBare, 0.6) }
