package decoder

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token/regex"
	"github.com/inferometer/inferometer/internal/token/tokentest"
)

func TestTruth(t *testing.T) {
	tokentest.Compare(t, func(config []byte) (func([]string) string, error) {
		d, err := FromJSON(config)
		if err != nil {
			return nil, err
		}
		return func(tokens []string) string { return strings.Join(d.Decode(tokens), "") }, nil
	})
}

func TestFaults(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"Foo"}`: "Foo",
		`{}`:             "type",
		`{"type":"Sequence","decoders":[{"type":"Bar"}]}`:    "Bar",
		`{"type":"Strip","content":"ab","start":0,"stop":0}`: "one character",
		`{"type":"Strip","content":"a","start":-1,"stop":0}`: "below 0",
		`{"type":"WordPiece"}`:                               "prefix",
		`{"type":"Metaspace"}`:                               "replacement",
		`{"type":"BPEDecoder"}`:                              "suffix",
		`{"type":"CTC"}`:                                     "pad_token",
		`{"type":"Replace"}`:                                 "pattern",
	} {
		if _, err := FromJSON([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromJSON(%s) gives the error %v; it should name %q", raw, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ByteLevel"}`, `{"type":"WordPiece","prefix":"##","cleanup":true}`, `{"type":"Strip","content":" ","start":3,"stop":3}`,
		`{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]}`,
		`{"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true}`,
	} {
		f.Add(seed, "▁a,<0xE4>,<0x80>,##b,Ġc, ,   ,,\xff")
	}
	mutate.Fuzz(f, func(t *testing.T, config, tokens string) {
		if len(tokens) > 200 {
			return
		}
		d, err := FromJSON([]byte(config))
		if d == nil || err != nil {
			return
		}
		defer func() {
			r := recover()
			if _, ok := r.(*regex.LimitError); r != nil && !ok {
				panic(r)
			}
		}()
		d.Decode(strings.Split(tokens, ","))
		d.Decode(nil)
	})
}
