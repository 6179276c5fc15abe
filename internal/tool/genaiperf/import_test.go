package genaiperf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer/foreigntest"
)

// What is imported of the original's profile export has the figures of its report.
func TestFiguresOfImportAreItsOwn(t *testing.T) {
	of := Tool(nil)
	dir := t.TempDir()
	read, err := of.Import(foreigntest.Env(), tool.From{Path: "testdata/vllm", Tokenizer: "builtin:gpt2"}, dir)
	if err != nil || read == nil || len(read.Notes) == 0 {
		t.Fatal(read, err)
	}
	saved := foreigntest.Read(t, dir)
	own := foreigntest.Figures(t, of, "testdata/vllm")
	// Lengths are those of another tokenizer.
	n := foreigntest.Same(t, saved.Result, own, "output_sequence_length", "input_sequence_length", "output_token_throughput", "time_per_output_token", "output_token_throughput_per_user")
	if n < 30 || result.Load(&own.Plan.Stages[0]) != saved.Result.Stages[0].Load {
		t.Errorf("%d figures compared; %s and %s", n, result.Load(&own.Plan.Stages[0]), saved.Result.Stages[0].Load)
	}
	table := foreigntest.Figures(t, of, "testdata/vllm/profile_export_genai_perf.csv")
	if table.Loads[0].OK != own.Loads[0].OK || len(table.Loads[0].Metrics) < 8 {
		t.Errorf("the table: %+v", table.Loads[0])
	}
}

// Each experiment of Perf Analyzer is a stage.
func TestSeveralExperiments(t *testing.T) {
	text := []byte(`{"experiments":[
		{"experiment":{"mode":"concurrency","value":3},"requests":[{"timestamp":1000000000,"request_inputs":{},"response_timestamps":[1500000000,1600000000],"response_outputs":[{},{}]}],"window_boundaries":[]},
		{"experiment":{"mode":"request_rate","value":2.5},"requests":[{"timestamp":3000000000,"request_inputs":{},"response_timestamps":[3250000000],"response_outputs":[{}]},{"timestamp":4000000000,"request_inputs":{},"response_timestamps":[4250000000],"response_outputs":[{}]}],"window_boundaries":[]}
	],"version":"2.60","service_kind":"triton","endpoint":""}`)
	path := filepath.Join(t.TempDir(), "any.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, saved := foreigntest.Import(t, Tool(nil), path)
	s := saved.Result.Stages
	if len(s) != 2 || s[0].Load != "3 in flight" || s[1].Load != "2.5/s constant" || s[0].Metrics["request_latency"].Avg != 600 || s[1].Metrics["request_latency"].Avg != 250 || s[1].Counts.OK != 2 {
		t.Errorf("%+v", s)
	}
}

func FuzzFigures(f *testing.F) {
	text, err := os.ReadFile("testdata/vllm/profile_export_genai_perf.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.ReplaceAll(text, []byte("16.0"), []byte("NaN")))
	mutate.Fuzz(f, func(t *testing.T, text []byte) { foreigntest.Broken(t, Tool(nil), "x.json", text) })
}
