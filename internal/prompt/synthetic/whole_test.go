package synthetic

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// Lengths are those of what the model is given, where the plan wants it.
func TestWholePrompts(t *testing.T) {
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	wrap := func(text string) (string, error) { return "<|user|>\n" + text + "\n<|assistant|>", nil }
	for name, tc := range map[string]struct {
		use   prompt.Use
		count func(text string) int
	}{
		"chat": {prompt.Use{Chat: true, Wrap: wrap}, func(text string) int { text, _ = wrap(text); return tok.Count(text) }},
		"text": {prompt.Use{Specials: 2, Wrap: wrap}, func(text string) int { return tok.Count(text) + 2 }},
	} {
		s, err := New(plan.Data{Input: fixed(40), Counted: plan.CountPrompt}, tok, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Open(t.Context(), tc.use); err != nil {
			t.Fatal(err)
		}
		for _, p := range prompttest.FirstPrompts(t, s, 200) {
			if got := tc.count(p.Text); got != 40 {
				t.Fatalf("%s: %d tokens in all, want 40: %q", name, got, p.Text)
			}
		}
	}
	s, err := New(plan.Data{Input: fixed(5), Counted: plan.CountPrompt}, tok, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), prompt.Use{Chat: true, Wrap: wrap}); err == nil || !strings.Contains(err.Error(), "5 tokens are too few") {
		t.Errorf("%v", err)
	}
	if err := s.Open(t.Context(), prompt.Use{Chat: true}); err == nil || !strings.Contains(err.Error(), "without a chat template") {
		t.Errorf("%v", err)
	}
}

// A common beginning adds exactly its own tokens.
func TestPrefixesAreExact(t *testing.T) {
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(plan.Data{Input: fixed(20), Prefixes: plan.Prefixes{Count: 7, Length: fixed(30)}}, tok, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompttest.FirstPrompts(t, s, 300) {
		if got := tok.Count(p.Text); got != 50 || p.Tokens != 50 {
			t.Fatalf("%d tokens, said to be %d, want 50: %q", got, p.Tokens, p.Text)
		}
	}
}
