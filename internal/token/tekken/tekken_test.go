package tekken

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token/filetest"
)

func TestSmall(t *testing.T) { filetest.Small(t, "../filetest/testdata", "*.json", Read) }

func TestReal(t *testing.T) { filetest.Real(t, "*.json", Read) }

func TestFaults(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"no JSON", "x", "it is not a tekken.json"},
		{"other JSON", `{"model": {}}`, "it has no config, pattern or vocab"},
		{"sizes", `{"config": {"pattern": ".", "default_vocab_size": 9, "default_num_special_tokens": 2}, "vocab": [{"rank": 0, "token_bytes": "AA=="}]}`, "a vocabulary of 9 tokens, 2 of them special, does not match its 1 ranks"},
		{"rank", `{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2}, "vocab": [{"rank": -5, "token_bytes": "AA=="}]}`, "token 0 has the invalid rank -5"},
		{"base64", `{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2}, "vocab": [{"rank": 0, "token_bytes": "!"}]}`, "are not base64"},
		{"cut short", `{"config": {"pattern": "."}, "vocab": [{"rank": 0`, "it is not a tekken.json: byte"},
		{"twice", `{"config": {"pattern": "."}, "vocab": [{"rank": 0, "token_bytes": "AA=="}, {"rank": 0, "token_bytes": "AQ=="}]}`, "rank 0 has no bytes or appears twice"},
		{"bytes", `{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2}, "vocab": [{"rank": 0, "token_bytes": "AA=="}]}`, "no token for the byte 0x01"},
	} {
		_, err := Read("f", []byte(tc.data))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
}

func TestSpecialNames(t *testing.T) {
	var vocab []string
	for b := range 256 {
		vocab = append(vocab, fmt.Sprintf(`{"rank": %d, "token_bytes": %q}`, b, base64.StdEncoding.EncodeToString([]byte{byte(b)})))
	}
	file := func(version, special string) []byte {
		return []byte(`{"config": {"pattern": "[a-z]+|.", "default_vocab_size": 260, "default_num_special_tokens": 4, "version": "` + version + `"}, "vocab": [` +
			strings.Join(vocab, ",") + `]` + special + `}`)
	}
	e, err := Read("f", file("v13", `, "special_tokens": [{"rank": 2, "token_str": "<s>", "is_control": true}, {"rank": 0, "token_str": "[THINK]"}]`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Encode("a<s>", true), []int32{2, 4 + 'a', 4 + '<', 4 + 's', 4 + '>'}; !slices.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
	if got := e.Decode([]int32{2, 4 + 'a', 0, 3}, false); got != "<s>a[THINK]<SPECIAL_3>" {
		t.Errorf("decoded %q", got)
	}
	if got := e.Decode([]int32{2, 4 + 'a', 0, 3}, true); got != "a" {
		t.Errorf("decoded %q", got)
	}
	for special, want := range map[string]string{
		"": `its version is "v13", and it has no special_tokens`,
		`, "special_tokens": [{"rank": 9, "token_str": "x"}]`:                                `the special token "x" has the rank 9`,
		`, "special_tokens": [{"rank": 1, "token_str": "x"}, {"rank": 1, "token_str": "y"}]`: `the special token "y" has the rank 1`,
	} {
		if _, err := Read("f", file("v13", special)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"config": {"pattern": ".", "default_vocab_size": 3, "default_num_special_tokens": 2, "version": "v3"}, "vocab": [{"rank": 0, "token_bytes": "AA=="}]}`), "a")
	mutate.Fuzz(f, func(t *testing.T, data []byte, text string) {
		e, err := Read("f", data)
		if err == nil {
			e.Decode(e.Encode(text, true), false)
		}
	})
}
