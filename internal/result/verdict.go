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

// StageVerdict says whether a stage's figures can be trusted. A check of the run counts for all
// stages.
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

// Calibration is how far the figures were off on the built-in mock, at the load of the run
// and ahead of it, and what load the run then had.
type Calibration struct {
	record.Calibration
	Run AchievedLoad `json:"run"`
}

// AchievedLoad is the load that was reached.
type AchievedLoad struct {
	Rate     float64 `json:"requests_per_second"`
	InFlight float64 `json:"in_flight"`
	Events   float64 `json:"events_per_second"`
}

// HeldBy is the load that a stage reached. Responses have one token event more than gaps.
func HeldBy(s *Stage) AchievedLoad {
	h := AchievedLoad{Rate: s.Metrics["request_throughput"].Avg, InFlight: s.Metrics["concurrency"].Avg}
	if span := s.Window.End - s.Window.Begin; span > 0 {
		h.Events = float64(s.Metrics["inter_event_latency"].Count+s.Counts.OK) / span
	}
	return h
}
