package build

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// pace judges whether requests went at the rate asked for, whatever ended the stage. One
// that ends with its last request sends all that fell due, however long that takes.
func (j *judge) pace(i int, mark *record.StageSummary, sum *metric.StageStats) {
	s, p := &j.plan.Stages[i], &sum.Pace
	if s.Concurrency > 0 || s.Arrival == plan.ArrivalSessions || p.N < 2 {
		return
	}
	if mark != nil && float64(sum.Seen) < j.plan.Budgets.Achieved*float64(mark.Scheduled) {
		return // that says it
	}
	due, sent := p.Spread()
	if due <= 0 {
		return
	}
	share := min(1, float64(due)/float64(sent))
	budget := j.plan.Budgets.Achieved
	// A rate is known to one request in all, and a client's clock to its lag.
	slack := max(2*due/time.Duration(p.N), time.Duration(j.plan.Budgets.Lag))
	c := result.Check{Stage: i, Name: "achieved_rate", Value: share, Budget: budget, Unit: metric.Share, OK: share >= budget || sent-due <= slack, Fix: j.tooFast(i)}
	pace := number.Percent(share) + " of the pace asked for"
	if rate := s.PerSecond(); rate > 0 && s.RampTo == 0 && s.Arrival != plan.ArrivalTrace {
		pace = fmt.Sprintf("%.3g/s instead of the requested %s/s", rate*share, strconv.FormatFloat(rate, 'f', -1, 64))
	}
	j.check(c, fmt.Sprintf("Requests were sent at %s (budget %s).", pace, number.Percent(budget)))
}

// inFlight judges whether a closed loop had as many requests in flight as were asked for. A client
// that stood still, or had no prompts ready, is late for nothing by its own account.
func (j *judge) inFlight(i int, mark *record.StageSummary, sum *metric.StageStats) {
	s := &j.plan.Stages[i]
	if s.Concurrency == 0 || s.RampTo > 0 || s.Growth.On() || sum.Steady == nil || sum.Pace.Turns > 0 {
		return // it asks for no fixed number, or slots wait while users think
	}
	t := &sum.Steady.Totals
	if t.Requests < int64(s.Concurrency) {
		return // hardly a slot was used twice
	}
	asked := float64(t.End-t.Begin) * float64(s.Concurrency)
	if mark != nil {
		asked -= float64(mark.HeededFor) // the server asked for that
	}
	if asked <= 0 {
		return
	}
	share := float64(sum.Busy) / asked
	// The mean time that a slot was free between two requests.
	free := (asked - float64(sum.Busy)) / float64(t.Requests)
	budget := j.plan.Budgets.InFlight
	j.check(result.Check{Stage: i, Name: "in_flight", Value: min(1, share), Budget: budget, Unit: metric.Share,
		OK:  share >= budget || free <= float64(j.plan.Budgets.Lag),
		Fix: "Give the client more cores, keep other work off the machine, and do not stop it."},
		fmt.Sprintf("The client held %v of the requested %d requests in flight (%s, budget %s): a free slot was used %s later on average.",
			math.Round(share*float64(s.Concurrency)*10)/10, s.Concurrency, number.Percent(share), number.Percent(budget),
			number.Millis(free/float64(time.Millisecond))))
}

// standstill judges the pauses in which a client did not run at all.
func (j *judge) standstill(i int, c *client, mark *record.StageSummary) {
	a, b, ok := around(c.health, mark)
	if !ok {
		return
	}
	var longest time.Duration
	for _, h := range c.health {
		if h.Standstill == record.Never {
			j.addNote(i, "Whether the client stalled was not recorded.")
			return
		}
		if h.At > a.At && h.At <= b.At {
			longest = max(longest, h.Pause)
		}
	}
	still := b.Standstill - a.Standstill
	share, budget := float64(still)/float64(b.At-a.At), j.plan.Budgets.Standstill
	const do = "Do not stop the client or suspend its machine, and keep other work off its cores."
	j.check(result.Check{Stage: i, Name: "client_stalled", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget, Fix: do},
		fmt.Sprintf("%s was stalled for %s, %s of the time (budget %s): it sent and read nothing.", c.name(true), number.Span(still), number.Percent(share), number.Percent(budget)))
	most := time.Duration(j.plan.Budgets.Pause)
	j.check(result.Check{Stage: i, Name: "client_longest_stall", Value: result.Millis(longest), Budget: result.Millis(most), Unit: metric.Milliseconds, OK: longest <= most, Fix: do},
		fmt.Sprintf("%s was stalled for %s at a time (budget %s).", c.name(true), number.Span(longest), number.Span(most)))
}

// around gives the samples around the time in which a stage was sending.
func around(health []record.Health, mark *record.StageSummary) (a, b record.Health, ok bool) {
	if len(health) < 2 {
		return a, b, false
	}
	a, b = health[0], health[len(health)-1]
	if mark == nil {
		return a, b, b.At > a.At
	}
	for _, h := range health {
		if h.At <= mark.Begin {
			a = h
		}
	}
	for k := len(health) - 1; k >= 0 && health[k].At >= mark.SendEnd; k-- {
		b = health[k]
	}
	return a, b, b.At > a.At
}

// The load's own gaps, by which lag is judged besides the budgets: nobody can tell a load
// whose requests are late by less than a part of the time between two of them from one
// that is on time.
const (
	mostGap  = 50 * time.Millisecond // longer gaps count as this
	gapsP90  = 0.5                   // mean gaps, for nine of ten requests
	gapsP99  = 2.0                   // mean gaps, for 99 of 100
	fewP99   = 200                   // requests below which a 99th percentile is one or two of them
	lateness = "Give the client more cores, keep other work off the machine, or lower the load."
)

// lag judges how late this client was with its requests.
func (j *judge) lag(i int, sum *metric.StageStats) {
	delay, ok := sum.Whole.Stats["dispatch_delay"]
	if !ok {
		return
	}
	var median float64
	for _, id := range []string{"time_to_first_token", "time_to_first_byte"} {
		if s, ok := sum.Whole.Stats[id]; ok {
			median = quantile(&s, "p50")
			break
		}
	}
	nine, all := lagBudgets(j.plan, median, result.Millis(meanGap(&sum.Whole.Totals)))
	p90, most := quantile(&delay, "p90"), nine
	j.check(result.Check{Stage: i, Name: "dispatch_delay_p90", Value: p90, Budget: most, Unit: metric.Milliseconds, OK: p90 <= most, Fix: lateness}, late(p90, "p90", most))
	p99, most := quantile(&delay, "p99"), all
	// One hiccup of the machine is no uneven load: among few requests, one in twenty may be late.
	once := delay.N < fewP99 && p99 > most && quantile(&delay, "p95") <= most
	if once {
		j.addNote(i, "A few of the %d requests were sent late, by up to %s: the client was slow for a short time.", delay.N, number.Millis(delay.Max))
	}
	j.check(result.Check{Stage: i, Name: "dispatch_delay_p99", Value: p99, Budget: most, Unit: metric.Milliseconds, OK: p99 <= most || once, Fix: lateness}, late(p99, "p99", most))
}

// LagBudgets are how late nine of ten requests may be sent, and 99 of 100, where half of the responses
// take no longer than a median and requests have a mean gap.
func LagBudgets(p *plan.Plan, median, gap time.Duration) (p90, p99 time.Duration) {
	a, b := lagBudgets(p, result.Millis(median), result.Millis(min(gap, mostGap)))
	return time.Duration(a * float64(time.Millisecond)), time.Duration(b * float64(time.Millisecond))
}

// lagBudgets are the same in milliseconds.
func lagBudgets(p *plan.Plan, median, gap float64) (p90, p99 float64) {
	budget := max(result.Millis(time.Duration(p.Budgets.Lag)), p.Budgets.LagShare*median)
	return max(budget, gapsP90*gap), max(budget, gapsP99*gap)
}

// meanGap is the mean time between two requests, as far as it counts.
func meanGap(t *metric.Totals) time.Duration {
	return min(mostGap, (t.End-t.Begin)/time.Duration(max(1, t.Requests)))
}

// ofDispatch are the checks of how late requests went out.
func ofDispatch() []string { return []string{"dispatch_delay_p90", "dispatch_delay_p99"} }

func late(value float64, at string, budget float64) string {
	return fmt.Sprintf("The client delayed requests: %s at %s (budget %s).", number.Millis(value), at, number.Millis(budget))
}
