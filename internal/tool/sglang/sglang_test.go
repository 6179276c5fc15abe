package sglang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer/foreigntest"
)

// When answers ended is not in the requests, nor what its rates are divided by.
var differ = []string{
	"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput", "request_goodput", "slo_attainment",
	"request_latency", "time_per_output_token", "concurrency",
}

func TestFiguresOfImportAreItsOwn(t *testing.T) {
	for file, n := range map[string]int{"native-details.jsonl": 12, "chat-details.jsonl": 12, "failures.jsonl": 12} {
		path := filepath.Join("testdata", file)
		read, saved := foreigntest.Import(t, Tool(), path)
		own := foreigntest.Figures(t, Tool(), path)
		if got := foreigntest.Same(t, saved.Result, own, differ...); got < n {
			t.Errorf("%s: %d figures compared", file, got)
		}
		// They are close all the same, and a note says by how much they are off.
		ours, theirs := saved.Result.Stages[0].Metrics["request_latency"].Avg, own.Loads[0].Metrics["request_latency"]["avg"]
		if ours > theirs || ours < 0.98*theirs || !strings.Contains(strings.Join(read.Notes, "\n"), "where SGLang has") {
			t.Errorf("%s: request latency %v, SGLang has %v; %q", file, ours, theirs, read.Notes)
		}
	}
}

func TestLoads(t *testing.T) {
	for file, want := range map[string]string{
		"figures.jsonl": "30/s poisson", "native-details.jsonl": "4 in flight", "failures.jsonl": "11 in flight", "rust.jsonl": "3 in flight", "embeddings.jsonl": "5 in flight", "nostream.jsonl": "5 in flight",
	} {
		f := foreigntest.Figures(t, Tool(), filepath.Join("testdata", file))
		if got := result.Load(&f.Plan.Stages[0]); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		if f.Loads[0].OK == 0 || f.Loads[0].Metrics["request_latency"]["p99"] == 0 {
			t.Errorf("%s: %+v", file, f.Loads[0])
		}
	}
	if f := foreigntest.Figures(t, Tool(), "testdata/embeddings.jsonl"); f.Loads[0].Metrics["time_to_first_token"] != nil {
		t.Error("embeddings have a time to first token")
	}
}

func TestFailuresAreData(t *testing.T) {
	_, saved := foreigntest.Import(t, Tool(), "testdata/failures.jsonl")
	if f := saved.Result.Stages[0].Failures; len(f) != 1 || f[0].Class != "http_status" || f[0].Status != 500 || f[0].Count != 2 {
		t.Errorf("%+v", f)
	}
}

// Runs are appended to the file, one to a line: each is a stage.
func TestSeveralRuns(t *testing.T) {
	var all []byte
	for _, name := range []string{"native-details.jsonl", "failures.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(string(all))
	_, saved := foreigntest.Import(t, Tool(), path)
	if s := saved.Result.Stages; len(s) != 2 || s[0].Counts.OK != 20 || s[1].Counts.OK != 9 || s[1].Counts.Failed != 2 {
		t.Errorf("%+v", s)
	}
	write(string(all[:len(all)-50]))
	if _, err := Tool().Import(foreigntest.Env(), tool.From{Path: path}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "run 2: it ends in the middle") {
		t.Errorf("cut off: %v", err)
	}
	write(string(all) + "{}\n")
	if f := foreigntest.Figures(t, Tool(), path); len(f.Loads) != 3 {
		t.Errorf("%d loads", len(f.Loads))
	}
}

func FuzzImport(f *testing.F) {
	for _, name := range []string{"failures.jsonl", "figures.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	mutate.Fuzz(f, func(t *testing.T, text []byte) { foreigntest.Broken(t, Tool(), "x.jsonl", text) })
}
