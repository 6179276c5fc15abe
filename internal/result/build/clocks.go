package build

import (
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// apart is by how much the clocks of two workers can have differed, each of which was off by so much at
// most; 0: one process sent all requests.
func apart(list []record.WorkerInfo) (most time.Duration) {
	if len(list) < 2 {
		return 0
	}
	for i := range list {
		most = max(most, 2*list[i].ClockBound)
	}
	return most
}

// together judges whether several workers sent one load: each its share from the agreed moment on, by
// clocks that agree.
func (j *judge) together(i int, mark *record.StageSummary, sum *metric.StageStats) {
	if len(j.facts.Header.Workers) < 2 {
		return
	}
	t := &sum.Whole.Totals
	if mark != nil {
		late := mark.StartDelay
		most := max(time.Duration(j.plan.Budgets.StartSkew), meanGap(t)/2)
		j.check(result.Check{Stage: i, Name: "start_skew", Value: result.Millis(late), Budget: result.Millis(most), Unit: metric.Milliseconds, OK: late <= most,
			Fix: "Give the workers more cores, keep other work off their machines, or bring them nearer to NATS, and run again."},
			fmt.Sprintf("The last worker began %s after the agreed moment (budget %s): until then only a part of the load was there, and what was due by then went at once.", number.Span(late), number.Span(most)))
	}
	differ := apart(j.facts.Header.Workers)
	most := min(time.Duration(j.plan.Budgets.ClockBound), time.Duration(j.plan.Budgets.Error*float64(t.End-t.Begin)))
	j.check(result.Check{Stage: i, Name: "clock_bound", Value: result.Millis(differ), Budget: result.Millis(most), Unit: metric.Milliseconds, OK: differ <= most,
		Fix: "Bring the workers and the coordinator nearer to NATS, or keep other work off their machines, and run again."},
		fmt.Sprintf("The clocks of two workers can have differed by %s (budget %s): requests of one can have gone so much earlier or later than those of another, and rates span both.", number.Span(differ), number.Span(most)))
}
