package genaiperf

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

// Charts are drawn of one run, and of several side by side.
func TestPlots(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Latency.ITL = 20 * time.Millisecond }) // tokens that no machine reads all at once
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
	c, err := args.Parser{}.Parse([]string{"compare", "-f", a.Settings.Dir, filepath.Join(a.Settings.Dir, "profile_export.json")})
	if err != nil {
		t.Fatal(err)
	}
	files, err := Compare(t.Context(), c, world(offline, t.Output()))
	if err != nil || len(files) != 2*len(names)+1 {
		t.Errorf("%d files, %v", len(files), err)
	}
	text, err := os.ReadFile(filepath.Join("compare", "request_latency.svg"))
	base := filepath.Base(a.Settings.Dir)
	if err != nil || !strings.Contains(string(text), base+"<") || !strings.Contains(string(text), base+"/profile_export<") {
		t.Errorf("the chart names not both runs: %v", err)
	}
	// The file that describes the charts draws them again.
	written, err := os.ReadFile(filepath.Join("compare", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := args.Parser{ReadFile: os.ReadFile}.Parse([]string{"compare", "--config", filepath.Join("compare", "config.yaml")})
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	if diff := cmp.Diff(c.Charts, again.Charts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Charts = args.UsualCharts([]string{"nothing"}, "compare")
	if _, err := Compare(t.Context(), c, world(offline, t.Output())); err == nil {
		t.Error("a run that is not there is compared")
	}
}

// The charts of a config file are drawn, with its titles, labels and sizes, where it says.
func TestChartsOfConfig(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Latency.ITL = 20 * time.Millisecond })
	a := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type chat --streaming --isl 10 --osl 4 --tokenizer builtin:gpt2")...)
	profile(t, a, world(offline, t.Output()))
	t.Chdir(t.TempDir())
	export := filepath.Join(a.Settings.Dir, "profile_export.json")
	config := fmt.Sprintf(`
one: {title: My Latencies, type: box, y_metric: request_latencies, x_label: Latency of mine, width: 640, height: 400, paths: [%[1]q, %[1]q], output: out/boxes}
two: {title: Lengths, type: heatmap, x_metric: num_input_tokens, y_metric: output_sequence_lengths, y_label: tokens out, paths: [%[1]q]}
three: {title: Pace / Length, type: scatter, x_metric: output_sequence_lengths, y_metric: output_token_throughputs_per_user, paths: [%[1]q]}
four: {title: Gaps, type: scatter, x_metric: token_positions, y_metric: inter_token_latencies, paths: [%[1]q]}
`, export)
	c, err := args.Parser{ReadFile: func(string) ([]byte, error) { return []byte(config), nil }}.Parse([]string{"compare", "--config", "my.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := Compare(t.Context(), c, world(offline, t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"compare/gaps.png", "compare/gaps.svg", "compare/lengths.png", "compare/lengths.svg",
		"compare/pace___length.png", "compare/pace___length.svg", "out/boxes/my_latencies.png", "out/boxes/my_latencies.svg",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	picture, err := os.Open("out/boxes/my_latencies.png")
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if size, err := png.DecodeConfig(picture); err != nil || size.Width != 640 || size.Height != 400 {
		t.Errorf("the picture is %d by %d, %v", size.Width, size.Height, err)
	}
	for name, words := range map[string][]string{
		"out/boxes/my_latencies.svg": {"My Latencies", "Latency of mine", filepath.Base(a.Settings.Dir) + "/profile_export"},
		"compare/lengths.svg":        {"Lengths", "tokens out", "(darkest: 10)"},
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s does not say %q", name, w)
			}
		}
	}
}

// A sweep goes on where it was broken off.
func TestCheckpoint(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	sweep := func(list string) (measured, told int, log string) {
		var b bytes.Buffer
		a, err := args.Parser{}.Parse(append(strings.Fields("analyze -m gpt2 --endpoint-type completions --isl 10 --osl 2 --num-prompts 4 --tokenizer builtin:gpt2 --enable-checkpointing --sweep-list "+list), "--artifact-dir", dir, "--checkpoint-dir", filepath.Join(dir, "state"), "-u", s.http))
		if err != nil {
			t.Fatal(err)
		}
		err = Analyze(t.Context(), a, world(offline, &b), func(_ *args.Action, out *Outcome) {
			if told++; out.Result != nil {
				measured++
			}
			if out.Summary.Requests == 0 {
				t.Error("a run without figures")
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return measured, told, b.String()
	}
	if n, _, _ := sweep("1,2"); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
	n, told, log := sweep("1,2,3")
	if n != 1 || told != 3 || strings.Count(log, "was measured before") != 2 {
		t.Errorf("%d runs of %d that are told of, want the third alone of 3; the log:\n%s", n, told, log)
	}
	table, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err != nil || strings.Count(string(table), "gpt2_run_config_") != 3 {
		t.Errorf("%v\n%s", err, table)
	}
	if err := os.WriteFile(filepath.Join(dir, "state", checkpointFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openCheckpoint(filepath.Join(dir, "state")); err == nil || !strings.Contains(err.Error(), "delete it to start over") {
		t.Error(err)
	}
}

// Runs of one name are told apart by the directories above them.
func TestNamesOfRuns(t *testing.T) {
	runs := []*series{{name: "c1"}, {name: "c1"}, {name: "c2"}, {name: "c1"}}
	tellApart([]string{"/x/a/c1", "/x/b/c1", "/x/b/c2", "/y/b/c1"}, runs)
	var names []string
	for _, r := range runs {
		names = append(names, r.name)
	}
	if got, want := strings.Join(names, " "), "a/c1 x/b/c1 c2 y/b/c1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
