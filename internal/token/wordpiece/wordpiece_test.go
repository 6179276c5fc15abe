package wordpiece

import (
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
	const rest = `"continuing_subword_prefix":"##","max_input_chars_per_word":100`
	for raw, want := range map[string]string{
		`{"unk_token":"[UNK]","vocab":{"a":0},` + rest + `}`:                 "[UNK]",
		`{"unk_token":"a","vocab":{"a":0},"continuing_subword_prefix":"##"}`: "max_input_chars_per_word",
		`{"unk_token":"a",` + rest + `}`:                                     "vocab",
		`{"unk_token":"a","vocab":{"a":-1},` + rest + `}`:                    "-1",
		`{"unk_token":"a","vocab":{"a":99999999},` + rest + `}`:              "99999999",
		`{"type":"BPE","unk_token":"a","vocab":{"a":0},` + rest + `}`:        "BPE",
		`{"unk_token":"a","vocab":{"a":"b"},` + rest + `}`:                   "reading",
	} {
		if _, err := FromJSON([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromJSON(%s) gives the error %v; it should name %q", raw, err, want)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(`{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":9,"vocab":{"[UNK]":0,"a":1,"##b":2,"##é":5}}`, "abé")
	mutate.Fuzz(f, func(t *testing.T, config, text string) {
		m, err := FromJSON([]byte(config))
		if err != nil {
			return
		}
		for _, id := range m.Encode(nil, text) {
			if s, ok := m.Token(id); !ok {
				t.Errorf("%q has the id %d, which is not a token", text, id)
			} else if back, ok := m.ID(s); !ok || back != id {
				t.Errorf("the token %q of id %d has the id %d, %v", s, id, back, ok)
			}
		}
	})
}
