package tiktoken

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/filetest"
	"github.com/inferometer/inferometer/internal/token/scan"
)

func readSmall(name string, data []byte) (*token.Pipeline, error) {
	return Read(name, data, Options{Pattern: scan.CL100KRanks, Special: map[string]int32{"<|endoftext|>": 800, "<|im_start|>": 801}})
}

func TestSmall(t *testing.T) {
	filetest.Small(t, "../filetest/testdata", "*.tiktoken", readSmall)
}

func TestReal(t *testing.T) {
	filetest.Real(t, "*.tiktoken", func(name string, data []byte) (*token.Pipeline, error) {
		return Read(name, data, Options{})
	})
}

// TestSpecial compares the tables of special tokens with those of the references.
func TestSpecial(t *testing.T) {
	python := filepath.Join(filetest.Peers(t), "venv", "bin", "python")
	out, err := exec.Command(python, "../../../scripts/token-files.py", "special").Output()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]json.RawMessage
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for _, e := range encodings() {
		if want[e.name] == nil && strings.HasPrefix(e.name, "kimi") {
			continue // no package has their names
		}
		var pattern string
		var special map[string]int32
		if json.Unmarshal(want[e.name][0], &pattern) != nil || json.Unmarshal(want[e.name][1], &special) != nil {
			t.Fatalf("%s: %s", e.name, want[e.name])
		}
		if e.pattern != pattern {
			t.Errorf("%s: pattern\n%s, want\n%s", e.name, e.pattern, pattern)
		}
		if diff := cmp.Diff(special, e.special); diff != "" {
			t.Errorf("%s: special tokens (-want +got):\n%s", e.name, diff)
		}
	}
}

func TestFaults(t *testing.T) {
	bytes := ""
	for b := range 256 {
		line, err := json.Marshal([]byte{byte(b)})
		if err != nil {
			t.Fatal(err)
		}
		bytes += strings.Trim(string(line), `"`) + " " + string(mustJSON(t, b)) + "\n"
	}
	for _, tc := range []struct {
		name, data string
		o          Options
		want       string
	}{
		{"empty", "", Options{}, "it is empty"},
		{"no rank", "AA==\n", Options{}, "line 1: expected a token in base64, a space and a rank"},
		{"no base64", "AA== 0\n!! 1\n", Options{}, "line 2: the token is not base64"},
		{"bad rank", "AA== -1", Options{}, `line 1: "-1" is not a rank`},
		{"huge rank", "AA== 99999999", Options{}, "is not a rank"},
		{"twice", "AA== 0\nAQ== 0", Options{}, "line 2: the rank 0 is given twice"},
		{"unknown", bytes, Options{}, "no known encoding has 256 ranks; known: r50k_base (50256)"},
		{"unknown name", bytes, Options{Encoding: "x"}, `unknown encoding "x"; known: r50k_base`},
		{"wrong name", bytes, Options{Encoding: "qwen"}, "it has 256 ranks; the encoding qwen has 151643"},
		{"bytes missing", "AA== 0", Options{Pattern: "."}, "no token for the byte 0x01"},
		{"clash", bytes, Options{Pattern: ".", Special: map[string]int32{"<x>": 7}}, "the special token <x> has the id 7, which is also a rank"},
	} {
		_, err := Read("f", []byte(tc.data), tc.o)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "rank file f") {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
	if !Is([]byte("AA== 0\nAQ== 1\n")) || Is([]byte("{\"a\": 1}")) || Is(nil) {
		t.Error("Is takes one for the other")
	}
	if len(encodings()) != 11 {
		t.Error(encodings())
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("AA== 0\nAQ== 1\n"), "a\n")
	f.Add([]byte("AA== 100000\r\n\r\n"), "x")
	mutate.Fuzz(f, func(t *testing.T, data []byte, text string) {
		Is(data)
		e, err := readSmall("f", data)
		if err == nil {
			e.Decode(e.Encode(text, true), false)
		}
	})
}
