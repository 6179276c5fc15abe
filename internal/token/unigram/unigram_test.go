package unigram

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func(string) []int32, error) {
		m, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return func(s string) []int32 { return m.Encode(nil, s) }, nil
	})
}

func TestFaults(t *testing.T) {
	for raw, want := range map[string]string{
		`{"vocab":[["a",0]],"unk_id":1}`:              "unk_id",
		`{"vocab":[["a",0]]}`:                         "unk_id",
		`{"vocab":[],"unk_id":0}`:                     "0 tokens",
		`{"unk_id":0}`:                                "vocab",
		`{"type":"BPE","vocab":[["a",0]],"unk_id":0}`: "BPE",
		`{"vocab":[["a"]],"unk_id":0}`:                "score",
		`{"vocab":[["a",0,1]],"unk_id":0}`:            "pair",
		`{"vocab":[["a",1e999]],"unk_id":0}`:          "score",
		`{"vocab":[["a",0]],"unk_id":0`:               "reading",
	} {
		if _, err := FromJSON([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromJSON(%s) gives the error %v; it should name %q", raw, err, want)
		}
	}
}

func TestLookup(t *testing.T) {
	m, err := FromJSON([]byte(`{"vocab":[["<unk>",0],["a",-1],["b",-2],["a",-3]],"unk_id":0}`))
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := m.ID("a"); !ok || id != 3 {
		t.Errorf("the id of a is %d, %v; of two the later counts", id, ok)
	}
	if s, ok := m.Token(1); !ok || s != "a" {
		t.Errorf("the token 1 is %q, %v", s, ok)
	}
	if _, ok := m.Token(4); ok {
		t.Error("there is a token 4")
	}
	if got := m.Encode([]int32{9}, "abz"); !slices.Equal(got, []int32{9, 3, 2, 0}) {
		t.Errorf("abz gives %v", got)
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(`{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1.5],["ab",-2],["▁",-3],["é",-1]],"byte_fallback":true}`, "ab▁é\xffx")
	mutate.Fuzz(f, func(t *testing.T, config, text string) {
		m, err := FromJSON([]byte(config))
		if err != nil {
			return
		}
		for _, id := range m.Encode(nil, text) {
			if _, ok := m.Token(id); !ok {
				t.Errorf("%q has the id %d, which is not a token", text, id)
			}
		}
	})
}

// BenchmarkEncode encodes words with a vocabulary of a size that is in use.
func BenchmarkEncode(b *testing.B) {
	vocab := []Token{{"<unk>", 0}}
	for i := range 32000 {
		vocab = append(vocab, Token{"▁" + strconv.FormatInt(int64(i)*7919%1_000_003, 36), -float64(i%977) / 50})
	}
	for c := 'a'; c <= 'z'; c++ {
		vocab = append(vocab, Token{string(c), -12})
	}
	m, err := New(vocab, 0, false)
	if err != nil {
		b.Fatal(err)
	}
	words := strings.Fields(strings.ReplaceAll(" the quick brown fox jumps over it and away again", " ", " ▁"))
	n := 0
	for _, w := range words {
		n += len(w)
	}
	b.SetBytes(int64(n))
	var ids []int32
	for b.Loop() {
		ids = ids[:0]
		for _, w := range words {
			ids = m.Encode(ids, w)
		}
	}
}

// A piece that was encoded before is encoded the same again, whatever came between.
func TestRecall(t *testing.T) {
	m, err := New([]Token{{"<unk>", 0}, {"a", -1}, {"b", -2}, {"ab", -2.5}, {"c", -3}}, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2 * entries { // all places are taken, and most of them again
		b := make([]byte, 1+rng.IntN(maxText+4))
		for i := range b {
			b[i] = "abcd"[rng.IntN(4)]
		}
		piece := string(b)
		got, want := m.Encode(nil, piece), m.encode(nil, new(lattice), piece)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", piece, got, want)
		}
	}
}
