package genaiperf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// differs: genai-analyze-order
func TestAnalyze(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	a, err := args.Parser{}.Parse(append(strings.Fields("analyze -m gpt2 --endpoint-type chat --streaming --isl 10 --num-prompts 4 --tokenizer builtin:gpt2 --sweep-list 1,3 --num-prefix-prompts 2 --prefix-prompt-length 8 --artifact-dir"), dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range a.Levels {
		l.Plan.Target.URLs = []string{"http://" + s.http}
	}
	var levels []int
	err = Analyze(t.Context(), a, world(offline, t.Output()), func(l *args.Action, out *Outcome) {
		levels = append(levels, l.Settings.Concurrency)
		if in, _ := out.Summary.Stat(dialect.InputSequenceLength); in.Min < 17 || in.Max > 19 {
			t.Errorf("prompts of %v to %v tokens, want 8 + 10, or one off", in.Min, in.Max)
		}
	})
	if err != nil || !slices.Equal(levels, []int{1, 3}) {
		t.Errorf("levels %v, %v", levels, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\r\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "Config Name,Concurrency,ISL,") || !strings.HasPrefix(lines[2], "gpt2_run_config_1,3,18,4,") || lines[3] != "" {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
}

// The load of a sweep over something else stands under its own name.
func TestAnalyzeUnderARate(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	a, err := args.Parser{}.Parse(append(strings.Fields("analyze -m gpt2 --endpoint-type chat --num-prompts 2 --tokenizer builtin:gpt2 --request-rate 200 --sweep-type input_sequence_length --sweep-list 7 --artifact-dir"), dir))
	if err != nil {
		t.Fatal(err)
	}
	a.Levels[0].Plan.Target.URLs = []string{"http://" + s.http}
	if err := Analyze(t.Context(), a, world(offline, t.Output()), func(*args.Action, *Outcome) {}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err != nil || !strings.HasPrefix(string(text), "Config Name,Request Rate,ISL,") || !strings.Contains(string(text), "gpt2_run_config_0,200,7,2,") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestAnsweredMost(t *testing.T) {
	row := func(load, answered string) []string {
		return []string{"m", load, "0", "0", "0", "0", "0", "0", "0", answered}
	}
	for name, c := range map[string]struct {
		rows  [][]string
		rated bool
		want  string
	}{
		"it still grows":   {[][]string{row("1", "2.50"), row("8", "11.00"), row("4", "9.00")}, false, "Of 3 loads, most requests were answered with 8 in flight: 11.00 per second. That is the highest load of the sweep: what the server can do at most was not found."},
		"it grows no more": {[][]string{row("2", "2.00"), row("10", "9.90"), row("20", "9.50")}, true, "Of 3 loads, most requests were answered with 10 requests/s sent: 9.90 per second. No higher load of the sweep was answered faster."},
		"one load":         {[][]string{row("1", "2.50")}, false, ""},
		"other settings":   {[][]string{row("1", "2.50"), row("1", "2.00")}, false, ""},
		"nothing answered": {[][]string{row("1", "N/A"), row("2", "N/A")}, false, ""},
	} {
		if got := answeredMost(c.rows, c.rated); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
