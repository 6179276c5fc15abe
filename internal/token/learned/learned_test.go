package learned

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/filetest"
)

// asking is a server with a tokenizer of the family; calls counts what it is asked.
func asking(t *testing.T, family string, calls *int) (*token.Pipeline, Ask) {
	t.Helper()
	f, err := os.Open("../testdata/" + family + ".json.gz")
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
	served, err := token.FromJSON(family, data)
	if err != nil {
		t.Fatal(err)
	}
	return served, func(_ context.Context, text string) ([]int32, error) {
		*calls++
		return served.Encode(text, false), nil
	}
}

// book is the text that prompts are cut out of.
func book(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../prompt/synthetic/opticks.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whatever is cut out of the text has the length that the server counts, with few requests.
func TestLengthsAreTheServers(t *testing.T) {
	text := book(t)
	for _, family := range []string{"gpt2", "metaspace-strip", "wordpiece", "unigram"} {
		t.Run(family, func(t *testing.T) {
			calls := 0
			served, ask := asking(t, family, &calls)
			sameLengths(t, text, served, ask)
			if calls > 100 {
				t.Errorf("%d requests", calls)
			}
		})
	}
}

// The same with the vocabularies of real models.
func TestReal(t *testing.T) {
	text := book(t)
	filetest.Vocabularies(t, func(t *testing.T, served *token.Pipeline) {
		sameLengths(t, text, served, func(_ context.Context, text string) ([]int32, error) { return served.Encode(text, false), nil })
	})
}

// sameLengths learns the words of a text and cuts texts out of it.
func sameLengths(t *testing.T, text string, served *token.Pipeline, ask Ask) {
	t.Helper()
	learnt, err := New(t.Context(), "server", text, token.Words{}, ask)
	if err != nil {
		t.Fatal(err)
	}
	part := text[strings.Index(text, "colour")+1:]
	exact := 0
	for n := 20; n < 1500; n += 70 {
		part = part[strings.IndexAny(part, " \n")+1:]
		end, ok := learnt.Cut(part, n)
		if !ok {
			continue // the n-th token is within a word: prompts are filled up then
		}
		exact++
		if got := served.Count(part[:end]); got != n || learnt.Count(part[:end]) != n {
			t.Fatalf("%d tokens by the server and %d by what was learnt, want %d: %.80q", got, learnt.Count(part[:end]), n, part)
		}
	}
	if exact < 5 {
		t.Errorf("%d texts were cut", exact)
	}
}

func TestOneTokenWords(t *testing.T) {
	calls := 0
	served, ask := asking(t, "gpt2", &calls)
	learnt, err := New(t.Context(), "server", book(t), token.Words{}, ask)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for word := range learnt.Vocabulary() {
		n++
		if served.Count(word) != 1 || served.Count("a"+word) != 2 {
			t.Fatalf("%q is no token", word)
		}
	}
	if n < 50 { // the vocabulary is a small one
		t.Errorf("%d words", n)
	}
}

// A server whose lengths do not add up, or which does not answer, is not relied on.
func TestNotLearnt(t *testing.T) {
	uneven := func(_ context.Context, text string) ([]int32, error) { return make([]int32, 1+len(text)/7), nil }
	if _, err := New(t.Context(), "server", book(t), token.Words{}, uneven); !errors.Is(err, errUneven) {
		t.Errorf("error %v", err)
	}
	// Tokens of these reach over from one word to the next.
	for _, family := range []string{"llama2", "metaspace"} {
		_, ask := asking(t, family, new(int))
		if _, err := New(t.Context(), "server", book(t), token.Words{}, ask); !errors.Is(err, errUneven) {
			t.Errorf("%s: error %v", family, err)
		}
	}
	down := errors.New("down")
	if _, err := New(t.Context(), "server", book(t), token.Words{}, func(context.Context, string) ([]int32, error) { return nil, down }); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	// One that counts right word by word, and adds one for every other text.
	odd := func(_ context.Context, text string) ([]int32, error) {
		ids := make([]int32, 0, 1000)
		for _, word := range strings.Fields(text) {
			ids = append(ids, int32(len(word)*1000))
		}
		if len(ids) == trial {
			ids = append(ids, 1, 2)
		}
		return ids, nil
	}
	if _, err := New(t.Context(), "server", book(t), token.Words{}, odd); !errors.Is(err, errUneven) {
		t.Errorf("error %v", err)
	}
}
