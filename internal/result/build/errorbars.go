package build

import (
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/result"
)

// errorBars are what widens the error bars of a window's figures beyond the ends of their samples.
type errorBars struct {
	clock   float64 // step of the clock that kernel stamps are by
	clocks  float64 // between two of those that the requests were sent by
	closed  bool
	latency float64 // mean
	idle    float64 // mean time that a slot is free by the client's fault, from an end to the next request
	late    float64 // by how much the last request can have been late
	span    float64 // that rates are over
}

// barsOf works out how far the figures of a window can be off.
func barsOf(f *Inputs, w *metric.Stats, closed bool) *errorBars {
	avg := func(id string) float64 { return w.Stats[id].Avg }
	p99 := func(id string) float64 {
		s := w.Stats[id]
		if s.Quantiles == nil {
			return 0
		}
		return quantile(&s, "p99")
	}
	t := &w.Totals
	b := &errorBars{
		closed: closed, latency: avg("request_latency"), clocks: result.Millis(apart(f.Header.Workers)), span: result.Millis(t.End - t.Begin),
		idle: avg("dispatch_delay") + result.Millis(t.Noticed)/float64(max(t.OK, 1)), late: p99("dispatch_delay") + p99("write_time"),
	}
	b.clock = result.Millis(f.clockStep())
	return b
}

// clockStep is the largest step of the clock that the kernel's stamps are by.
func (f *Inputs) clockStep() (step time.Duration) {
	for _, h := range f.Health {
		if f.Header.Kernel {
			step = max(step, h.ClockStep, -h.ClockStep)
		}
	}
	return step
}

// add gives every metric that it can its error bars.
func (b *errorBars) add(all map[string]result.Stat, w *metric.Stats) {
	for id, s := range all {
		if s.Error = b.metric(id, w); s.Error != nil {
			all[id] = s
		}
	}
}

func (b *errorBars) metric(id string, w *metric.Stats) map[string]result.ErrorBar {
	s := w.Stats[id]
	switch id {
	case "request_throughput", "output_token_throughput", "total_token_throughput", "input_token_throughput":
		less, more := b.slowed()
		return kept(map[string]result.ErrorBar{"avg": {Lo: s.Avg * max(0, 1-less-b.mixed()), Hi: s.Avg * (1 + more + b.mixed())}})
	case "request_goodput", "slo_attainment":
		return kept(b.good(id, &w.Totals))
	}
	if s.Least == nil {
		return nil
	}
	step := b.clock
	if s.Def.Unit != metric.Milliseconds {
		step = 0
	}
	bar := func(least, most float64) result.ErrorBar {
		return result.ErrorBar{Lo: max(0, least-step), Hi: most + step}
	}
	out := map[string]result.ErrorBar{
		"avg": bar(s.Least.Avg, s.Most.Avg), "min": bar(s.Least.Min, s.Most.Min), "max": bar(s.Least.Max, s.Most.Max),
	}
	for i, p := range metric.Percentiles() {
		out[p.Name] = bar(s.Least.Quantiles[i], s.Most.Quantiles[i])
	}
	return kept(out)
}

// good is the bar of how many requests met their objectives: of those that are on the bound within
// their own bars nobody knows. A rate has that of rates besides.
func (b *errorBars) good(id string, t *metric.Totals) map[string]result.ErrorBar {
	least, most := float64(t.GoodLeast), float64(t.GoodMost)
	if id == "slo_attainment" {
		n := float64(max(t.Requests, 1))
		return map[string]result.ErrorBar{"avg": {Lo: least / n, Hi: most / n}}
	}
	less, more := b.slowed()
	seconds := b.span / 1000
	return map[string]result.ErrorBar{"avg": {Lo: least / seconds * max(0, 1-less-b.mixed()), Hi: most / seconds * (1 + more + b.mixed())}}
}

func kept(all map[string]result.ErrorBar) map[string]result.ErrorBar {
	for name, b := range all {
		if !finite([]float64{b.Lo, b.Hi}) {
			delete(all, name)
		}
	}
	return all
}

// slowed is by which shares the rates can be too high and too low. In a closed loop, where the
// next request waits for the client to notice a response and to send, they are lower by that time in
// each round; in an open one by what the last request was late.
func (b *errorBars) slowed() (less, more float64) {
	switch {
	case b.closed && b.latency > 0:
		return 0, b.idle / b.latency
	case !b.closed && b.span > 0:
		share := min(1, b.late/b.span)
		return share, share
	}
	return 0, 0
}

// mixed is by which share the rates can be off because the time that they are over begins by one
// worker's clock and ends by another's.
func (b *errorBars) mixed() float64 {
	switch {
	case b.clocks == 0:
		return 0
	case b.span <= b.clocks:
		return 1
	}
	return b.clocks / (b.span - b.clocks)
}

// resolution is how well times are told apart, in milliseconds, where nothing is wrong: an idle client
// looks at its connections about once a millisecond.
const resolution = 1.5

// judgedFigures are the figures whose error bars the verdict is about.
func judgedFigures() (metrics, figures []string) {
	return []string{
		"time_to_first_token", "time_to_first_output_token", "inter_token_latency", "inter_event_latency", "time_per_output_token", "request_latency",
	}, []string{"avg", "p50", "p90", "p95", "p99"}
}

// clientError is the name of the check of error bars.
const clientError = "client_error"

// bent judges how wide the error bars are: whatever the client did, the truth lies within them.
func (j *judge) bent(i int, sum *metric.StageStats) {
	if c := &sum.Counts; float64(c.Unbounded) > unstampedShare*float64(c.Reads) {
		j.undecided(result.Check{Stage: i, Name: clientError, Budget: j.plan.Budgets.Error, Unit: metric.Share, Fix: "Measure from Linux, where the kernel timestamps packets."},
			"Packets were not timestamped on arrival: latencies include the client's own delay, which cannot be separated.")
		return
	}
	metrics, figures := judgedFigures()
	worst, share := result.Check{Stage: i, Name: clientError, Unit: metric.Milliseconds}, -1.0
	var said string
	for _, id := range metrics {
		s, ok := j.result.Stages[i].Metrics[id]
		if !ok || s.Distribution == nil {
			continue
		}
		for _, name := range figures {
			bar, known := s.Error[name]
			if !known || slices.Contains(s.LowSamples, name) {
				continue
			}
			value, off := s.Figure(name), max(0, s.Off(name)-result.Millis(j.facts.clockStep())) // that has a check of its own
			budget := max(resolution, result.Millis(time.Duration(j.plan.Budgets.Lag)), j.plan.Budgets.Error*value)
			if off/budget <= share {
				continue
			}
			share, worst.Value, worst.Budget, worst.OK = off/budget, off, budget, off <= budget
			def, _ := metric.ByID(id)
			said = fmt.Sprintf("%s %s is only known to lie between %s and %s (budget ±%s): %s.",
				def.Name, name, number.Millis(bar.Lo), number.Millis(bar.Hi), number.Millis(budget), j.blurredBy(sum, id, off))
		}
	}
	if share >= 0 {
		worst.Fix = lateness
		j.check(worst, said)
	}
}

// blurredBy says what the client did that widens the error bar of a metric by so much.
func (j *judge) blurredBy(sum *metric.StageStats, id string, off float64) string {
	c := &sum.Counts
	write := sum.Whole.Stats["write_time"]
	switch {
	case id != "inter_token_latency" && id != "inter_event_latency" && id != "time_per_output_token" && write.Max > off && c.Merged == 0:
		return "the client wrote requests late after their timestamp"
	case c.Unstamped > c.Reads/2:
		return "the kernel does not timestamp what it receives here, and the client read late"
	}
	return fmt.Sprintf("the client read late, and %s of its %s held what had come at several moments",
		number.Percent(float64(c.Merged)/float64(max(c.Reads, 1))), number.Plural(c.Reads, "read"))
}
