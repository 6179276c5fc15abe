package inferenceperf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/tool/importer/foreigntest"
)

// The original's reports of stages and of the run have figures.
func TestFigures(t *testing.T) {
	const dir = "reader/testdata/original"
	stages, whole := foreigntest.Figures(t, Tool(), dir), foreigntest.Figures(t, Tool(), filepath.Join(dir, "summary_lifecycle_metrics.json"))
	l := stages.Loads[0]
	if len(stages.Loads) != 1 || l.OK != 2000 || result.Load(&stages.Plan.Stages[0]) != "64 in flight" || l.Metrics["time_to_first_token"]["p99"] < 79 || l.Metrics["request_throughput"]["avg"] < 337 {
		t.Errorf("%+v", stages)
	}
	if w := whole.Loads[0]; w.OK != l.OK || w.Metrics["request_latency"]["avg"] != l.Metrics["request_latency"]["avg"] || !strings.Contains(strings.Join(whole.Notes, " "), "of all stages") {
		t.Errorf("%+v", whole)
	}
}

// A report of single requests is known by what is in it, whatever its name.
func TestPerRequestByContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "any.json")
	text := `[{"start_time": 10.0, "end_time": 10.5, "request": "{}", "response": "", "info": {"input_tokens": 3, "request_metrics": {"text": {"input_tokens": 3}}, "response_metrics": {"output_tokens": 3, "output_token_times": [10.1, 10.2, 10.4]}}, "error": null}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, saved := foreigntest.Import(t, Tool(), path)
	if m := saved.Result.Stages[0].Metrics; m["request_latency"].Avg != 500 || m["time_to_first_token"].Avg != 100 {
		t.Errorf("%+v", m)
	}
}

func FuzzFigures(f *testing.F) {
	text, err := os.ReadFile("reader/testdata/original/stage_0_lifecycle_metrics.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	mutate.Fuzz(f, func(t *testing.T, text []byte) { foreigntest.Broken(t, Tool(), "x.json", text) })
}
