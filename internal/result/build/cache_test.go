package build

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// TestCached: prompts that were meant to be new and were in the cache are another run's.
func TestCached(t *testing.T) {
	take := func(n int) func(*world) {
		return func(w *world) { w.each(func(_ int, r *record.Record) { r.Cached = n }) }
	}
	for _, tt := range []struct {
		name  string
		bend  func(*world)
		want  []string // checks over their budgets
		says  string   // in a reason or, where there is none, in a note
		share float64  // of the metric; negative: there is none
	}{
		{"not said", take(-1), nil, "", -1},
		{"nothing", take(0), nil, "", 0},
		{"a second run", take(112), []string{"prefix_cache_hits"}, "88 % of the prompts' tokens were in the server's prefix cache already (budget 20 %)", 0.875},
		{"more than there are", take(math.MaxInt64), []string{"prefix_cache_hits"}, "100 %", 1},
		{"some", take(16), nil, "12 % of the prompts' tokens were in the server's prefix cache already", 0.125},
		{"the chat template", func(w *world) {
			w.each(func(_ int, r *record.Record) { r.In.N, r.In.Local, r.Cached = 48, 8, 40 })
		}, nil, "", 40.0 / 48},
		{"random prompts", func(w *world) {
			w.plan.Data.Source = plan.SourceRandom
			take(112)(w)
		}, []string{"prefix_cache_hits"}, "another seed, or --salt run", 0.875},
		{"prompts of a file", func(w *world) {
			w.plan.Data.Source = plan.SourceFile
			take(112)(w)
		}, nil, "they share a prefix, or an earlier run sent them", 0.875},
		{"a few prompts, again and again", func(w *world) {
			w.plan.Data.Prompts = 10
			take(112)(w)
		}, nil, "", 0.875},
		{"shared prefixes", func(w *world) {
			w.plan.Data.Source = plan.SourceSharedPrefix
			take(112)(w)
		}, nil, "", 0.875},
		{"the seed of another tool", func(w *world) {
			w.plan.Budgets.Cached = 1
			take(112)(w)
		}, nil, "88 %", 0.875},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			tt.bend(w)
			r := w.build(t)
			if got := broken(&r.Verdict); !slices.Equal(got, tt.want) {
				t.Fatalf("over budget: %v, want %v: %v", got, tt.want, r.Verdict.Reasons)
			}
			said := strings.Join(r.Verdict.Reasons, "\n")
			if tt.want == nil {
				said = strings.Join(r.Notes, "\n")
			}
			if !strings.Contains(said, tt.says) || tt.says == "" && strings.Contains(said, "cache") {
				t.Errorf("%q, want %q", said, tt.says)
			}
			m, ok := r.Stages[0].Metrics["cached_prompt_share"]
			if ok != (tt.share >= 0) || ok && math.Abs(m.Avg-tt.share) > 1e-9 {
				t.Errorf("share %v, %v; want %v", m.Avg, ok, tt.share)
			}
		})
	}
}
