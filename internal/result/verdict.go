package result

import (
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

// FailuresCheck names the check of how many requests failed.
const FailuresCheck = "failures"

// Failing reports whether requests of a stage failed beyond the plan's budget, or all of
// them.
func (r *Result) Failing() bool {
	over := slices.ContainsFunc(r.Verdict.Checks, func(c Check) bool {
		return c.Name == FailuresCheck && !c.OK && !c.Undecided
	})
	return over || slices.ContainsFunc(r.Stages, func(s Stage) bool {
		return s.Counts.OK == 0 && slices.ContainsFunc(s.Failures, func(f record.FailureCount) bool { return !f.Class.EndedHere() })
	})
}

// StageVerdict says whether the figures of one stage can be trusted. A check of the whole run
// counts for every stage.
type StageVerdict struct {
	Status    string   `json:"status"`
	Valid     bool     `json:"valid"`               // Status is Valid
	Reasons   []string `json:"reasons"`             // as those of the run
	Undecided []string `json:"undecided,omitempty"` // as those of the run
}

// Doubt adds to the verdict, and to that of every stage, why it cannot be given.
func (r *Result) Doubt(why string) {
	doubt := func(word *string, valid *bool, undecided *[]string) {
		*undecided = append([]string{why}, *undecided...)
		if *valid {
			*word, *valid = Inconclusive, false
		}
	}
	doubt(&r.Verdict.Status, &r.Verdict.Valid, &r.Verdict.Undecided)
	r.Verdict.Summary = ""
	for i := range r.Stages {
		if v := r.Stages[i].Verdict; v != nil {
			doubt(&v.Status, &v.Valid, &v.Undecided)
		}
	}
}

// Differs reports whether some stages can be trusted and others cannot. Each then has a verdict of
// its own, and the run's has a summary.
func (r *Result) Differs() bool {
	return r.Verdict.Summary != "" && !slices.ContainsFunc(r.Stages, func(s Stage) bool { return s.Verdict == nil })
}
