package build

import (
	"fmt"
	"math"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// namedClasses is how many kinds of failure a reason names.
const namedClasses = 3

// usersLeft says what users who went away do to the steady window. Over the whole stage their latencies are censored.
func (j *judge) usersLeft(i int, sum *metric.StageStats) {
	if s := sum.Steady; s != nil && s.Totals.UserCancelled > 0 {
		j.addNote(i, "Of the requests whose users left, the steady window has no latencies, which favours short responses. "+
			"The figures of the whole stage have them as at least as long as the users waited.")
	}
}

// failures judges how many requests failed, and how many recorded sessions: what is
// measured is what succeeded, and a server that fails is often quick at it.
func (j *judge) failures(i int, sum *metric.StageStats) {
	of, failed := sum.Whole.Totals.Stayed(), int64(0)
	var kinds []record.FailureCount
	for _, f := range sum.Failures {
		if f.Class.EndedHere() {
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
	if m.Cause == record.SessionHalted || m.Cause == record.RequestFailed && record.Class(class).EndedHere() {
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

// A note names so many unknown finish reasons, each with so many characters.
const (
	namedFinishes = 3
	longestFinish = 40
)

// finishes names unknown finish reasons: their responses count as successes.
func (j *judge) finishes(i int, sum *metric.StageStats) {
	f := sum.Finishes
	list := f.List()
	var names []string
	for k, finish := range list {
		if k == namedFinishes {
			names = append(names, fmt.Sprintf("%d others", len(list)-k))
			break
		}
		names = append(names, fmt.Sprintf("%q in %s", truncate.Fit(finish, longestFinish), number.Plural(f[finish], "response")))
	}
	if len(names) > 0 {
		j.addNote(i, "Unknown finish reason: %s. They count as complete.", strings.Join(names, ", "))
	}
}

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
