package token

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token/decoder"
)

// prose is some of the text that prompts are made of.
func prose(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../prompt/synthetic/opticks.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data[:20_000])
}

// lossy are the tokenizers whose Decode loses what Encode saw: spaces, or unknown
// characters.
var lossy = map[string]bool{"flags": true, "metaspace": true, "whitespace": true, "wordlevel": true, "unk": true, "unk-fused": true}

// Every tokenizer cuts prose to any number of tokens, and the ids come back from
// their text.
func TestCutIsExact(t *testing.T) {
	text := prose(t)
	for _, name := range families(t) {
		t.Run(name, func(t *testing.T) {
			e := family(t, name)
			for _, n := range []int{0, 1, 2, 3, 5, 17, 64, 300} {
				for _, from := range []int{0, 731} {
					begin := from + strings.IndexByte(text[from:], ' ') + 1
					end, ok := e.Cut(text[begin:], n)
					if !ok {
						for i := range 100 {
							if e.Count(text[begin:begin+i]) == n {
								t.Fatalf("no cut of %q to %d tokens", text[begin:begin+i], n)
							}
						}
						continue
					}
					part := text[begin : begin+end]
					ids := e.Encode(part, false)
					if len(ids) != n {
						t.Fatalf("%q has %d tokens, not %d", part, len(ids), n)
					}
					if back := e.Encode(e.Decode(ids, false), false); !slices.Equal(back, ids) && !lossy[name] {
						t.Errorf("the ids of %q come back as %v, not %v", part, back, ids)
					}
				}
			}
		})
	}
}

func TestCutOfTooLittle(t *testing.T) {
	e, err := GPT2()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text string
		n    int
		want string
		ok   bool
	}{
		{"one two", 3, "", false},
		{"one two", -1, "", false},
		{"one two", 2, "one two", true},
		{"one two", 0, "", true},
		{"", 0, "", true},
		{"", 1, "", false},
		{"😀😀", 1, "", false}, // one is two tokens
	} {
		end, ok := e.Cut(tc.text, tc.n)
		if ok != tc.ok || tc.text[:end] != tc.want {
			t.Errorf("Cut(%q, %d) = %q, %v; want %q, %v", tc.text, tc.n, tc.text[:end], ok, tc.want, tc.ok)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, tc := range []struct {
		tokenizer, text string
		want            []string // the text between the ends
	}{
		{"gpt2", "Light  of<|endoftext|>the", []string{"Light", " ", " of", "<|endoftext|>", "the"}},
		{"roberta", "of the", []string{"of", " the"}},
		{"unk", "of the  Light", []string{"of", " the", " ", " Light"}},
		{"qwen", "e\u0301 the", []string{"e\u0301", " the"}},
		{"wordpiece", "Of the, Light", []string{"Of", " the", ",", " Light"}},
	} {
		e := family(t, tc.tokenizer)
		var got []string
		at := 0
		for _, end := range e.Ends(nil, tc.text) {
			got = append(got, tc.text[at:end])
			at = end
		}
		if len(tc.want) > 0 && !slices.Equal(join2(got, tc.want), tc.want) {
			t.Errorf("%s: %q in tokens is %q, want %q", tc.tokenizer, tc.text, got, tc.want)
		}
	}
}

// join2 joins neighbours of got as long as they are parts of what is wanted, since small
// vocabularies split words.
func join2(got, want []string) []string {
	var list []string
	for _, w := range want {
		text := ""
		for len(got) > 0 && len(text)+len(got[0]) <= len(w) {
			text += got[0]
			got = got[1:]
		}
		list = append(list, text)
	}
	if len(got) > 0 {
		list = append(list, got...)
	}
	return list
}

// However a text is cut into events, the counts of the events add up to that of the
// text, and each prefix of events has the tokens that ended in it.
func TestPerEvent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	texts := decodeStrings(t, unpack(t, "strings.jsonl.gz"))
	for _, name := range families(t) {
		e := family(t, name)
		for _, text := range texts[:300] {
			var cuts []int
			for at := 0; at < len(text); {
				at = min(at+rng.IntN(6), len(text))
				cuts = append(cuts, at)
			}
			counts := PerEvent(nil, e, text, cuts)
			sum := 0
			ends := e.Ends(nil, text)
			for i, n := range counts {
				sum += n
				if i < len(counts)-1 {
					ended := 0
					for _, end := range ends {
						if end <= cuts[i] && (end > 0 || cuts[i] > 0) {
							ended++
						}
					}
					if sum != ended {
						t.Fatalf("%s: %q by %v: %v; after event %d there are %d tokens, want %d (%v)", name, text, cuts, counts, i, sum, ended, ends)
					}
				}
			}
			if len(cuts) > 0 && sum != e.Count(text) {
				t.Fatalf("%s: %q by %v: %v, which is not %d in all", name, text, cuts, counts, e.Count(text))
			}
		}
	}
	if got := PerEvent([]int{7}, Words{}, "one two  three", []int{2, 5, 5, 14}); !slices.Equal(got, []int{7, 0, 1, 0, 2}) {
		t.Errorf("words by event: %v", got)
	}
}

func FuzzWordsEnds(f *testing.F) {
	f.Add("a b\u00a0\xffc ")
	mutate.Fuzz(f, func(t *testing.T, text string) {
		ends := Words{}.Ends(nil, text)
		if len(ends) != (Words{}).Count(text) {
			t.Fatalf("%q: ends %v for %d words", text, ends, Words{}.Count(text))
		}
	})
}

// Byte-level tokenizers give back what they encoded, and nothing panics.
func FuzzEncode(f *testing.F) {
	var engines []*Pipeline
	for _, name := range families(f) {
		engines = append(engines, family(f, name))
	}
	for _, s := range []string{"", "it's 12345  \r\n x\u0301 中文!\n", "<|endoftext|> <mask> the [UNK] \t", "\xff\xc3 \xe4\xb8", "▁ ▁▁"} {
		f.Add(s)
	}
	mutate.Fuzz(f, func(t *testing.T, text string) {
		if len(text) > 500 {
			return
		}
		valid := decoder.Valid([]byte(text))
		for _, e := range engines {
			ids := e.Encode(text, false)
			if n := e.Count(valid); n != len(ids) {
				t.Fatalf("%s: %q has %d tokens and Count says %d", e.Name(), text, len(ids), n)
			}
			back := e.Decode(ids, false)
			if e.faithful && e.Name() != "roberta" && back != valid {
				t.Fatalf("%s: %q comes back as %q", e.Name(), text, back)
			}
			if ends := e.Ends(nil, text); len(ends) != len(ids) || !slices.IsSorted(ends) || len(ends) > 0 && ends[len(ends)-1] > len(text) {
				t.Fatalf("%s: %q has ends %v for %d tokens", e.Name(), text, ends, len(ids))
			}
			if end, ok := e.Cut(text, 2); ok && e.Count(text[:end]) != 2 {
				t.Fatalf("%s: %q is cut to %q, which has %d tokens", e.Name(), text, text[:end], e.Count(text[:end]))
			}
		}
	})
}

func FuzzFromJSON(f *testing.F) {
	f.Add([]byte(`{"normalizer":{"type":"Prepend","prepend":"▁"},"pre_tokenizer":null,"decoder":{"type":"Fuse"},"model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":{"<unk>":0,"a":1,"▁":2,"▁a":3,"<0x62>":4},"merges":[["▁","a"]]}}`), "a b")
	f.Add([]byte(`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\w|a+"},"behavior":"Removed","invert":true},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},"decoder":{"type":"ByteLevel"},"model":{"vocab":{"a":0,"b":1},"merges":[],"ignore_merges":true}}`), "ab a")
	f.Add([]byte(`{"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"x":{"ids":[1]}}},"model":{"type":"WordLevel","vocab":{"a":0,"u":1},"unk_token":"u"},"padding":{}}`), "a")
	f.Add([]byte(`{"added_tokens":[{"id":3,"content":"x","lstrip":true}],"normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},"post_processor":{"type":"BertProcessing","sep":["a",1],"cls":["b",2]},"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"Ġ":1,"Ġa":2},"merges":["Ġ a"]}}`), "x a")
	mutate.Fuzz(f, func(t *testing.T, data []byte, text string) {
		e, err := FromJSON("fuzz", data)
		if err != nil {
			return
		}
		ids := e.Encode(text, true)
		e.Decode(ids, true)
		if ends, n := e.Ends(nil, text), e.Count(text); len(ends) != n {
			t.Fatalf("%d tokens and %d ends", n, len(ends))
		}
		e.Cut(text, 2)
	})
}
