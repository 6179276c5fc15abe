package build

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// cut makes a request one that was cut off at a moment, with nothing received.
func cut(r *record.Record, at time.Duration) {
	r.Marks, r.Events, r.Out = nil, nil, record.Tokens{Local: -1}
	r.End = at
	r.Failure = &record.Failure{Class: record.CutOff, Message: "drain timeout exceeded", At: at}
}

// TestUnfinished: requests that hang until they are cut off make a run invalid, and its figures say
// that they are lower bounds; those that are merely in flight when it ends do not.
func TestUnfinished(t *testing.T) {
	const end = 41 * time.Second
	hang := func(every int) func(*world) {
		return func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i%every == 0 {
					cut(r, end)
				}
			})
		}
	}
	for _, tt := range []struct {
		name    string
		bend    func(*world)
		over    []string
		atLeast []string // of time to first token
		says    []string
	}{
		{"none", func(*world) {}, nil, nil, nil},
		{"one in twelve hangs", hang(12), []string{"unfinished"}, []string{"avg", "max", "std", "p95", "p99", "p99.9"},
			[]string{"167 of 2,000 requests (8.3 %, budget 1 %) did not end", "up to 40.0 s old", "took 252 ms", "make the stage or its drain longer"}},
		{"stopped by the user", func(w *world) {
			hang(12)(w)
			w.each(func(i int, r *record.Record) {
				if r.Failure != nil {
					r.Failure.Class = record.Cancelled
				}
			})
		}, []string{"unfinished"}, []string{"avg", "max", "std", "p95", "p99", "p99.9"}, nil},
		{"fewer than the budget", hang(200), nil, []string{"avg", "max", "std", "p99.9"}, nil},
		{"a plan that allows for them", func(w *world) {
			w.plan.Budgets.Unfinished = 0.1
			hang(12)(w)
		}, nil, []string{"avg", "max", "std", "p95", "p99", "p99.9"}, nil},
		{"in flight when it ended", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if r.End > 11*time.Second {
					marks, events := r.Marks, r.Events
					cut(r, 11*time.Second)
					for k := range marks {
						if marks[k].Kernel <= r.End {
							r.Marks, r.Events = append(r.Marks, marks[k]), append(r.Events, events[k])
						}
					}
				}
			})
		}, nil, nil, nil},
		{"a little longer than the others", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i > 2100 {
					cut(r, r.Sent+300*ms)
				}
			})
		}, nil, []string{"avg", "max", "std", "p99", "p99.9"}, nil},
		{"much longer than the others", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i > 2100 {
					cut(r, r.Sent+400*ms)
				}
			})
		}, []string{"unfinished"}, []string{"avg", "max", "std", "p99", "p99.9"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			tt.bend(w)
			r := w.build(t)
			published.Fits(t, r)
			got := slices.DeleteFunc(broken(&r.Verdict), func(name string) bool { return strings.HasSuffix(name, "_drift") }) // they see it too
			if !slices.Equal(got, tt.over) {
				t.Errorf("over budget: %v, want %v: %v", got, tt.over, r.Verdict.Reasons)
			}
			ttft := r.Stages[0].Metrics["time_to_first_token"]
			if !slices.Equal(ttft.AtLeast, tt.atLeast) || ttft.Open("avg") != (tt.atLeast != nil) {
				t.Errorf("lower bounds: %v, want %v", ttft.AtLeast, tt.atLeast)
			}
			if steady := r.Stages[0].Steady.Metrics["time_to_first_token"]; steady.AtLeast != nil || steady.Censored != 0 {
				t.Errorf("the steady window has %+v", steady)
			}
			for _, want := range tt.says {
				if said := strings.Join(r.Verdict.Reasons, "\n"); !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
		})
	}
}

// TestFewUnfinished: of few requests the oldest may be one that was in flight at the end, by chance;
// one that is far older is not.
func TestFewUnfinished(t *testing.T) {
	for _, tt := range []struct {
		name string
		old  int
		age  time.Duration
		over bool
	}{
		{"one of five", 1, 400 * ms, false},
		{"two of five", 2, 400 * ms, false},
		{"all of five", 5, 400 * ms, true},
		{"one that is far older", 1, 30 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			w.recs = w.recs[200:225]
			for i, r := range w.recs[20:] {
				age := 20 * ms
				if i < tt.old {
					age = tt.age
				}
				cut(r, r.Sent+age)
			}
			r := w.build(t)
			if got := slices.Contains(broken(&r.Verdict), "unfinished"); got != tt.over {
				t.Errorf("over budget: %v, want %v: %v", got, tt.over, r.Verdict.Checks)
			}
		})
	}
}
