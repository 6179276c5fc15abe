package sessions

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/filetest"
)

// mooncake is a trace as Mooncake publishes them: rows with a timestamp, lengths and a hash
// for each 512 tokens, about half of which go on from an earlier one.
func mooncake(rows int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	type row struct {
		length int
		hashes []int64
	}
	var all []row
	var b bytes.Buffer
	next := int64(1)
	for i := range rows {
		one := row{min(512+int(100*rng.ExpFloat64()*rng.ExpFloat64()*rng.ExpFloat64()*40), 120_000), []int64{0}}
		if i > 0 && rng.IntN(2) == 0 {
			from := all[max(0, i-500)+rng.IntN(i-max(0, i-500))]
			one = row{min(from.length+20+int(800*rng.ExpFloat64()), 122_000), slices.Clone(from.hashes[:from.length/block])}
		}
		for len(one.hashes)*block < one.length {
			one.hashes = append(one.hashes, next)
			next++
		}
		all = append(all, one)
		fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%s]}`+"\n",
			i*300, one.length, 1+rng.IntN(500), strings.Trim(strings.ReplaceAll(fmt.Sprint(one.hashes), " ", ", "), "[]"))
	}
	return b.Bytes()
}

// follow checks that prompts have exactly the tokens that their lines say, and that a hash
// is the same tokens wherever it stands.
func follow(t *testing.T, tok *token.Pipeline, trace []byte, each int) {
	t.Helper()
	s, err := NewPayload(plan.Data{File: "trace", Payload: plan.Payload{Alone: true}}, tok, 3, made, func(string) ([]byte, error) { return trace, nil })
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]blocktext.Coded, len(s.sessions))
	for i, k := range s.sessions {
		codes[i] = *k[0].coded
	}
	if err := s.Open(t.Context(), prompt.Use{}); err != nil {
		t.Fatal(err)
	}
	known := map[int64][]int32{}
	for i := 0; i < len(codes); i += each {
		p, err := s.Prompt(t.Context(), prompt.Position{I: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		ids := tok.Encode(p.Text, false)
		if len(ids) != codes[i].Length || p.Tokens != len(ids) || p.Hash != prompt.HashText(p.Text) {
			t.Fatalf("row %d: %d tokens, said to be %d, want %d", i, len(ids), p.Tokens, codes[i].Length)
		}
		for at, hash := range codes[i].Hashes {
			part := ids[at*block : min(len(ids), (at+1)*block)]
			same := min(len(part), len(known[hash]))
			if !slices.Equal(part[:same], known[hash][:same]) {
				t.Fatalf("row %d: the tokens of hash %d are not those of another row", i, hash)
			}
			if len(part) > same {
				known[hash] = part
			}
		}
	}
}

// Blocks join token by token, with tokenizers of every family.
func TestBlocksJoin(t *testing.T) {
	trace := append([]byte(`{"timestamp":0,"input_length":1536,"output_length":5,"hash_ids":[0,1,2]}`+"\n"), mooncake(5, 5)...)
	files, err := filepath.Glob("../../token/testdata/*.json.gz")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d tokenizers: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json.gz"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			tok, err := token.FromJSON("small", data)
			if err != nil {
				t.Fatal(err)
			}
			follow(t, tok, trace, 1)
		})
	}
}

// A trace of the real size, with the tokenizers of real models.
func TestRealBlocks(t *testing.T) {
	filetest.Peers(t) // skips it before the work
	trace := mooncake(12_000, 1)
	filetest.Vocabularies(t, func(t *testing.T, tok *token.Pipeline) {
		follow(t, tok, trace, 200)
	})
}
