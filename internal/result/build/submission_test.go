package build

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Users who left have no latencies in the steady window, and the result says so.
func TestUsersLeft(t *testing.T) {
	for _, left := range []int{0, 7} {
		w := healthy()
		w.each(func(i int, r *record.Record) {
			if left > 0 && i%left == 0 {
				r.Failure = &record.Failure{Class: record.UserCancelled, At: r.End}
			}
		})
		r := w.build(t)
		if r.Stages[0].Steady == nil {
			t.Fatal("there is no steady window")
		}
		if got := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "favours short responses") }); got != (left > 0) {
			t.Errorf("every %d: notes %q", left, r.Notes)
		}
	}
}

// A run by the rules of a scenario says whether it can be submitted, and why not.
func TestSubmission(t *testing.T) {
	const tooLong = "This model's maximum context length is 100 tokens."
	overflow := func(n int, message string) func(*world) {
		return func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i >= len(w.recs)-n {
					r.Failure = &record.Failure{Class: record.HTTPStatus, Status: 400, Message: message, At: r.End}
				}
			})
		}
	}
	for _, tt := range []struct {
		name string
		bend func(*world)
		want []string
		says string
	}{
		{"by the rules", func(*world) {}, nil, "submission_valid is true"},
		{"a few are too long", overflow(5, tooLong), nil, "is true"},
		{"more than a few are too long", overflow(100, tooLong), []string{"context_overflow_rate_exceeded"}, "the server's context is too short for "},
		{"other failures", overflow(200, "out of memory"), nil, "is true"},
		{"rules are broken", func(w *world) { w.plan.Data.Replay.Overridden = []string{"duration is less than 15m"} }, []string{"unsafe_override"}, "unsafe_override (1 rule broken)"},
		{"interrupted", func(w *world) { w.facts.Interrupted = true }, []string{"run_cancelled"}, "ended early"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			w.plan.Data.Replay.Scenario = plan.ScenarioAgentX
			tt.bend(w)
			r := w.build(t)
			s := r.Submission
			if s == nil || s.Scenario != plan.ScenarioAgentX || s.Valid != (tt.want == nil) || !slices.Equal(s.InvalidReasons, tt.want) {
				t.Fatalf("%+v, want %v", s, tt.want)
			}
			if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "submission_valid") && strings.Contains(n, tt.says) }) {
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
	if r := healthy().build(t); r.Submission != nil {
		t.Errorf("without a scenario: %+v", r.Submission)
	}
}
