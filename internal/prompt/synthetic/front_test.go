package synthetic

import (
	"math"
	"slices"
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

// A share of a prompt's own length is the beginning of one of a few texts.
func TestPrefixesByShare(t *testing.T) {
	for _, share := range []float64{0.01, 0.5, 0.7, 1} {
		d := plan.Data{Input: plan.Length{Dist: plan.DistUniform, Min: 20, Max: 60}, Prefixes: plan.Prefixes{Count: 2, Share: share}}
		s, err := New(d, token.Words{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		texts := [2][]string{}
		for i, p := range s.front.prefixes {
			texts[i] = strings.Fields(p)
		}
		rests := map[string]bool{}
		for _, p := range prompttest.FirstPrompts(t, s, 60) {
			words := strings.Fields(p.Text)
			if len(words) != p.Tokens || p.Tokens < 20 || p.Tokens > 60 {
				t.Fatalf("%d words, said to be %d tokens", len(words), p.Tokens)
			}
			n := int(math.Round(share * float64(len(words))))
			if !slices.ContainsFunc(texts[:], func(text []string) bool { return slices.Equal(words[:n], text[:n]) }) {
				t.Errorf("the first %d of %d words are no beginning of a shared text: %q", n, len(words), p.Text)
			}
			rests[strings.Join(words[n:], " ")] = true
		}
		if share < 1 && len(rests) != 60 {
			t.Errorf("share %v: %d different rests of 60", share, len(rests))
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
