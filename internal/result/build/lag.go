package build

import (
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

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
		j.addNote(i, "A few of the %d requests went out late, by up to %s: the client was slow for a moment.", delay.N, number.Millis(delay.Max))
	}
	j.check(result.Check{Stage: i, Name: "dispatch_delay_p99", Value: p99, Budget: most, Unit: metric.Milliseconds, OK: p99 <= most || once, Fix: lateness}, late(p99, "p99", most))
}

// LagBudgets are how late nine of ten requests may be sent, and 99 of 100, where half of the answers
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
