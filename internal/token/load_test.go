package token

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/token/decoder"
)

// small is a tokenizer.json with one component replaced.
func small(key, value string) string {
	parts := map[string]string{
		"normalizer": "null", "pre_tokenizer": `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}`,
		"post_processor": "null", "decoder": `{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}`,
		"added_tokens": "[]", "model": `{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"Ġ":3},"merges":["a b"]}`,
	}
	parts[key] = value
	var b strings.Builder
	b.WriteString(`{"version":"1.0"`)
	for _, k := range []string{"normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens", "truncation", "padding", "model", "after"} {
		if v, ok := parts[k]; ok {
			b.WriteString(`,"` + k + `":` + v)
		}
	}
	return b.String() + "}"
}

func TestFaultyFiles(t *testing.T) {
	for _, tc := range []struct{ key, value, want string }{
		{"model", `{"type":"Markov"}`, `unknown model type "Markov"`},
		{"model", `{"type":"BPE","vocab":{"a":0},"merges":["a b"]}`, "merge 0"},
		{"model", `7`, "the model"},
		{"normalizer", `{"type":"Upside"}`, "Upside"},
		{"pre_tokenizer", `{"type":"Saw"}`, "Saw"},
		{"pre_tokenizer", `{"type":"Sequence","pretokenizers":[{"type":"Saw"},{"type":"ByteLevel","add_prefix_space":false}]}`, "Saw"},
		{"decoder", `{"type":"Ring"}`, "Ring"},
		{"post_processor", `{"type":"Stamp"}`, `unknown post-processor "Stamp"`},
		{"post_processor", `{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}},{"Sequence":{"id":"A"}}],"special_tokens":{}}`, `"x", but has no ids`},
		{"post_processor", `{"type":"TemplateProcessing","single":[{"Sequence":{"id":"B"}}]}`, "neither a special token nor the text"},
		{"post_processor", `{"type":"TemplateProcessing","single":[]}`, "0 times"},
		{"post_processor", `{"type":"BertProcessing","sep":["x"],"cls":["y",1]}`, "sep is not a token and its id"},
		{"added_tokens", `[{"id":"x"}]`, "the added tokens"},
		{"after", `[`, "not a tokenizer.json"},
	} {
		_, err := FromJSON("x.json", []byte(small(tc.key, tc.value)))
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "x.json") {
			t.Errorf("%s %s: %v\nwant %q in it", tc.key, tc.value, err, tc.want)
		}
	}
	for _, text := range []string{"", "{}", "[]", "null", `{"model":null}`} {
		if _, err := FromJSON("x.json", []byte(text)); err == nil {
			t.Errorf("%q is taken for a tokenizer.json", text)
		}
	}
}

// The model need not come last, and settings that do not count are said.
func TestOddFiles(t *testing.T) {
	for key, value := range map[string]string{"version": `"1.0"`, "after": `{"x":1}`, "truncation": `{"max_length":3}`, "padding": "null"} {
		e, err := FromJSON("x", []byte(small(key, value)))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Encode("ab aab", false); !slices.Equal(got, []int32{2, 3, 0, 2}) {
			t.Errorf("with %s: %v", key, got)
		}
		if notes := e.Notes(); (len(notes) > 0) != (key == "truncation") {
			t.Errorf("with %s: notes %q", key, notes)
		}
	}
}

func TestSpecialTokens(t *testing.T) {
	for _, tc := range []struct {
		post string
		want []int32
	}{
		{`null`, []int32{2}},
		{`{"type":"ByteLevel","trim_offsets":false}`, []int32{2}},
		{`{"type":"BertProcessing","sep":["[SEP]",9],"cls":["[CLS]",8]}`, []int32{8, 2, 9}},
		{`{"type":"RobertaProcessing","sep":["</s>",9],"cls":["<s>",8],"trim_offsets":true,"add_prefix_space":false}`, []int32{8, 2, 9}},
		{`{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"BertProcessing","sep":["a",9],"cls":["b",8]},{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"s","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"s":{"id":"s","ids":[5,6],"tokens":["x","y"]}}}]}`, []int32{5, 6, 8, 2, 9}},
	} {
		e, err := FromJSON("x", []byte(small("post_processor", tc.post)))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Encode("ab", true); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.post, got, tc.want)
		}
		if got := e.Encode("ab", false); !slices.Equal(got, []int32{2}) {
			t.Errorf("%s without special tokens: %v", tc.post, got)
		}
	}
}

// Tokens that the model does not have get the ids after all others, whatever the file
// says; those that it has keep theirs.
func TestAddedIDs(t *testing.T) {
	e, err := FromJSON("x", []byte(small("added_tokens", `[{"id":77,"content":"<x>","special":true},{"id":1,"content":"b"},{"id":78,"content":"<y>"},{"id":0,"content":""}]`)))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Encode("a<x>bab<y>", false); !slices.Equal(got, []int32{0, 4, 1, 0, 1, 5}) {
		t.Errorf("got %v", got)
	}
	if got := e.Decode([]int32{4, 2, 5, 99, -1}, true); got != "ab<y>" {
		t.Errorf("decoded %q", got)
	}
	if id, ok := e.ID("<y>"); id != 5 || !ok {
		t.Errorf("ID(<y>) = %d, %v", id, ok)
	}
}

// A pair of files as GPT-2 has them.
func TestFromPair(t *testing.T) {
	vocab := []byte(`{"a":0,"b":1,"ab":2,"Ġ":3,"<|endoftext|>":4}`)
	e, err := FromPair("x", vocab, []byte("#version: 0.2\na b\r\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Encode("ab a<|endoftext|>", false); !slices.Equal(got, []int32{2, 3, 0, 4}) {
		t.Errorf("from a pair: %v", got)
	}
	if _, err := FromPair("x", vocab, []byte("a b c\n")); err == nil || !strings.Contains(err.Error(), "two tokens") {
		t.Errorf("a faulty merges.txt: %v", err)
	}
}

// FromPair and the compiled-in tokenizer agree.
func TestFromPairIsBuiltin(t *testing.T) {
	e, err := GPT2()
	if err != nil {
		t.Fatal(err)
	}
	vocab := map[string]int32{}
	merges := "#version: 0.2\n"
	if _, ok := e.ID("<|endoftext|>"); !ok {
		t.Error("no <|endoftext|>")
	}
	for id := range int32(256) {
		token, _ := e.Token(id)
		vocab[alphabetOf(token)] = id
	}
	data, err := json.Marshal(vocab)
	if err != nil {
		t.Fatal(err)
	}
	p, err := FromPair("bytes", data, []byte(merges))
	if err != nil {
		t.Fatal(err)
	}
	text := "it's é中😀\n"
	if got := p.Encode(text, false); len(got) != len(text) || p.Decode(got, false) != text {
		t.Errorf("bytes alone: %v", got)
	}
}

// alphabetOf writes bytes in the alphabet of byte-level tokenizers.
func alphabetOf(raw string) string {
	var b strings.Builder
	for i := range len(raw) {
		next := rune(0x100)
		for c := range raw[i] {
			if !(c >= '!' && c <= '~' || c >= 0xa1 && c <= 0xac || c >= 0xae) {
				next++
			}
		}
		if c := raw[i]; c >= '!' && c <= '~' || c >= 0xa1 && c <= 0xac || c >= 0xae {
			next = rune(c)
		}
		b.WriteRune(next)
	}
	return b.String()
}

func TestValid(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb": "a\ufffdb", "\xe4\xb8": "\ufffd", "\xe4\xb8x": "\ufffdx", "\xe4\xff": "\ufffd\ufffd", "\xed\xa0\x80": "\ufffd\ufffd\ufffd", "\xf0\x9f\x98": "\ufffd", "\xf0\x9f\x98\x80": "😀", "\xc0\x80": "\ufffd\ufffd", "\xf5": "\ufffd", "\xe0\x80": "\ufffd\ufffd", "\ufffd": "\ufffd",
	} {
		if got := decoder.Valid([]byte(in)); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// Many goroutines get what one gets, from every family.
func TestConcurrent(t *testing.T) {
	texts := decodeStrings(t, unpack(t, "strings.jsonl.gz"))[:200]
	for _, name := range []string{"gpt2", "llama2", "qwen", "unigram", "wordpiece", "wordlevel", "flags", "unknown-split"} {
		e := family(t, name)
		var want [][]int32
		for _, s := range texts {
			want = append(want, e.Encode(s, false))
		}
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() {
				for i := range texts {
					k := (i*7 + g*31) % len(texts)
					if got := e.Encode(texts[k], false); !slices.Equal(got, want[k]) {
						t.Errorf("%s: %q is %v, and %v among others", name, texts[k], want[k], got)
						return
					}
					if n := e.Count(texts[k]); n != len(want[k]) {
						t.Errorf("%s: Count(%q) = %d, want %d", name, texts[k], n, len(want[k]))
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
