package build

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/result"
)

// atLeast names the statistics of a metric that are lower bounds, because requests did not end.
func atLeast(s *metric.Stat) []string {
	if s.Beyond == 0 {
		return nil
	}
	names := []string{"avg", "max", "std"}
	for i, p := range metric.Percentiles() {
		if i < len(s.Bounds) && s.Bounds[i] {
			names = append(names, p.Name)
		}
	}
	return names
}

// unlikely is how likely chance may explain that requests which did not end were old.
const unlikely = 0.001

// unfinished judges whether requests hang: whether many of those that did not end were far older
// than any that did. A load that ends with requests in flight leaves young ones behind, and some
// that would soon have been the longest.
func (j *judge) unfinished(i int, sum *metric.StageStats) {
	u, of := &sum.Unfinished, sum.Whole.Totals.Requests
	if u.Cut == 0 {
		return
	}
	budget := j.plan.Budgets.Unfinished
	share := float64(u.Old) / float64(of)
	// Of requests that are all alike, those that did not end are the oldest that often.
	chance := math.Pow(float64(u.Cut)/float64(u.Cut+u.Ended), float64(u.Old))
	hang := chance < unlikely || float64(u.Ancient) > budget*float64(of)
	j.check(result.Check{Stage: i, Name: "unfinished", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget || !hang,
		Fix: j.words(message.New("Find out why they hang, or let them end: make the stage or %v longer.", message.Drain).Or("Find out why they hang, or measure for longer."))},
		fmt.Sprintf("%s of %s (%s, budget %s) did not end and were up to %s old, while the longest that ended took %s: their latencies are known only to be at least their age.",
			number.Count(u.Old), number.Plural(of, "request"), number.Percent(share), number.Percent(budget), number.Span(u.Oldest), number.Span(u.Longest)))
}
