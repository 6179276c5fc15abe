package build

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// stagesOf are stages with names.
func stagesOf(names ...string) []plan.Stage {
	var list []plan.Stage
	for _, n := range names {
		list = append(list, plan.Stage{Name: n})
	}
	return list
}

// TestStageVerdicts: what is wrong with a stage is wrong with that stage alone, and what is
// wrong with the run with all of them.
func TestStageVerdicts(t *testing.T) {
	over := func(stage int) result.Check {
		return result.Check{Stage: stage, Name: "dispatch_delay_p99", Value: 2, Budget: 1, Unit: "ms"}
	}
	few := result.Check{Name: "ttft_drift", Undecided: true}
	kept := result.Check{Name: "gc", OK: true}
	at := func(c result.Check, stage int) result.Check { c.Stage = stage; return c }
	for name, tt := range map[string]struct {
		stages  []plan.Stage
		checks  []result.Check
		words   string // of the run and of each stage
		summary string
	}{
		"all valid":         {stagesOf("", "", ""), []result.Check{at(kept, 0), at(kept, 1)}, "valid: valid valid valid", ""},
		"one is over":       {stagesOf("", "peak", ""), []result.Check{at(kept, 0), over(1)}, "invalid: valid invalid valid", "2 of 3 stages are valid: their figures can be trusted. Do not rely on those of stage 2 (peak)."},
		"one is undecided":  {stagesOf("", ""), []result.Check{at(few, 0)}, "inconclusive: inconclusive valid", "1 of 2 stages is valid: its figures can be trusted. Too little was measured in stage 1 to tell."},
		"all kinds":         {stagesOf("", "", "", ""), []result.Check{at(few, 0), over(1), at(few, 1), over(3)}, "invalid: inconclusive invalid valid invalid", "1 of 4 stages is valid: its figures can be trusted. Do not rely on those of stage 2 and stage 4. Too little was measured in stage 1 to tell."},
		"all are over":      {stagesOf("", ""), []result.Check{over(0), over(1)}, "invalid: invalid invalid", ""},
		"the run":           {stagesOf("", ""), []result.Check{at(kept, 0), over(wholeRun)}, "invalid: invalid invalid", ""},
		"the run undecided": {stagesOf("", ""), []result.Check{over(1), at(few, wholeRun)}, "invalid: inconclusive invalid", ""},
		"one stage":         {stagesOf(""), []result.Check{over(0)}, "invalid: invalid", ""},
		"many": {stagesOf(slices.Repeat([]string{""}, 9)...), []result.Check{over(0), over(1), over(2), over(3), over(4), over(5), over(6)}, "invalid: " + strings.Repeat("invalid ", 7) + "valid valid",
			"2 of 9 stages are valid: their figures can be trusted. Do not rely on those of stage 1, stage 2, stage 3, stage 4, stage 5 and 2 more."},
	} {
		r := &result.Result{Stages: make([]result.Stage, len(tt.stages))}
		j := &judge{plan: &plan.Plan{Stages: tt.stages}, facts: &Inputs{}, result: r, checks: tt.checks}
		r.Verdict = j.verdict()
		words := r.Verdict.Status + ":"
		for i := range r.Stages {
			v := r.Stages[i].Verdict
			if words += " " + v.Status; v.Valid != (v.Status == result.Valid) || (len(v.Reasons) > 0) != (v.Status == result.Invalid) {
				t.Errorf("%s: stage %d: %+v", name, i, v)
			}
		}
		if words != tt.words || r.Verdict.Summary != tt.summary || r.Differs() != (tt.summary != "") {
			t.Errorf("%s: %s, %q", name, words, r.Verdict.Summary)
		}
	}
}

// A stage's own reasons do not name it; those of the run do.
func TestStageReasons(t *testing.T) {
	r := &result.Result{Stages: make([]result.Stage, 2)}
	j := &judge{plan: &plan.Plan{Stages: stagesOf("", "")}, facts: &Inputs{}, result: r, checks: []result.Check{{Stage: 1, Name: "dispatch_delay_p99", Reason: "Too late.", Fix: "Hurry."}}}
	r.Verdict = j.verdict()
	if got := r.Stages[1].Verdict.Reasons; !slices.Equal(got, []string{"Too late. Hurry."}) || !slices.Equal(r.Verdict.Reasons, []string{"Stage 2: Too late. Hurry."}) {
		t.Errorf("%q, of the run %q", got, r.Verdict.Reasons)
	}
}

// What nobody watched is not valid, nor is any stage of it.
func TestDoubt(t *testing.T) {
	w := healthy()
	r := w.build(t)
	r.Doubt("Nobody watched.")
	if v := r.Stages[0].Verdict; v.Status != result.Inconclusive || r.Verdict.Status != result.Inconclusive || !slices.Equal(v.Undecided, []string{"Nobody watched."}) {
		t.Errorf("%+v, of the run %+v", v, r.Verdict)
	}
	published.Fits(t, r)
}
