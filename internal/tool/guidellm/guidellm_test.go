package guidellm

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

// differ are figures with other definitions: rates by what they are divided by, percentiles by
// their rule.
func differ(f *tool.Figures) []string {
	list := []string{"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput", "concurrency"}
	for _, l := range f.Loads {
		for id, of := range l.Metrics {
			for name := range of {
				if strings.HasPrefix(name, "p") {
					list = append(list, id+"."+name)
				}
			}
		}
	}
	return list
}

func TestFiguresOfImportAreItsOwn(t *testing.T) {
	for file, by := range map[string]string{
		"concurrent-0.6.json": "GuideLLM 0.6.1", "poisson-0.6.json": "GuideLLM 0.6.1", "failures-0.8.json": "GuideLLM 0.8.1", "file-0.8.json": "GuideLLM 0.8.1", "layout-0.3.json": "GuideLLM",
	} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("testdata", file)
			read, saved := foreigntest.Import(t, Tool(), path)
			own := foreigntest.Figures(t, Tool(), path)
			but := differ(own)
			if file == "file-0.8.json" { // its responses are of different length, by which GuideLLM weighs
				but = append(but, "time_per_output_token")
			}
			if n := foreigntest.Same(t, saved.Result, own, but...); n < 15 {
				t.Errorf("%d figures compared", n)
			}
			if read.By != by || saved.Plan.Target.Model != "mock" || !strings.HasPrefix(saved.Plan.Target.URLs[0], "http://127.0.0.1:1890") {
				t.Errorf("by %s, %+v", read.By, saved.Plan.Target)
			}
			if _, ok := saved.Result.Stages[0].Metrics["inter_event_latency"]; ok {
				t.Error("gaps of which nothing is known")
			}
		})
	}
}

func TestLoads(t *testing.T) {
	for file, want := range map[string]string{
		"concurrent-0.6.json": "2 in flight", "poisson-0.6.json": "10/s poisson, at most 512 in flight", "layout-0.3.json": "2 in flight", "failures-0.8.json": "2 in flight",
		"sampled-0.8.json": "1 in flight, 4 in flight, 81/s constant, at most 4 in flight",
	} {
		f := foreigntest.Figures(t, Tool(), filepath.Join("testdata", file))
		var loads []string
		for i := range f.Plan.Stages {
			loads = append(loads, result.Load(&f.Plan.Stages[i]))
		}
		if got := strings.Join(loads, ", "); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// A file with a sample of the requests has figures, which are of all.
func TestSampled(t *testing.T) {
	path := "testdata/sampled-0.8.json"
	if read, err := Tool().Import(foreigntest.Env(), tool.From{Path: path}, t.TempDir()); read != nil || err != nil {
		t.Errorf("%v, %v", read, err)
	}
	f := foreigntest.Figures(t, Tool(), path)
	if f.Loads[0].OK != 43 || !strings.Contains(f.Notes[0], "told to keep a sample") {
		t.Errorf("%+v %q", f.Loads[0], f.Notes[0])
	}
}

func TestFailuresAndSecrets(t *testing.T) {
	read, saved := foreigntest.Import(t, Tool(), "testdata/failures-0.8.json")
	if f := saved.Result.Stages[0].Failures; len(f) != 1 || f[0].Class != "http_status" || f[0].Status != 500 || f[0].Count != 2 {
		t.Errorf("%+v", f)
	}
	foreigntest.NoSecrets(t, saved, read, "topsecret99")
}

func TestBadFiles(t *testing.T) {
	text, err := os.ReadFile("testdata/poisson-0.6.json")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.json")
	for in, want := range map[string]string{string(text[:len(text)/2]): "cut off", `{"benchmarks": [], "a": 1}`: "", `{"benchmarks": [{"name": "another tool"}]}`: "", `{"benchmarks": 5}`: "5 where"} {
		if err := os.WriteFile(path, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := Tool().Import(foreigntest.Env(), tool.From{Path: path}, t.TempDir())
		if read != nil || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, %v", in, read, err)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, name := range []string{"failures-0.8.json", "layout-0.3.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	mutate.Fuzz(f, func(t *testing.T, text []byte) { foreigntest.Broken(t, Tool(), "x.json", text) })
}
