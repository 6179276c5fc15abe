package synthetic

import (
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/filetest"
)

// exact checks prompts of several lengths, and that all are there.
func exact(t *testing.T, tok *token.Pipeline, prompts int, lengths ...int) {
	t.Helper()
	for _, n := range lengths {
		s, err := New(plan.Data{Input: plan.Length{Dist: plan.DistFixed, Mean: float64(n)}}, tok, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range prompttest.FirstPrompts(t, s, prompts) {
			if got := tok.Count(p.Text); got != n || p.Tokens != n {
				t.Fatalf("%d tokens, said to be %d, want %d: %.200q", got, p.Tokens, n, p.Text)
			}
		}
	}
}

// Prompts have their exact length with tokenizers of every family, which may read a word
// that is cut off in another way and have no token for some characters of the text.
func TestExactWithEveryFamily(t *testing.T) {
	for _, name := range []string{"gpt2", "llama2", "unigram", "metaspace", "metaspace-strip", "wordpiece", "unk", "unk-fused", "wordlevel"} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open("../../token/testdata/" + name + ".json.gz")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			tok, err := token.FromJSON(name, data)
			if err != nil {
				t.Fatal(err)
			}
			exact(t, tok, 30, 1, 2, 3, 17, 128)
		})
	}
}

// The same with the vocabularies of real models.
func TestReal(t *testing.T) {
	filetest.Vocabularies(t, func(t *testing.T, tok *token.Pipeline) {
		exact(t, tok, 300, 1, 2, 3, 17)
		exact(t, tok, 20, 128, 4096)
	})
}
