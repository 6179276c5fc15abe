package result

import (
	"math"
	"slices"
	"testing"

	"inferometer/internal/plan"
)

// TestVerdictWord: a check that could not be made keeps a result from being valid, and one
// over its budget weighs more.
func TestVerdictWord(t *testing.T) {
	kept := func(j *judge) { j.check(Check{Name: "kept", OK: true, Do: "Nothing."}, "Never said.") }
	over := func(j *judge) { j.check(Check{Name: "over", Value: 2, Budget: 1, Do: "Change it."}, "Too much.") }
	open := func(j *judge) {
		j.undecided(Check{Name: "open", OK: true, Value: math.NaN(), Do: "Send more."}, "Too few.")
	}
	none := func(j *judge) { j.check(Check{Name: "none", OK: true, Value: math.NaN()}, "Never said.") }
	for _, tt := range []struct {
		name               string
		checks             []func(*judge)
		word               string
		reasons, undecided []string
	}{
		{"none", nil, Valid, nil, nil},
		{"all kept", []func(*judge){kept, kept}, Valid, nil, nil},
		{"one over", []func(*judge){kept, over}, Invalid, []string{"Too much. Change it."}, nil},
		{"one not made", []func(*judge){open, kept}, Inconclusive, nil, []string{"Too few. Send more."}},
		{"one without a value", []func(*judge){none}, Inconclusive, nil, []string{"The check none could not be made: what it compares has no value."}},
		{"both", []func(*judge){open, over}, Invalid, []string{"Too much. Change it."}, []string{"Too few. Send more."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &judge{plan: &plan.Plan{Stages: make([]plan.Stage, 1)}}
			for _, add := range tt.checks {
				add(j)
			}
			v := j.verdict()
			if v.Word != tt.word || v.Valid != (tt.word == Valid) || !slices.Equal(v.Reasons, tt.reasons) || !slices.Equal(v.Undecided, tt.undecided) {
				t.Errorf("%+v", v)
			}
			for _, c := range v.Checks {
				if c.OK && (c.Undecided || c.Why != "" || c.Do != "") || c.Undecided && !finite([]float64{c.Value, c.Budget}) {
					t.Errorf("%+v", c)
				}
			}
			w := healthy()
			r := w.build(t)
			r.Verdict = v
			validate(t, r)
		})
	}
}
