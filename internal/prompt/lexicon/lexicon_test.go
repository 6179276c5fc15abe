package lexicon

import (
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/filetest"
)

// tokenizers are one of each family that models are served with.
func tokenizers(t testing.TB) map[string]prompt.Tokenizer {
	t.Helper()
	out := map[string]prompt.Tokenizer{"words": token.Words{}}
	files, err := filepath.Glob("../../token/testdata/*.json.gz")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d tokenizers: %v", len(files), err)
	}
	for _, name := range files {
		f, err := os.Open(name)
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
		short := strings.TrimSuffix(filepath.Base(name), ".json.gz")
		e, err := token.FromJSON(short, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[short] = e
	}
	return out
}

func TestTextsAreExact(t *testing.T) {
	for name, tok := range tokenizers(t) {
		t.Run(name, func(t *testing.T) {
			l, err := New(tok)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for _, n := range []int{1, 2, 3, 10, 100, 777} {
				text, err := l.Text(rng, n)
				if err != nil {
					t.Fatal(err)
				}
				if got := tok.Count(text); got != n {
					t.Errorf("%d tokens in place of %d: %q", got, n, text)
				}
				whole, err := l.Extend(rng, text, n, 50)
				if err != nil {
					t.Fatal(err)
				}
				if got := tok.Count(whole); got != n+50 || !strings.HasPrefix(whole, text) {
					t.Errorf("%d tokens in place of %d, or another beginning: %q", got, n+50, whole)
				}
				e, ok := tok.(*token.Pipeline)
				if !ok {
					continue
				}
				ids := e.Encode(whole, false)
				if !l.plain || name == "whitespace" { // whose Decode forgets the spaces
					continue
				}
				if !slices.Equal(ids, e.Encode(e.Decode(ids, false), false)) {
					t.Errorf("the tokens do not come back: %q", whole)
				}
				if !slices.Equal(ids[:n], e.Encode(text, false)) {
					t.Errorf("the tokens of the beginning are others in the whole: %q", whole)
				}
			}
		})
	}
}

// A tokenizer of the size of a real one has words enough, and they need no counting.
func TestLexiconOfGPT2(t *testing.T) {
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(tok)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.words) < 20_000 || len(l.first) < 5_000 || !l.plain || !l.sure {
		t.Errorf("%d words, %d to begin with, plain %v, sure %v", len(l.words), len(l.first), l.plain, l.sure)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		n := 1 + rng.IntN(400)
		text, err := l.Text(rng, n)
		if err != nil || tok.Count(text) != n {
			t.Errorf("%d tokens in place of %d (%v): %q", tok.Count(text), n, err, text)
		}
		if whole, err := l.Extend(rng, text, n, 30); err != nil || tok.Count(whole) != n+30 || !strings.HasPrefix(whole, text) {
			t.Errorf("%d tokens in place of %d (%v): %q", tok.Count(whole), n+30, err, whole)
		}
		words := strings.Fields(text)
		for i, id := range tok.Encode(text, false) {
			if s, _ := tok.Token(id); strings.TrimSpace(s) != words[i] {
				t.Fatalf("token %d of %q is %q", i, text, s)
			}
		}
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string]span{
		"a ": {before: "a"}, "of the": {before: "of", after: "the"}, " of the": {before: "of", after: "the", whole: true},
		"é b c": {before: "é", after: "b"}, ".ab cd.": {before: "ab", after: "cd", whole: true},
		"": {}, " a": {}, ". a": {}, "  ": {},
	} {
		if got, ok := spanOf(text); got != want || ok != (want != span{}) {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
}

// Of words that a token joins, one side is left out.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  []string
	}{
		{nil, []string{"of", "the", "these", "roof", "in"}},
		{[]string{"of the"}, []string{"the", "these", "in"}},
		{[]string{"of the", "in the", "roof the"}, []string{"of", "roof", "in"}},
		{[]string{" of the", " of in"}, []string{"the", "these", "roof", "in"}},
		{[]string{"of "}, []string{"the", "these", "in"}},
	} {
		l := &Lexicon{tok: token.Words{}, words: []string{"of", "the", "these", "roof", "in"}}
		l.first = l.words
		var spans []span
		for _, text := range c.texts {
			sp, _ := spanOf(text)
			spans = append(spans, sp)
		}
		if l.part(spans); !slices.Equal(l.words, c.want) {
			t.Errorf("%q: %q, want %q", c.texts, l.words, c.want)
		}
	}
}

func BenchmarkLexicon(b *testing.B) {
	tok, err := token.GPT2()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			if _, err := New(tok); err != nil {
				b.Fatal(err)
			}
		}
	})
	l, err := New(tok)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	b.Run("500 tokens", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Text(rng, 500); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("500 words", func(b *testing.B) {
		buf := make([]byte, 0, 10000)
		for b.Loop() {
			buf = l.draw(buf[:0], rng, 500)
		}
	})
}

// Vocabularies of real models: texts are exact, and come back token by token.
func TestReal(t *testing.T) {
	filetest.Vocabularies(t, func(t *testing.T, e *token.Pipeline) {
		l, err := New(e)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.words) < 5000 || len(l.first) < 5000 || !l.sure {
			t.Errorf("%d words, %d to begin with, sure %v", len(l.words), len(l.first), l.sure)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range 40 {
			n := 1 + rng.IntN(500)
			text, err := l.Text(rng, n)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := l.Extend(rng, text, n, 100)
			if err != nil {
				t.Fatal(err)
			}
			head, ids := e.Encode(text, false), e.Encode(whole, false)
			if len(head) != n || len(ids) != n+100 || !slices.Equal(ids[:n], head) || !slices.Equal(ids, e.Encode(e.Decode(ids, false), false)) {
				t.Errorf("%d and %d tokens, want %d and %d, or others when they come back: %q", len(head), len(ids), n, n+100, whole)
			}
		}
	})
}

// What Append draws has as many tokens as it says and leaves those before it alone,
// wherever it stands.
func TestAppend(t *testing.T) {
	served := 0
	for name, tok := range tokenizers(t) {
		l, err := New(tok)
		if err != nil {
			t.Fatal(err)
		}
		draw := func(text []byte, seed uint64, n int) []byte {
			out, ok := l.Append(text, rand.New(rand.NewPCG(seed, 1)), n)
			if ok != l.sure {
				t.Errorf("%s: drawn: %v, and the words are sure: %v", name, ok, l.sure)
			}
			return out
		}
		if _, ok := l.Append([]byte("no letter."), rand.New(rand.NewPCG(1, 1)), 3); ok {
			t.Errorf("%s: words are put after what they may grow together with", name)
		}
		if !l.sure {
			continue
		}
		served++
		var text []byte
		for i := range uint64(50) {
			text = draw(text, i, 16)
		}
		if got := tok.Count(string(text)); got != 800 {
			t.Errorf("%s: %d tokens in place of 800", name, got)
		}
		a, b := string(draw(nil, 7, 16)), string(draw([]byte("a"), 7, 16))
		if !strings.HasSuffix(b, " "+a) || !strings.HasPrefix(a, string(draw(nil, 7, 5))) {
			t.Errorf("%s: other words in another place: %q, %q", name, a, b)
		}
		e, ok := tok.(*token.Pipeline)
		if !ok {
			continue
		}
		if ids, part := e.Encode(string(text), false), e.Encode(string(draw(nil, 0, 16)), false); !slices.Equal(ids[:16], part) {
			t.Errorf("%s: what follows changes the tokens before it", name)
		}
	}
	if served < 10 {
		t.Errorf("%d tokenizers have words that are one token everywhere", served)
	}
}
