package synthetic

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// Prompts that ask for a length in words are as long as others.
func TestInWords(t *testing.T) {
	d := plan.Data{Input: plan.Length{Dist: plan.DistFixed, Mean: 60}, InWords: 150, Prompts: 5}
	s, err := New(d, token.Words{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompttest.FirstPrompts(t, s, 12) {
		if !strings.HasPrefix(p.Text, "Write an answer of about 150 tokens") || p.Tokens != 60 || s.tok.Count(p.Text) != 60 || p.Hash != prompt.HashText(p.Text) {
			t.Errorf("%d tokens: %q", p.Tokens, p.Text)
		}
	}
	if notes := s.Notes(); notes != nil {
		t.Errorf("notes %q", notes)
	}
	d.Input.Mean = 5
	if s, err = New(d, token.Words{}, 1); err != nil {
		t.Fatal(err)
	}
	if p := prompttest.FirstPrompts(t, s, 1)[0]; strings.Contains(p.Text, "Write") || p.Tokens != 5 {
		t.Errorf("%d tokens: %q", p.Tokens, p.Text)
	}
	if notes := s.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "too short to ask for 150 tokens") {
		t.Errorf("notes %q", notes)
	}
}

func TestPrefixes(t *testing.T) {
	fixed := func(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }
	d := plan.Data{Input: fixed(10), Prefixes: plan.Prefixes{Count: 3, Length: fixed(8)}}
	s, err := New(d, token.Words{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, p := range prompttest.FirstPrompts(t, s, 90) {
		if p.Tokens != 18 || s.tok.Count(p.Text) != 18 {
			t.Errorf("%d tokens, want 18", p.Tokens)
		}
		seen[strings.Join(strings.Fields(p.Text)[:8], " ")]++
	}
	if len(seen) != 3 {
		t.Errorf("%d beginnings, want 3: %v", len(seen), seen)
	}
	prompttest.Run(t, prompttest.Case{
		New: func(t *testing.T, seed uint64) prompt.Source {
			s, err := New(d, token.Words{}, seed)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Tokenizer: token.Words{}, Seeded: true,
	})
}
