package aiperf

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer/foreigntest"
)

// What its rates are divided by is not in the requests, nor are its objectives.
var differ = []string{"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput", "request_goodput", "slo_attainment"}

func TestFiguresOfImportAreItsOwn(t *testing.T) {
	for _, c := range []struct {
		dir string
		but []string
		n   int
	}{
		{"warmup", nil, 100}, {"failures", nil, 100}, {"multiturn", nil, 100}, {"schedule", nil, 100}, {"sweep", nil, 200},
		{"embeddings", []string{"output_sequence_length"}, 20}, {"nonstream", nil, 30},
		// The raw form has the server's count of the prompt, and the summary another's.
		{"raw", []string{"input_sequence_length"}, 100},
	} {
		t.Run(c.dir, func(t *testing.T) {
			path := filepath.Join("testdata", c.dir)
			read, saved := foreigntest.Import(t, Tool(), path)
			if n := foreigntest.Same(t, saved.Result, foreigntest.Figures(t, Tool(), path), append(c.but, differ...)...); n < c.n {
				t.Errorf("%d figures compared", n)
			}
			if read.By != "AIPerf 0.13.0" || !strings.Contains(strings.Join(read.Notes, "\n"), "divides its rates by") {
				t.Errorf("by %s: %q", read.By, read.Notes)
			}
		})
	}
}

func TestLoads(t *testing.T) {
	for path, want := range map[string]string{
		"warmup": "2 in flight", "raw": "20/s poisson", "sweep": "1 in flight, 2 in flight", "failures": "2 in flight",
		"failures/profile_export.jsonl": "2 in flight", "raw/myrun_raw.jsonl": "20/s poisson",
	} {
		_, saved := foreigntest.Import(t, Tool(), filepath.Join("testdata", path))
		var loads []string
		for i := range saved.Plan.Stages {
			loads = append(loads, result.Load(&saved.Plan.Stages[i]))
		}
		if got := strings.Join(loads, ", "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	_, saved := foreigntest.Import(t, Tool(), "testdata/warmup")
	if c := saved.Result.Stages[0].Counts; c.Warmup != 2 || c.OK != 20 {
		t.Errorf("%+v", c)
	}
	if saved.Plan.Target.Model != "mock" || saved.Plan.Target.URLs[0] != "http://127.0.0.1:18900" {
		t.Errorf("%+v", saved.Plan.Target)
	}
}

// Without the summary beside them the requests say what the load was.
func TestRecordsAlone(t *testing.T) {
	text, err := os.ReadFile("testdata/failures/profile_export.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.ReplaceAll(string(text), `"Internal Server Error"`, `"Bearer topsecret99"`))
	read, saved := foreigntest.Import(t, Tool(), path)
	if st := saved.Result.Stages[0]; st.Load != "2 in flight" || len(st.Failures) != 1 || st.Failures[0].Status != 500 || st.Failures[0].Count != 2 {
		t.Errorf("%s, %+v", st.Load, st.Failures)
	}
	if !strings.Contains(strings.Join(read.Notes, "\n"), "The load is what the requests show") {
		t.Errorf("%q", read.Notes)
	}
	foreigntest.NoSecrets(t, saved, read, "topsecret99")
	write(string(text[:len(text)-100]))
	if _, err := Tool().Import(foreigntest.Env(), tool.From{Path: path}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "x.jsonl, line 12: it ends in the middle") {
		t.Errorf("cut off: %v", err)
	}
}

// The summary alone has figures: as JSON, and with two digits as CSV.
func TestSummaries(t *testing.T) {
	text, err := os.ReadFile("testdata/failures/profile_export_aiperf.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "alone.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if read, err := Tool().Import(foreigntest.Env(), tool.From{Path: path}, dir); read != nil || err != nil {
		t.Errorf("%v, %v", read, err)
	}
	j, c := foreigntest.Figures(t, Tool(), path), foreigntest.Figures(t, Tool(), "testdata/failures/profile_export_aiperf.csv")
	if j.Loads[0].OK != 10 || j.Loads[0].Failed != 2 || c.Loads[0].OK != 10 || math.Abs(j.Loads[0].Metrics["error_rate"]["avg"]-1.0/6) > 1e-9 {
		t.Errorf("%+v %+v", j.Loads[0], c.Loads[0])
	}
	n := 0
	for id, of := range c.Loads[0].Metrics {
		for name, v := range of {
			n++
			if want := j.Loads[0].Metrics[id][name]; math.Abs(v-want) > 0.0051 {
				t.Errorf("%s.%s is %v in the table, %v in the document", id, name, v, want)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d figures in the table", n)
	}
}

func FuzzRecords(f *testing.F) {
	for _, name := range []string{"failures/profile_export.jsonl", "raw/myrun_raw.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.SplitAfterN(string(text), "\n", 6)
		f.Add([]byte(strings.Join(lines[:5], "")))
	}
	mutate.Fuzz(f, func(t *testing.T, text []byte) { foreigntest.Broken(t, Tool(), "x.jsonl", text) })
}

func FuzzSummaries(f *testing.F) {
	for _, name := range []string{"embeddings/profile_export_aiperf.json", "failures/profile_export_aiperf.csv"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	mutate.Fuzz(f, func(t *testing.T, text []byte) { foreigntest.Broken(t, Tool(), "x.json", text) })
}
