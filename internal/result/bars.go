package result

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
)

// bars are the ways in which this client can bend figures, each with how far. With
// kernel stamps on what is received there are few: waiting for a core bends nothing that
// has come.
type bars struct {
	known    bool // reads are stamped, or how late they were is known
	send     Bar  // from the stamp of a request to its last byte in the kernel
	read     Bar  // of reads without a kernel stamp
	dispatch Bar  // from when a request was due, by the client's fault
	noticed  Bar  // from an answer's last byte to when the client looked
	first    Bar  // of first tokens, whose read held later ones
	clock    float64
	merged   float64 // p99 of gaps: events that the client read too late to tell apart
	clocks   float64 // between two of those that the requests were sent by
	closed   bool
	latency  float64 // mean
	span     float64 // that rates are over
	tokens   float64 // mean length of answers
}

// lateShare is the share of events read late from which on the 99th percentile of gaps moves:
// each makes one gap longer, and it takes few to reach the longest hundredth.
const lateShare = 0.001

// barsOf works out how far a stage can have been bent.
func barsOf(f *Facts, sum *metric.Stage, closed bool) *bars {
	of := func(id string) Bar {
		s, ok := sum.Whole.Stats[id]
		if !ok {
			return Bar{}
		}
		return Bar{s.Avg, quantile(&s, "p99")}
	}
	c := &sum.Counts
	b := &bars{
		known: true, send: of("write_time"), dispatch: of("dispatch_delay"), noticed: of("read_delay"), closed: closed,
		latency: of("request_latency").Avg, tokens: of("output_sequence_length").Avg,
		span: millis(sum.Whole.Totals.End - sum.Whole.Totals.Begin), clocks: millis(apart(f.Header.Workers)),
	}
	if c.Reads > 0 && c.Unstamped > 0 {
		_, b.known = sum.Whole.Stats["read_delay"]
		share := float64(c.Unstamped) / float64(c.Reads)
		b.read.Avg = share * b.noticed.Avg
		if share > unstampedShare {
			b.read.P99 = b.noticed.P99
		}
	}
	if f.Header.Kernel {
		for _, h := range f.Health {
			b.clock = max(b.clock, millis(h.ClockStep), -millis(h.ClockStep))
		}
	}
	if gap, ok := sum.Whole.Stats["inter_event_latency"]; ok && float64(c.Late) > lateShare*float64(c.Events) {
		b.merged = quantile(&gap, "p50")
	}
	if n := sum.Whole.Totals.OK; c.Blurred > 0 {
		b.first.Avg = millis(time.Duration(c.Blur)) / float64(n)
		if float64(c.Blurred) > unstampedShare*float64(n) {
			b.first.P99 = millis(time.Duration(c.Blur / c.Blurred))
		}
	}
	return b
}

// over are the bars of figures over another part of the stage.
func (b bars) over(w Window) *bars {
	b.span = (w.End - w.Begin) * 1000
	return &b
}

// add gives every metric that it can its error bar.
func (b *bars) add(all map[string]Stat) {
	if !b.known {
		return
	}
	for id, s := range all {
		if bar, ok := b.of(id, &s); ok && finite([]float64{bar.Avg, bar.P99}) {
			s.Error = &bar
			all[id] = s
		}
	}
}

// of is the error bar of a metric.
func (b *bars) of(id string, s *Stat) (Bar, bool) {
	sum := func(parts ...Bar) (Bar, bool) {
		all := Bar{Avg: b.clock, P99: b.clock}
		for _, p := range parts {
			all.Avg, all.P99 = all.Avg+p.Avg, all.P99+p.P99
		}
		return all, true
	}
	switch id {
	case "time_to_first_byte", "time_to_first_event", "time_to_first_token", "time_to_first_output_token", "request_latency":
		return sum(b.send, b.read, b.early(id))
	case "time_to_first_token_from_due", "request_latency_from_due":
		return sum(b.send, b.read, b.dispatch, b.early(id))
	case "time_to_second_token", "inter_token_latency", "inter_event_latency", "longest_gap":
		// Blurred gaps add up to the same.
		return sum(b.read, b.read, Bar{P99: b.merged}, b.early(id))
	case "time_per_output_token":
		bar, _ := sum(b.read, b.read)
		n := max(1, b.tokens-1)
		return Bar{bar.Avg / n, bar.P99 / n}, true
	case "request_throughput", "output_token_throughput", "total_token_throughput", "input_token_throughput":
		return Bar{Avg: s.Avg * min(1, b.slowed()+b.mixed())}, true
	}
	return Bar{}, false
}

// early is the part of a bar that first tokens have, and the gap behind them.
func (b *bars) early(id string) Bar {
	if strings.HasPrefix(id, "time_to_") {
		return b.first
	}
	return Bar{}
}

// slowed is by which share the client can have lowered the rates: in a closed loop, where
// the next request waits for it to notice an answer and to send, by that time in each
// round; in an open one by what the last request was late.
func (b *bars) slowed() float64 {
	switch {
	case b.closed && b.latency > 0:
		idle := b.noticed.Avg + b.dispatch.Avg
		return idle / (b.latency + idle)
	case !b.closed && b.span > 0:
		return min(1, (b.dispatch.P99+b.send.P99)/b.span)
	}
	return 0
}

// mixed is by which share the rates can be off because the time that they are over begins by one
// worker's clock and ends by another's.
func (b *bars) mixed() float64 {
	switch {
	case b.clocks == 0:
		return 0
	case b.span <= b.clocks:
		return 1
	}
	return b.clocks / (b.span - b.clocks)
}

// bent judges whether latencies can have been bent on their way out: a client that waits
// for a core between the stamp of a request and its write. What bends them on the way in,
// and the rates, have checks of their own.
func (j *judge) bent(i int, sum *metric.Stage) {
	send := barsOf(j.facts, sum, false).send
	for _, id := range []string{"time_to_first_token", "time_to_first_byte", "request_latency"} {
		s, ok := j.result.Stages[i].Metrics[id]
		if !ok || s.Spread == nil {
			continue
		}
		def, _ := metric.ByID(id)
		figure, value, bar := "avg", s.Avg, send.Avg
		if !slices.Contains(s.Thin, "p99") && send.P99*s.Avg > send.Avg*s.P99 { // the worse of the two
			figure, value, bar = "p99", s.P99, send.P99
		}
		budget := max(millis(time.Duration(j.plan.Budgets.Lag)), j.plan.Budgets.Error*value)
		j.check(Check{Stage: i, Name: "client_error", Value: bar, Budget: budget, Unit: metric.Milliseconds, OK: bar <= budget, Do: lateness},
			fmt.Sprintf("%s (%s %s) can be overstated by %s: the client wrote requests late after their timestamp (budget %s).", def.Name, figure, number.Millis(value), number.Millis(bar), number.Millis(budget)))
		return
	}
}
