package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTokenizerNotes runs with a tokenizer whose file has settings without effect, and
// whose expression takes for ever on what the server answers.
func TestTokenizerNotes(t *testing.T) {
	s := serve(t, nil)
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	err := os.WriteFile(file, []byte(`{"truncation":{"max_length":3},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?=(?:[a-z ]|[a-z ]|[a-z ][a-z ]?)*€)a"},"behavior":"Isolated","invert":false},
		"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"a":1}}}`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	prompts := filepath.Join(t.TempDir(), "prompts.txt")
	if err := os.WriteFile(prompts, []byte(strings.Repeat("a ", 40)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := closedPlan(t, s.url, 1, 2)
	p.Tokenizer.Name = file
	p.Data.Source, p.Data.File = "file", prompts
	var log bytes.Buffer
	if _, err := Run(t.Context(), p, options(&log)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"its truncation setting is not applied", "warning: the tokenizer " + file + " failed on a text", "such texts count as 0 tokens"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in the log:\n%s", want, log.String())
		}
	}
}
