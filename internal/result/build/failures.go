package build

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// namedClasses is how many kinds of failure a reason names.
const namedClasses = 3

// failures judges how many requests failed, and how many recorded sessions: what is
// measured is what succeeded, and a server that fails is often quick at it.
func (j *judge) failures(i int, sum *metric.StageStats) {
	of, failed := sum.Whole.Totals.Requests, int64(0)
	var kinds []record.FailureCount
	for _, f := range sum.Failures {
		if result.EndedHere(f.Class) {
			of -= f.Count
			continue
		}
		failed += f.Count
		kinds = append(kinds, f)
	}
	budget := j.plan.Budgets.Failures
	if of > 0 {
		share := float64(failed) / float64(of)
		j.check(result.Check{Stage: i, Name: result.FailuresCheck, Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
			Fix: "Find out why they failed, or lower the load."},
			fmt.Sprintf("%s of %s failed (%s, budget %s): %s. The figures are those of the rest.",
				number.Count(failed), number.Plural(of, "request"), number.Percent(share), number.Percent(budget), kindsOf(kinds)))
	}
	if t := j.facts.Sessions[i]; t.Ended > 0 {
		share := float64(t.Failed) / float64(t.Ended)
		j.check(result.Check{Stage: i, Name: "failed_sessions", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
			Fix: "Find out why they failed, or lower the load."},
			fmt.Sprintf("%s of %s failed (%s, budget %s), the first because of %s: their later requests were never sent.",
				number.Count(t.Failed), number.Plural(t.Ended, "session"), number.Percent(share), number.Percent(budget), t.Example))
	}
}

// kindsOf lists kinds of failure, the most frequent first.
func kindsOf(kinds []record.FailureCount) string {
	var list []string
	for k := range kinds {
		if k == namedClasses {
			list = append(list, fmt.Sprintf("%d other kinds", len(kinds)-k))
			break
		}
		list = append(list, fmt.Sprintf("%d × %s", kinds[k].Count, failure(&kinds[k])))
	}
	return strings.Join(list, ", ")
}

// SessionTally counts how recorded sessions of a stage were played.
type SessionTally struct {
	Ended  int64 // those of a stage's own end aside
	Failed int64
	// Example is why the first one failed.
	Example string
}

// AddSession takes note of a session that was played.
func (f *Inputs) AddSession(m *record.SessionSummary) {
	class, _, _ := strings.Cut(m.Message, ":")
	if m.Cause == record.SessionHalted || m.Cause == record.RequestFailed && result.EndedHere(record.Class(class)) {
		return
	}
	if f.Sessions == nil {
		f.Sessions = map[int]SessionTally{}
	}
	t := f.Sessions[m.Stage]
	t.Ended++
	if m.Cause != "" {
		if t.Failed++; t.Failed == 1 {
			t.Example = string(m.Cause)
			if m.Message != "" {
				t.Example += " (" + m.Message + ")"
			}
		}
	}
	f.Sessions[m.Stage] = t
}
