package tekken

import (
	"strings"
	"testing"

	"inferometer/internal/token/filetest"
)

func TestSmall(t *testing.T) { filetest.Small(t, "../filetest/testdata", "*.json", Read) }

func TestReal(t *testing.T) { filetest.Real(t, "*.json", Read) }

func TestFaults(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"no JSON", "x", "it is not a tekken.json"},
		{"other JSON", `{"model": {}}`, "it has no config, pattern or vocab"},
		{"sizes", `{"config": {"pattern": ".", "default_vocab_size": 9, "default_num_special_tokens": 2}, "vocab": [{"rank": 0, "token_bytes": "AA=="}]}`, "a vocabulary of 9 with 2 special tokens does not fit its 1 ranks"},
		{"rank", `{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2}, "vocab": [{"rank": -5, "token_bytes": "AA=="}]}`, "token 0 has the rank -5"},
		{"base64", `{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2}, "vocab": [{"rank": 0, "token_bytes": "!"}]}`, "are not base64"},
		{"cut short", `{"config": {"pattern": "."}, "vocab": [{"rank": 0`, "it is not a tekken.json: byte"},
		{"twice", `{"config": {"pattern": "."}, "vocab": [{"rank": 0, "token_bytes": "AA=="}, {"rank": 0, "token_bytes": "AQ=="}]}`, "rank 0 has no bytes, or is there twice"},
		{"bytes", `{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2}, "vocab": [{"rank": 0, "token_bytes": "AA=="}]}`, "no token for the byte 0x01"},
	} {
		_, err := Read("f", []byte(tc.data))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2, "version": "v3"}, "vocab": [{"rank": 0, "token_bytes": "AA=="}]}`), "a")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		e, err := Read("f", data)
		if err == nil {
			e.Decode(e.Encode(text, true), false)
		}
	})
}
