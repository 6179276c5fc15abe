package build

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// broken are the checks that a verdict has over their budgets.
func broken(v *result.Verdict) []string {
	var names []string
	for _, c := range v.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestFailures: requests that failed are a reason not to trust the rest, unless it was this
// side that ended them.
func TestFailures(t *testing.T) {
	with := func(class record.Class, status int) *record.Failure {
		return &record.Failure{Class: class, Status: status, Message: "as " + string(class)}
	}
	for _, tt := range []struct {
		name string
		bend func(*world)
		want []string // checks over their budgets
		says []string
	}{
		{"a quarter", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i%4 == 0 {
					fail(r)
				}
			})
		}, []string{"failures"}, []string{"500 of 2,000 requests failed (25 %, budget 1 %)", "500 × HTTP 503 (overloaded)", "Find out why"}},
		{"five kinds", func(w *world) {
			classes := []record.Class{record.Reset, record.Truncated, record.StreamError, record.BadBody, record.TimedOut}
			w.each(func(i int, r *record.Record) {
				if i%100 < len(classes)+1 {
					r.Failure = with(classes[i%100%len(classes)], 0)
				}
			})
		}, []string{"failures"}, []string{"120 of 2,000", "40 × reset (as reset)", "2 other kinds"}},
		{"as many as the budget", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i%100 == 0 {
					fail(r)
				}
			})
		}, nil, nil},
		{"a plan that allows for them", func(w *world) {
			w.plan.Budgets.Failures = 0.5
			w.each(func(i int, r *record.Record) {
				if i%4 == 0 {
					fail(r)
				}
			})
		}, nil, nil},
		{"in the warm-up", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if r.Phase == record.Warmup {
					fail(r)
				}
			})
		}, nil, nil},
		{"ended here", func(w *world) {
			w.each(func(i int, r *record.Record) {
				switch i % 40 {
				case 0:
					r.Failure = with(record.CutOff, 200)
				case 1:
					r.Failure = with(record.Cancelled, 0)
				}
			})
		}, nil, nil},
		{"sessions", func(w *world) {
			for i := range 40 {
				m := &record.SessionSummary{Session: "s", Calls: 50, Unsent: 49}
				switch i % 4 {
				case 0:
					m.Cause, m.Message = record.RequestFailed, "http_status: overloaded"
				case 1:
					m.Cause = record.SessionHalted
				case 2:
					m.Cause, m.Message = record.RequestFailed, "cut_off: still under way"
				}
				w.facts.AddSession(m)
			}
		}, []string{"failed_sessions"}, []string{"10 of 20 sessions failed (50 %, budget 1 %)", "request_failed (http_status: overloaded)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			tt.bend(w)
			r := w.build(t)
			if got := broken(&r.Verdict); !slices.Equal(got, tt.want) {
				t.Fatalf("over budget: %v, want %v: %v", got, tt.want, r.Verdict.Reasons)
			}
			said := strings.Join(r.Verdict.Reasons, "\n")
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
			if got, want := r.Failing(), slices.Contains(tt.want, "failures"); got != want {
				t.Errorf("Failing is %v, want %v", got, want)
			}
			published.Fits(t, r)
		})
	}
}

// TestFailing: a stage without a response fails where the server was to blame, not where
// it was stopped.
func TestFailing(t *testing.T) {
	w := healthy()
	w.each(func(i int, r *record.Record) { fail(r) })
	if !w.build(t).Failing() {
		t.Error("all requests failed, and the run does not")
	}
	w = healthy()
	w.each(func(i int, r *record.Record) { r.Failure = &record.Failure{Class: record.Cancelled} })
	if w.build(t).Failing() {
		t.Error("a run that was stopped is called a failing one")
	}
}
