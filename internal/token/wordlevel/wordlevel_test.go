package wordlevel

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
		return func(s string) []int32 {
			if s == "" {
				return nil // models are not asked for the tokens of nothing
			}
			return m.Encode(nil, s)
		}, nil
	})
}

func TestFaults(t *testing.T) {
	for raw, want := range map[string]string{
		`{"unk_token":"<unk>","vocab":{"a":0}}`:          "<unk>",
		`{"vocab":{"a":0}}`:                              "unk_token",
		`{"unk_token":"a"}`:                              "vocab",
		`{"unk_token":"a","vocab":{"a":-1}}`:             "-1",
		`{"type":"BPE","unk_token":"a","vocab":{"a":0}}`: "BPE",
		`{"unk_token":"a","vocab":{"a":0}`:               "reading",
	} {
		if _, err := FromJSON([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromJSON(%s) gives the error %v; it should name %q", raw, err, want)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(`{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"a":7}}`, "a")
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
