package build

import (
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/result"
)

// mostOverflows is the share of requests that may be longer than the server's context.
const mostOverflows = 0.01

// submission says whether the run went by the rules of its scenario.
func (j *judge) submission(sums []metric.StageStats) {
	replay := &j.plan.Data.Replay
	if replay.Scenario == "" {
		return
	}
	s := &result.Submission{Scenario: replay.Scenario}
	ended := int64(0)
	for i := range sums {
		t := &sums[i].Whole.Totals
		s.Overflows, ended = s.Overflows+t.Overflowed, ended+t.Requests
	}
	var why []string
	add := func(reason, text string) {
		s.InvalidReasons, why = append(s.InvalidReasons, reason), append(why, text)
	}
	if len(replay.Overridden) > 0 {
		add("unsafe_override", number.Plural(int64(len(replay.Overridden)), "rule")+" broken")
	}
	if float64(s.Overflows) > mostOverflows*float64(ended) {
		add("context_overflow_rate_exceeded", "the server's context is too short for "+number.Plural(s.Overflows, "request")+" of "+number.Count(ended))
	}
	if j.facts.Interrupted || j.facts.Incomplete {
		add("run_cancelled", "it was ended early")
	}
	s.Valid = len(why) == 0
	j.result.Submission = s
	if s.Valid {
		j.addNote(wholeRun, "%s: submission_valid is true.", s.Scenario)
		return
	}
	j.addNote(wholeRun, "%s: submission_valid is false: %s (%s).", s.Scenario, strings.Join(s.InvalidReasons, ", "), strings.Join(why, "; "))
}
