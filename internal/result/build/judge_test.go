package build

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// TestVerdictWord: a check that could not be made keeps a result from being valid, and one
// over its budget weighs more.
func TestVerdictWord(t *testing.T) {
	kept := func(j *judge) { j.check(result.Check{Name: "kept", OK: true, Fix: "Nothing."}, "Never said.") }
	over := func(j *judge) {
		j.check(result.Check{Name: "over", Value: 2, Budget: 1, Fix: "Change it."}, "Too much.")
	}
	open := func(j *judge) {
		j.undecided(result.Check{Name: "open", OK: true, Value: math.NaN(), Fix: "Send more."}, "Too few.")
	}
	none := func(j *judge) { j.check(result.Check{Name: "none", OK: true, Value: math.NaN()}, "Never said.") }
	for _, tt := range []struct {
		name               string
		checks             []func(*judge)
		word               string
		reasons, undecided []string
	}{
		{"none", nil, result.Valid, nil, nil},
		{"all kept", []func(*judge){kept, kept}, result.Valid, nil, nil},
		{"one over", []func(*judge){kept, over}, result.Invalid, []string{"Too much. Change it."}, nil},
		{"one not made", []func(*judge){open, kept}, result.Inconclusive, nil, []string{"Too few. Send more."}},
		{"one without a value", []func(*judge){none}, result.Inconclusive, nil, []string{"The check none could not be made: what it compares has no value."}},
		{"both", []func(*judge){open, over}, result.Invalid, []string{"Too much. Change it."}, []string{"Too few. Send more."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &judge{plan: &plan.Plan{Stages: make([]plan.Stage, 1)}, result: &result.Result{}}
			for _, add := range tt.checks {
				add(j)
			}
			v := j.verdict()
			if v.Status != tt.word || v.Valid != (tt.word == result.Valid) || !slices.Equal(v.Reasons, tt.reasons) ||
				!slices.Equal(v.Undecided, tt.undecided) {
				t.Errorf("%+v", v)
			}
			for _, c := range v.Checks {
				if c.OK && (c.Undecided || c.Reason != "" || c.Fix != "") || c.Undecided && !finite([]float64{c.Value, c.Budget}) {
					t.Errorf("%+v", c)
				}
			}
			w := healthy()
			r := w.build(t)
			r.Verdict = v
			published.Fits(t, r)
		})
	}
}

// TestKilled: what a killed run left is never valid, and says what it is.
func TestKilled(t *testing.T) {
	cut := func(r *record.Record) { r.Failure = &record.Failure{Class: record.CutOff, Message: "still under way"} }
	for _, tt := range []struct {
		name string
		bend func(w *world)
		word string
		says []string
	}{
		{"in the middle", func(w *world) {}, result.Inconclusive, []string{"did not end properly (0 of 1 stage did)"}},
		{"with some under way", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i > 1990 {
					cut(r)
				}
			})
		}, result.Inconclusive, []string{"did not end properly"}},
		{"before any answer", func(w *world) { w.each(func(_ int, r *record.Record) { cut(r) }) }, result.Invalid, []string{"2,000 requests had been sent", "before the run was killed"}},
		{"in the warm-up", func(w *world) { w.recs = w.recs[:200] }, result.Invalid, []string{"killed during the warm-up, after 200 requests"}},
		{"at once", func(w *world) { w.recs = nil }, result.Invalid, []string{"on disk when the run was killed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			w.facts.Incomplete, w.facts.Stages = true, nil
			tt.bend(w)
			v := w.build(t).Verdict
			said := strings.Join(append(v.Reasons, v.Undecided...), "\n")
			if v.Status != tt.word || strings.Contains(said, "Make the stage longer") {
				t.Errorf("%s: %s", v.Status, said)
			}
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
		})
	}
}
