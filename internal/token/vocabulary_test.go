package token

import (
	"slices"
	"testing"
)

func TestVocabulary(t *testing.T) {
	e, err := GPT2()
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.Collect(e.Vocabulary())
	if len(texts) < 49_000 || len(texts) > 50_256 {
		t.Errorf("the vocabulary has %d texts", len(texts))
	}
	if !slices.Contains(texts, " light") || slices.Contains(texts, "<|endoftext|>") {
		t.Error("the vocabulary lacks a word, or has a special token")
	}
	for range e.Vocabulary() {
		break // may be left early
	}
	for _, name := range families(t) {
		f := family(t, name)
		n := 0
		for text := range f.Vocabulary() {
			for _, a := range f.parts.Added {
				if a.Special && text == a.Content {
					t.Errorf("%s: the vocabulary has the special token %q", name, text)
				}
			}
			n++
		}
		if n == 0 {
			t.Errorf("%s has no vocabulary", name)
		}
	}
}
