package token

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// rulers are engines that a ruler is of use for.
func rulers(t testing.TB) []*Pipeline {
	t.Helper()
	e, err := GPT2()
	if err != nil {
		t.Fatal(err)
	}
	list := []*Pipeline{e}
	for _, name := range families(t) {
		if e := family(t, name); e.NewRuler(prose(t)) != nil {
			list = append(list, e)
		}
	}
	if len(list) < 3 {
		t.Fatalf("%d tokenizers have rulers", len(list))
	}
	return list
}

// TestRuler compares with Cut, from all places of a text that is easy and of one that is
// hard to split.
func TestRuler(t *testing.T) {
	const tries = 600
	rng := rand.New(rand.NewPCG(1, 2))
	hard := prose(t)[:2000]
	for range 300 {
		at := rng.IntN(len(hard))
		for !utf8.RuneStart(hard[at]) {
			at--
		}
		hard = hard[:at] + []string{" ", "\n", "  \n", "'s ", "12345", "!?", "\t\t", "                    ", "中AB", " \u00a0", "'re", "Ünï"}[rng.IntN(12)] + hard[at:]
	}
	for _, e := range rulers(t) {
		for name, text := range map[string]string{"prose": prose(t)[:6000], "hard": hard} {
			r := e.NewRuler(text)
			if r == nil {
				t.Errorf("%s has no ruler for %s", e.Name(), name)
				continue
			}
			taken := 0
			for range tries {
				from, n := rng.IntN(len(text)), 1+rng.IntN(60)
				head := ""
				if rng.IntN(2) == 0 {
					head = []string{"k7q2 ", "x", " ", "The 9 ", "\n\n"}[rng.IntN(5)]
				}
				part := head + text[from:min(from+8*n, len(text))]
				want, wantOK := e.Cut(part, n)
				if got, ok := r.Cut(part, len(head), from, n); got != want || ok != wantOK {
					t.Fatalf("%s, %s: %q cut to %d tokens is %d, %v; want %d, %v", e.Name(), name, part, n, got, ok, want, wantOK)
				}
				if _, ok := r.cut(part, len(head), from, n); ok {
					taken++
				}
			}
			if taken < tries*3/5 {
				t.Errorf("%s, %s: the ruler knew only %d of %d places", e.Name(), name, taken, tries)
			}
		}
	}
}

func TestNoRuler(t *testing.T) {
	e, err := GPT2()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"an added token": "one <|endoftext|> two", "a long piece": strings.Repeat("a", 2*widest), "bad UTF-8": "a\xffb"} {
		if e.NewRuler(text) != nil {
			t.Errorf("there is a ruler for %s", name)
		}
	}
	// An added token in the head, or across the joint.
	r := e.NewRuler("text|> and more text")
	for _, head := range []string{"<|endof", "<|endoftext|>", "\xff"} {
		part := head + "text|> and more text"
		want, wantOK := e.Cut(part, 4)
		if got, ok := r.Cut(part, len(head), 0, 4); got != want || ok != wantOK {
			t.Errorf("%q: %d, %v; want %d, %v", part, got, ok, want, wantOK)
		}
	}
}

func BenchmarkRuler(b *testing.B) {
	e, err := GPT2()
	if err != nil {
		b.Fatal(err)
	}
	text := prose(b)
	b.Run("new", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			e.NewRuler(text)
		}
	})
	r := e.NewRuler(text)
	b.Run("cut", func(b *testing.B) {
		at, n := 0, 128
		for b.Loop() {
			if at += strings.IndexByte(text[at:], ' ') + 1; at > len(text)/2 {
				at = 0
			}
			if _, ok := r.Cut(text[at:at+7*n], 0, at, n); !ok {
				b.Fatal("no cut")
			}
		}
	})
}
