package genaiperf

import (
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// The rows of docs/differences.md on releases that nobody can run any more: what the
// tutorial's page shows for a command line, and what the same command line gives here
// with --faithful; TestSeeds runs it without.
// differs: genai-2403-tokenizers, genai-2404-input, genai-2404-length
func TestRowsOfThePages(t *testing.T) {
	text, err := os.ReadFile("report/testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(string(text), "\n\n")
	s := serve(t, nil)
	env := world(hub(t), t.Output())
	for i, args := range seeds(t) {
		shown := inputTokens(t, pages[i])
		line := strings.Join(args, " ")
		switch want := map[bool]string{true: "1", false: "199"}[strings.Contains(line, "--endpoint v1/completions")]; {
		case i < 4 && shown != "":
			t.Errorf("%s: the README shows %s input tokens, and its release had no such row", line, shown)
		case i >= 4 && shown != want:
			t.Errorf("%s: the tutorial shows %q input tokens, want %s", line, shown, want)
		}
		a := parse(t, s, t.TempDir(), append(args[:len(args):len(args)], "--faithful")...)
		in, _ := profile(t, a, env).Summary.Stat(dialect.InputSequenceLength)
		if in.Min != 200 || in.Max != 200 {
			t.Errorf("%s --faithful: prompts of %v to %v tokens, want 200 of the tokenizer that makes them", line, in.Min, in.Max)
		}
	}
}

// inputTokens is the average of the row of input tokens of a table; empty: it has none.
func inputTokens(t *testing.T, table string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "│"); len(cells) > 2 && strings.TrimSpace(cells[1]) == "Num input token" {
			return strings.TrimSpace(cells[2])
		}
	}
	return ""
}
