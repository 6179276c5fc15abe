package genaiperf

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	frontend "inferometer/internal/frontend/genaiperf"
	"inferometer/internal/mock"
)

// Charts are drawn of one run, and of several side by side.
func TestPlots(t *testing.T) {
	s := serve(t, func(c *mock.Config) { c.Latency.ITL = 20 * time.Millisecond }) // tokens that no machine reads all at once
	dir := t.TempDir()
	a := parse(t, s, dir, strings.Fields("profile -m gpt2 --endpoint-type chat --streaming --isl 10 --osl 4 --tokenizer builtin:gpt2 --generate-plots")...)
	out := profile(t, a, world(offline, t.Output()))
	plots := filepath.Join(a.Settings.Dir, "plots")
	names := []string{
		"time_to_first_token", "request_latency", "distribution_of_input_sequence_lengths_to_output_sequence_lengths",
		"time_to_first_token_vs_input_sequence_lengths", "token-to-token_latency_vs_output_token_position",
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(plots, name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Contains(out.Files, filepath.Join(plots, name+".svg")) {
			t.Errorf("%s.svg is not among the files", name)
		}
	}
	t.Chdir(t.TempDir())
	c, err := frontend.Parse([]string{"compare", "-f", a.Settings.Dir, filepath.Join(a.Settings.Dir, "profile_export.json")})
	if err != nil {
		t.Fatal(err)
	}
	files, err := Compare(t.Context(), c, world(offline, t.Output()))
	if err != nil || len(files) != 2*len(names) {
		t.Errorf("%d files, %v", len(files), err)
	}
	text, err := os.ReadFile(filepath.Join("compare", "request_latency.svg"))
	if err != nil || strings.Count(string(text), filepath.Base(a.Settings.Dir)) != 2 {
		t.Errorf("the chart names not both runs: %v", err)
	}
	// Files of one directory are told apart by their own names.
	export, err := os.ReadFile(filepath.Join(a.Settings.Dir, "profile_export.json"))
	if err != nil {
		t.Fatal(err)
	}
	c.Files = []string{"first.json", "second.json"}
	for _, name := range c.Files {
		if err := os.WriteFile(name, export, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Compare(t.Context(), c, world(offline, t.Output())); err != nil {
		t.Error(err)
	}
	text, err = os.ReadFile(filepath.Join("compare", "request_latency.svg"))
	if err != nil || !strings.Contains(string(text), "first") || !strings.Contains(string(text), "second") {
		t.Errorf("the chart names not both files: %v", err)
	}
	c.Files = []string{"nothing"}
	if _, err := Compare(t.Context(), c, world(offline, t.Output())); err == nil {
		t.Error("a run that is not there is compared")
	}
}

// A sweep goes on where it was broken off.
func TestCheckpoint(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	sweep := func(list string) (measured int, log string) {
		var b bytes.Buffer
		a, err := frontend.Parse(append(strings.Fields("analyze -m gpt2 --endpoint-type completions --isl 10 --osl 2 --num-prompts 4 --tokenizer builtin:gpt2 --enable-checkpointing --sweep-list "+list), "--artifact-dir", dir, "--checkpoint-dir", filepath.Join(dir, "state"), "-u", s.http))
		if err != nil {
			t.Fatal(err)
		}
		err = Analyze(t.Context(), a, world(offline, &b), func(*frontend.Action, *Outcome) { measured++ })
		if err != nil {
			t.Fatal(err)
		}
		return measured, b.String()
	}
	if n, _ := sweep("1,2"); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
	n, log := sweep("1,2,3")
	if n != 1 || strings.Count(log, "was measured before") != 2 {
		t.Errorf("%d runs, want the third alone; the log:\n%s", n, log)
	}
	table, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err != nil || strings.Count(string(table), "gpt2_run_config_") != 3 {
		t.Errorf("%v\n%s", err, table)
	}
	if err := os.WriteFile(filepath.Join(dir, "state", checkpointFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openCheckpoint(filepath.Join(dir, "state")); err == nil || !strings.Contains(err.Error(), "delete it to begin anew") {
		t.Error(err)
	}
}
