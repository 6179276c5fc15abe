package mockdata

import (
	"context"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

func TestConformance(t *testing.T) {
	out := plan.Length{Dist: plan.DistUniform, Min: 5, Max: 9}
	for name, d := range map[string]plan.Data{"plain": {Output: out}, "pool": {Output: out, Prompts: 7}, "salted": {Output: out, Salt: plan.SaltStage}} {
		t.Run(name, func(t *testing.T) {
			prompttest.Run(t, prompttest.Case{
				New:       func(_ *testing.T, seed uint64) prompt.Source { return New(d, token.Words{}, seed) },
				Tokenizer: token.Words{}, MinOutput: 5, MaxOutput: 9,
			})
		})
	}
}

func TestWords(t *testing.T) {
	for chat, want := range map[bool]string{false: "1 2 3 2", true: "mock prompt 2"} {
		s := New(plan.Data{}, token.Words{}, 1)
		if err := s.Open(context.Background(), prompt.Use{Chat: chat}); err != nil {
			t.Fatal(err)
		}
		if got := prompttest.FirstPrompts(t, s, 2)[1].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
