package bpe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// naive is byte-pair encoding as one would write it down: it looks at all pairs for
// each merge.
func naive(c Config, piece string) []int32 {
	id := map[string]int32{}
	for i, t := range c.Tokens {
		if t != "" {
			id[t] = int32(i)
		}
	}
	if whole, ok := id[piece]; ok && c.IgnoreMerges {
		return []int32{whole}
	}
	var units []string
	if c.Raw {
		for i := range len(piece) {
			units = append(units, piece[i:i+1])
		}
	} else {
		for _, r := range piece {
			units = append(units, string(r))
		}
	}
	var ids []int32
	unknown, pending := id[c.Unknown], 0
	for i, u := range units {
		if i > 0 {
			u = c.Prefix + u
		}
		if i == len(units)-1 {
			u += c.Suffix
		}
		if known, ok := id[u]; ok {
			for ; pending > 0; pending-- {
				ids = append(ids, unknown)
			}
			ids = append(ids, known)
			continue
		}
		if c.ByteFallback {
			var all []int32
			for _, b := range []byte(u) {
				if t, ok := id[fmt.Sprintf("<0x%02X>", b)]; ok {
					all = append(all, t)
				}
			}
			if len(all) == len(u) {
				ids = append(ids, all...)
				continue
			}
		}
		switch {
		case c.Unknown == "":
		case pending > 0 && !c.FuseUnknown:
			ids = append(ids, unknown)
		default:
			pending = 1
		}
	}
	for ; pending > 0; pending-- {
		ids = append(ids, unknown)
	}
	for {
		at, best := -1, Merge{}
		for i := range len(ids) - 1 {
			for _, g := range c.Merges {
				if g.Left == ids[i] && g.Right == ids[i+1] && (at < 0 || g.Rank < best.Rank) {
					at, best = i, g
				}
			}
		}
		if at < 0 {
			return ids
		}
		ids = append(append(slices.Clone(ids[:at]), best.New), ids[at+2:]...)
	}
}

// random makes a configuration with merges of merges over a few letters.
func random(rng *rand.Rand, mode int) Config {
	c := Config{Raw: mode%4 == 1, IgnoreMerges: mode%3 == 1, FuseUnknown: mode%2 == 0}
	if mode%4 != 1 {
		c.ByteFallback = mode%4 == 2
		if mode%4 != 3 {
			c.Unknown = "<unk>"
			c.Tokens = append(c.Tokens, "<unk>")
		}
	}
	if c.ByteFallback {
		for b := range 256 {
			if mode%5 != 0 || b != 0x84 { // without it, "τ" is unknown
				c.Tokens = append(c.Tokens, fmt.Sprintf("<0x%02X>", b))
			}
		}
	}
	first := len(c.Tokens)
	for _, r := range "abc▁é" {
		if c.Raw {
			for _, b := range []byte(string(r)) {
				if t := string([]byte{b}); !slices.Contains(c.Tokens, t) {
					c.Tokens = append(c.Tokens, t)
				}
			}
		} else {
			c.Tokens = append(c.Tokens, string(r))
		}
	}
	if mode%7 == 5 && !c.Raw {
		c.Suffix = "$"
		c.Tokens = append(c.Tokens, "a$", "b$", "é$")
	}
	for rank := uint32(0); rank < 24; rank++ {
		l := first + rng.IntN(len(c.Tokens)-first)
		r := first + rng.IntN(len(c.Tokens)-first)
		if strings.HasSuffix(c.Tokens[l], "$") {
			continue
		}
		joint := c.Tokens[l] + c.Tokens[r]
		n := slices.Index(c.Tokens, joint)
		if n < 0 {
			n = len(c.Tokens)
			c.Tokens = append(c.Tokens, joint)
		}
		g := Merge{int32(l), int32(r), int32(n), rank}
		if !slices.ContainsFunc(c.Merges, func(o Merge) bool { return o.Left == g.Left && o.Right == g.Right }) {
			c.Merges = append(c.Merges, g)
		}
	}
	return c
}

func TestEncodeAgreesWithNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aabbcc▁▁éτ中😀")
	for mode := range 140 {
		c := random(rng, mode)
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			n := rng.IntN(12)
			if rng.IntN(8) == 0 {
				n = 100 + rng.IntN(100) // long enough for the heap
			}
			var b strings.Builder
			for range n {
				b.WriteRune(alphabet[rng.IntN(len(alphabet))])
			}
			piece := b.String()
			want := naive(c, piece)
			for range 2 { // the second time from the cache
				if got := m.Encode(nil, piece); !slices.Equal(got, want) {
					t.Fatalf("mode %d: Encode(%q) = %v, want %v\nof %q\n%v", mode, piece, got, want, c.Tokens, c.Merges)
				}
			}
		}
	}
}

// A model of ranks merges as one whose merges are written down.
func TestFromRanks(t *testing.T) {
	var tokens []string
	for b := range 256 {
		tokens = append(tokens, string([]byte{byte(b)}))
	}
	tokens = append(tokens, "ab", "bc", "abc", "abcd", "", "cd")
	m, err := FromRanks(tokens)
	if err != nil {
		t.Fatal(err)
	}
	for piece, want := range map[string][]int32{
		"abc": {258}, "abcd": {259}, "bcd": {257, 'd'}, "xcd": {'x', 261}, "abbc": {256, 257}, "aab": {'a', 256}, "é": {0xc3, 0xa9},
	} {
		if got := m.Encode(nil, piece); !slices.Equal(got, want) {
			t.Errorf("Encode(%q) = %v, want %v", piece, got, want)
		}
	}
	if _, err := FromRanks(tokens[1:]); err == nil {
		t.Error("ranks without a token for byte 0 are taken")
	}
}

// The higher score is merged first, whatever the ids.
func TestFromScores(t *testing.T) {
	c := Config{Tokens: []string{"<unk>", "a", "b", "c", "ab", "bc", "abc"}, Unknown: "<unk>"}
	for _, tc := range []struct {
		scores []float32
		merged func(int32) bool
		want   []int32
	}{
		{[]float32{0, 0, 0, 0, -1, -2, -3}, nil, []int32{6}},
		{[]float32{0, 0, 0, 0, -2, -1, -3}, nil, []int32{6}},
		{[]float32{0, 0, 0, 0, -1, -2, -3}, func(id int32) bool { return id != 6 }, []int32{4, 3}},
		{[]float32{0, 0, 0, 0, -2, -1, -3}, func(id int32) bool { return id != 6 }, []int32{1, 5}},
		{[]float32{0, 0, 0, 0, -1, -1, -3}, func(id int32) bool { return id != 6 }, []int32{4, 3}},
	} {
		m, err := FromScores(c, tc.scores, tc.merged)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Encode(nil, "abc"); !slices.Equal(got, tc.want) {
			t.Errorf("with scores %v: %v, want %v", tc.scores, got, tc.want)
		}
	}
	if _, err := FromScores(c, nil, nil); err == nil {
		t.Error("scores that are not there are taken")
	}
}

func TestFaultyModels(t *testing.T) {
	for _, tc := range []struct{ json, want string }{
		{`{}`, "no vocab"},
		{`{"vocab":{"a":0}}`, "no merges"},
		{`{"vocab":{"a":-1},"merges":[]}`, `the token "a" has the id -1`},
		{`{"vocab":{"a":99999999999},"merges":[]}`, "ids are between"},
		{`{"vocab":{"a":0},"merges":["a b"]}`, "not both in the vocabulary"},
		{`{"vocab":{"a":0,"b":1},"merges":["a b"]}`, "not in the vocabulary"},
		{`{"vocab":{"a":0},"merges":["ab"]}`, "two tokens with a space between"},
		{`{"vocab":{"a":0},"merges":["a b c"]}`, "two tokens with a space between"},
		{`{"vocab":{"a":0},"merges":[["a","a","a"]]}`, "a pair of tokens"},
		{`{"vocab":{"a":0},"merges":[],"dropout":0.1}`, "dropout of 0.1"},
		{`{"vocab":{"a":0},"merges":[],"unk_token":"x"}`, `"x", is not in the vocabulary`},
		{`{"vocab":{"a":0},"merges":[]`, "the BPE model"},
		{`{"vocab":{"a":0},"merges":[]} x`, "the BPE model"},
		{`[]`, "the BPE model"},
	} {
		for _, raw := range []bool{false, true} {
			if _, err := FromJSON([]byte(tc.json), raw); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("FromJSON(%s): %v; want %q in it", tc.json, err, tc.want)
			}
		}
	}
}

func TestJSONInAnyOrder(t *testing.T) {
	for _, text := range []string{
		`{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}`,
		`{"merges":[["a","b"]],"vocab":{"\u0061":0,"b":1,"ab":2},"dropout":null}`,
		`{"dropout":0.0,"extra":{"x":[1]},"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}`,
	} {
		m, err := FromJSON([]byte(text), false)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Encode(nil, "abab"); !slices.Equal(got, []int32{2, 2}) {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Many goroutines get what one gets.
// TestManyMerges reads more merges than are looked up at a time, written in all
// forms, with some whose texts share a slot of the index.
func TestManyMerges(t *testing.T) {
	var vocab, merges []string
	id := map[string]int{}
	add := func(text string) {
		id[text] = len(vocab)
		vocab = append(vocab, fmt.Sprintf("%q:%d", text, len(vocab)))
	}
	var letters []string
	for c := 'a'; c <= 'z'; c++ {
		letters = append(letters, string(c))
	}
	for _, c := range letters {
		add(c)
	}
	for i, a := range letters {
		for _, b := range letters {
			add(a + b)
			switch i % 4 {
			case 0:
				merges = append(merges, fmt.Sprintf("[%q,%q]", a, b))
			case 1:
				merges = append(merges, fmt.Sprintf("[\n      %q,\n      %q\n    ]", a, b))
			case 2:
				merges = append(merges, fmt.Sprintf("%q", a+" "+b))
			case 3:
				merges = append(merges, fmt.Sprintf(`["\u%04x",%q]`, a[0], b))
			}
		}
	}
	if len(merges) <= 2*batch {
		t.Fatalf("%d merges are too few", len(merges))
	}
	model := func(merges []string) string {
		return `{"type":"BPE","vocab":{` + strings.Join(vocab, ",") + `},"merges":[` + strings.Join(merges, ",") + `]}`
	}
	m, err := FromJSON([]byte(model(merges)), false)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range id {
		if got := m.Encode(nil, text); len(got) != 1 || int(got[0]) != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
	for _, bad := range []string{`["a","1"]`, `["aa","b"]`, `"a b c"`, `["a"`, `[1,2]`, `["a","b","c"]`} {
		for _, at := range []int{0, batch - 1, batch, len(merges) - 1} {
			list := slices.Clone(merges)
			list[at] = bad
			if _, err := FromJSON([]byte(model(list)), false); err == nil {
				t.Errorf("merge %d is %s, and there is no error", at, bad)
			}
		}
	}
}

func TestConcurrent(t *testing.T) {
	c := random(rand.New(rand.NewPCG(3, 4)), 0)
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	want := m.Encode(nil, "abcab▁cabé")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if got := m.Encode(nil, "abcab▁cabé"); !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzFromJSON(f *testing.F) {
	f.Add([]byte(`{"type":"BPE","unk_token":"a","vocab":{"a":0,"b":1,"ab":2,"<0x41>":3},"merges":["a b"],"byte_fallback":true}`), "abxé", false)
	f.Add([]byte(`{"vocab":{"a":0,"Ġ":1,"aĠ":2},"merges":[["a","Ġ"]],"ignore_merges":true,"end_of_word_suffix":"a"}`), "a b", true)
	mutate.Fuzz(f, func(t *testing.T, data []byte, text string, raw bool) {
		m, err := FromJSON(data, raw)
		if err != nil {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		for _, id := range m.Encode(nil, text) {
			if _, ok := m.Token(id); !ok {
				t.Fatalf("id %d of %q has no token", id, text)
			}
		}
	})
}
