package conversations

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/token"
)

// TestLengths holds the lengths of conversations against those of inference-perf 0.7.0, for the
// same seed and a vocabulary of 50257 tokens.
func TestLengths(t *testing.T) {
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	if tok.BaseSize() != 50257 {
		t.Fatalf("GPT-2 has %d tokens", tok.BaseSize())
	}
	uniform := func(a, b int) plan.Length { return plan.Length{Dist: plan.DistUniform, Min: a, Max: b} }
	for _, c := range []struct {
		seed            uint64
		of              plan.Conversations
		output          plan.Length
		own             []int
		inputs, outputs [][]int
	}{
		{
			42, plan.Conversations{Count: 3, SharedPrompt: 10, DynamicPrompt: uniform(2, 9), Turns: uniform(1, 4), Input: uniform(3, 30)},
			plan.Length{Dist: plan.DistNormal, Min: 2, Max: 40, Mean: 20, Stddev: 8},
			[]int{8, 3, 9}, [][]int{{29, 21, 26, 15}, {9, 19, 5}, {26, 21, 24, 13}}, [][]int{{30, 19, 17, 17}, {24, 23, 23}, {23, 37, 17, 16}},
		},
		{
			7, plan.Conversations{Count: 2, SharedPrompt: 5, Turns: fixed(3),
				Input: plan.Length{Dist: plan.DistPoisson, Min: 1, Max: 50, Mean: 9}}, uniform(1, 9),
			[]int{0, 0}, [][]int{{6, 11, 7}, {5, 4, 11}}, [][]int{{4, 4, 2}, {8, 4, 9}},
		},
	} {
		l := drawLengths(&plan.Data{Conversations: c.of, Output: c.output}, tok, c.seed)
		var own []int
		var inputs, outputs [][]int
		for i := range uint64(c.of.Count) {
			own = append(own, l.own.At(i))
			var in, out []int
			for turn := range l.turnsOf(i) {
				a, b := l.turnLengths(i, turn)
				in, out = append(in, a), append(out, b)
			}
			inputs, outputs = append(inputs, in), append(outputs, out)
		}
		if diff := cmp.Diff([]any{c.own, c.inputs, c.outputs}, []any{own, inputs, outputs}); diff != "" {
			t.Errorf("seed %d:\n%s", c.seed, diff)
		}
	}
}
