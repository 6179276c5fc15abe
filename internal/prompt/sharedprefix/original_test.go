package sharedprefix

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// TestOriginalLengths holds lengths against those that inference-perf 0.7.0 draws from a seed:
// of the prefixes of two groups, and of four questions and answers of each.
func TestOriginalLengths(t *testing.T) {
	uniform := func(least, most int) plan.Length {
		return plan.Length{Dist: plan.DistUniform, Min: least, Max: most}
	}
	for name, c := range map[string]struct {
		seed                     uint64
		prefix, question, output plan.Length
		want                     [5][]int
	}{
		// A number is a normal distribution there, for which numbers are drawn.
		"number": {
			7, plan.Length{Dist: plan.DistNormal, Mean: 20, Min: 20, Max: 20}, uniform(5, 30), uniform(5, 30),
			[5][]int{{20, 20}, {25, 11, 13, 28}, {5, 26, 26, 17}, {13, 12, 12, 17}, {18, 19, 30, 26}},
		},
		"spread": {
			11, uniform(10, 90), plan.Length{Dist: plan.DistLognormal, Mean: 40, Stddev: 30, Min: 1, Max: 200},
			plan.Length{Dist: plan.DistPoisson, Mean: 20, Min: 1, Max: 60},
			[5][]int{{20, 50}, {73, 23, 26, 22}, {12, 30, 18, 22}, {25, 44, 56, 28}, {25, 21, 18, 16}},
		},
		"skewed": {
			1763478000123, fixed(12), plan.Length{Dist: plan.DistSkew, Mean: 40, Stddev: 10, Skew: 3, Min: 1, Max: 200},
			plan.Length{Dist: plan.DistNormal, Mean: 20, Stddev: 8, Min: 3, Max: 60},
			[5][]int{{12, 12}, {44, 45, 49, 49}, {21, 6, 3, 26}, {48, 48, 43, 46}, {14, 7, 13, 26}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := plan.Data{Output: c.output,
				SharedPrefix: plan.SharedPrefix{Groups: 2, Prompts: 4, Prefix: c.prefix, Question: c.question, Seed: c.seed}}
			s := source(t, d, token.Words{}, 1, false)
			got := [5][]int{{s.prefixes[0].tokens, s.prefixes[1].tokens}}
			for id := range uint64(8) {
				at := 1 + 2*(id/4)
				got[at] = append(got[at], s.questionOf(id))
				got[at+1] = append(got[at+1], s.outputOf(id))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// special is a tokenizer of words that puts two special tokens around a text.
type special struct{ token.Words }

func (special) Name() string { return "special" }

func (s special) Encode(text string, special bool) []int32 {
	n := s.Count(text)
	if special {
		n += 2
	}
	return make([]int32, n)
}

// Special tokens are counted in either part where the plan wants it, as the original counts them.
func TestSpecialTokens(t *testing.T) {
	for counted, want := range map[string]int{"": 30, plan.CountPrompt: 26} {
		d := plan.Data{Counted: counted, SharedPrefix: plan.SharedPrefix{Groups: 1, Prompts: 1, Prefix: fixed(20), Question: fixed(10)}}
		if p := prompttest.FirstPrompts(t, source(t, d, special{}, 1, false), 1)[0]; p.Tokens != want || len(strings.Fields(p.Text)) != want {
			t.Errorf("%q: %d tokens, want %d: %q", counted, p.Tokens, want, p.Text)
		}
	}
}
