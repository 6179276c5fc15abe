package vllmbench

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

// What its rates are divided by is not in the requests.
var rates = []string{"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput", "request_goodput"}

func TestFiguresOfImportAreItsOwn(t *testing.T) {
	for _, c := range []struct {
		file string
		but  []string
		n    int
	}{
		{"chat-detailed.json", nil, 24},
		{"failures.json", nil, 5},
		{"rust-chat.json", nil, 20},
		{"rust-failures.json", nil, 20},
		// Its latency goes to the usage chunk, of which the file does not tell.
		{"old-script.json", []string{"request_latency", "time_per_output_token"}, 9},
	} {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join("testdata", c.file)
			read, saved := foreigntest.Import(t, Tool("vllm-bench"), path)
			if n := foreigntest.Same(t, saved.Result, foreigntest.Figures(t, Tool("vllm-bench"), path), append(c.but, rates...)...); n < c.n {
				t.Errorf("%d figures compared", n)
			}
			if notes := strings.Join(read.Notes, "\n"); !strings.Contains(notes, "divides its rates by") && c.file != "old-script.json" {
				t.Errorf("the notes do not say what rates are divided by: %s", notes)
			}
		})
	}
}

func TestLoads(t *testing.T) {
	for file, want := range map[string]string{
		"figures.json": "4 in flight", "chat-detailed.json": "30/s gamma (cv 1.4142), at most 8 in flight", "appended.json": "8 in flight, 8 in flight",
		"embeddings.json": "3 in flight", "rust-multi-turn.json": "3 in flight", "inferencex.json": "4 in flight", "failures.json": "11 in flight",
	} {
		f := foreigntest.Figures(t, Tool("vllm-bench"), filepath.Join("testdata", file))
		var loads []string
		for i := range f.Plan.Stages {
			loads = append(loads, result.Load(&f.Plan.Stages[i]))
		}
		if got := strings.Join(loads, ", "); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		if f.Loads[0].OK == 0 || f.Loads[0].Metrics["request_latency"] == nil && f.Loads[0].Metrics["time_to_first_token"] == nil {
			t.Errorf("%s: %+v", file, f.Loads[0])
		}
	}
	for _, file := range []string{"figures.json", "appended.json", "embeddings.json", "rust-multi-turn.json", "inferencex.json"} {
		if read, err := Tool("vllm-bench").Import(foreigntest.Env(), tool.From{Path: filepath.Join("testdata", file)}, t.TempDir()); read != nil || err != nil {
			t.Errorf("%s has no single requests: %v, %v", file, read, err)
		}
	}
}

func TestFailuresAreData(t *testing.T) {
	for _, file := range []string{"failures.json", "rust-failures.json"} {
		_, saved := foreigntest.Import(t, Tool("vllm-bench"), filepath.Join("testdata", file))
		if f := saved.Result.Stages[0].Failures; len(f) != 1 || f[0].Class != "http_status" || f[0].Status != 500 {
			t.Errorf("%s: %+v", file, f)
		}
	}
}

func TestBadFiles(t *testing.T) {
	text, err := os.ReadFile("testdata/chat-detailed.json")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(text)
	for _, c := range []struct{ name, text, want string }{
		{"cut off", whole[:len(whole)/2], "cut off"},
		{"lists of other lengths", strings.Replace(whole, `"errors": ["",`, `"errors": [`, 1), "errors has 11 elements and ttfts 12"},
		{"a list that is none", strings.Replace(whole, `"ttfts": [`, `"ttfts": 5, "x": [`, 1), "where"},
	} {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Tool("vllm-bench").Import(foreigntest.Env(), tool.From{Path: path}, t.TempDir()); err == nil ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, other := range []string{"", "{}", "[]", "null", "a,b\n1,2\n", `{"model_id": "m"}`} {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := Tool("vllm-bench").Figures(foreigntest.Env(), tool.From{Path: path}); f != nil || err != nil {
			t.Errorf("%q: %v, %v", other, f, err)
		}
	}
}

// Python writes what JSON does not have, and an error may quote a key.
func TestOddValuesAndSecrets(t *testing.T) {
	text, err := os.ReadFile("testdata/failures.json")
	if err != nil {
		t.Fatal(err)
	}
	odd := strings.NewReplacer(`"ttfts": [0.05232530200009933`, `"ttfts": [NaN`, `"request_rate": "inf"`, `"request_rate": Infinity`, `"burstiness": 1.0`, `"api_key": "sk-topsecret99", "burstiness": NaN`,
		`"Internal Server Error"`, `"Unauthorized: Incorrect API key provided: sk-topsecret99"`).Replace(string(text))
	path := filepath.Join(t.TempDir(), "odd.json")
	if err := os.WriteFile(path, []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	read, saved := foreigntest.Import(t, Tool("vllm-bench"), path)
	st := saved.Result.Stages[0]
	if st.Counts.OK != 9 || len(st.Failures) != 1 || st.Failures[0].Status != 401 || !strings.Contains(strings.Join(read.Notes, " "), "no numbers") {
		t.Errorf("%+v %+v %q", st.Counts, st.Failures, read.Notes)
	}
	foreigntest.NoSecrets(t, saved, read, "topsecret99")
}

// A directory is all the runs in it, a stage for each.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"failures.json", "rust-chat.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, saved := foreigntest.Import(t, Tool("vllm-bench"), dir)
	if s := saved.Result.Stages; len(s) != 2 || s[0].Counts.Sent != 11 || s[1].Counts.Sent != 12 {
		t.Errorf("%+v", s)
	}
}

func FuzzImport(f *testing.F) {
	for _, name := range []string{"failures.json", "rust-failures.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	mutate.Fuzz(f, func(t *testing.T, text []byte) { foreigntest.Broken(t, Tool("vllm-bench"), "x.json", text) })
}
