package prompt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

// TestAhead holds lengths that are drawn ahead against those of inference-perf 0.7.0 with seed 5,
// which has the same ones in every stage.
func TestAhead(t *testing.T) {
	normal := plan.Length{Dist: plan.DistNormal, Mean: 20, Stddev: 6, Min: 5, Max: 40}
	lognormal := func(least, most int, mean float64) plan.Length {
		return plan.Length{Dist: plan.DistLognormal, Mean: mean, Stddev: 30, Min: least, Max: most, Shifted: true}
	}
	for name, c := range map[string]struct {
		data          plan.Data
		input, output []int
	}{
		"uniform": {
			plan.Data{Input: plan.Length{Dist: plan.DistUniform, Min: 10, Max: 60}, Output: normal, Ahead: plan.Ahead{Input: 11, Output: 11}},
			[]int{50, 50, 36, 24, 13, 29, 30, 12}, []int{13, 14, 30, 21, 10, 19, 13, 16},
		},
		"lognormal": {
			plan.Data{Input: lognormal(10, 300, 60), Output: plan.Length{Dist: plan.DistFixed, Mean: 7}, Ahead: plan.Ahead{Input: 50, Output: 11}},
			[]int{37, 31, 47, 64, 90, 56, 42, 38}, []int{7, 7, 7, 7, 7, 7, 7, 7},
		},
		"normal": {
			plan.Data{Input: plan.Length{Dist: plan.DistNormal, Mean: 60, Stddev: 30, Min: 10, Max: 300}, Output: lognormal(5, 90, 20),
				Ahead: plan.Ahead{Input: 11, Output: 11}},
			[]int{36, 20, 53, 73, 94, 63, 43, 36}, []int{6, 7, 56, 14, 6, 11, 7, 8},
		},
	} {
		s := NewSizes(c.data, 5)
		for stage := range uint64(2) {
			var input, output []int
			for i := range uint64(8) {
				at := Position{Stage: stage, I: i}
				input, output = append(input, s.Input(at.Number(), at)), append(output, s.Output(at))
			}
			if diff := cmp.Diff([][]int{c.input, c.output}, [][]int{input, output}); diff != "" {
				t.Errorf("%s, stage %d: %s", name, stage, diff)
			}
		}
	}
}
