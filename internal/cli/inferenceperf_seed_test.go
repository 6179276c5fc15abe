package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/tool"
)

// letters is the name of a tokenizer that only those get who have a token.
const letters = "example/letters"

// TestGuideOfInferencePerf runs the command lines of inference-perf's own guide as they
// stand there: a run by a config file, with each of the three ways to give the token of
// the hub, and the charts. Its container line is run by the tests of deploy.
func TestGuideOfInferencePerf(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	hub, server := hubtest.New(t), serve(t)
	fillHub(t, hub, filepath.Join(root, "examples", "data", "sharegpt.json"))
	for _, way := range []struct {
		name  string
		login func(t *testing.T, home string)
		ok    bool
	}{
		{"nobody logged in", func(*testing.T, string) {}, false},
		{"huggingface-cli login", func(t *testing.T, home string) { // what it leaves behind
			put(t, filepath.Join(home, ".cache", "huggingface", "token"), "hf_sesame")
		}, true},
		{"export HF_TOKEN", func(t *testing.T, _ string) { t.Setenv("HF_TOKEN", "hf_sesame") }, true},
		{"export HF_TOKEN_PATH", func(t *testing.T, home string) {
			t.Setenv("HF_TOKEN_PATH", put(t, filepath.Join(home, "secret"), "hf_sesame\n"))
		}, true},
	} {
		t.Run(way.name, func(t *testing.T) {
			home := t.TempDir()
			for _, name := range []string{"HF_TOKEN", "HF_TOKEN_PATH", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "XDG_CACHE_HOME"} {
				t.Setenv(name, "")
			}
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			t.Setenv("HF_ENDPOINT", hub.URL)
			way.login(t, home)
			t.Chdir(t.TempDir())
			put(t, "config.yml", fmt.Sprintf(guideConfig, server, letters))
			code, text := line("inference-perf --config_file config.yml")
			if !way.ok {
				if code != tool.ExitUsage || !strings.Contains(text, letters+" is gated") {
					t.Errorf("exit code %d\n%s", code, text)
				}
				return
			}
			if code != tool.ExitOK {
				t.Fatalf("exit code %d\n%s", code, text)
			}
			checkSnippets(t, "reports")
			if code, text := line("inference-perf --analyze reports"); code != tool.ExitOK {
				t.Fatalf("exit code %d\n%s", code, text)
			}
			for _, name := range []string{"latency_vs_qps", "throughput_vs_qps", "throughput_vs_latency"} {
				picture(t, filepath.Join("reports", name+".png"))
			}
		})
	}
}

// guideConfig is the guide's own first example, conversations out of ShareGPT, cut short.
const guideConfig = `
api: {type: chat, streaming: true}
data:
  type: shareGPT
  input_distribution: {min: 4, max: 1024}
  output_distribution: {min: 4, max: 1024}
load:
  type: constant
  interval: 0
  stages: [{rate: 20, duration: 1}, {rate: 40, duration: 1}]
server: {type: vllm, base_url: %q}
tokenizer: {pretrained_model_name_or_path: %s}
report: {request_lifecycle: {percentiles: [10, 50, 90]}}
storage: {local_storage: {path: reports}}
`

// line runs a command line as it is printed.
func line(text string) (code int, output string) {
	var out bytes.Buffer
	code = Main(tool.Env{Args: strings.Fields(text), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: os.Getenv, Restore: func() {}})
	return code, out.String()
}

func put(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// fillHub puts the data set of the guide on a hub, and a tokenizer of printable ASCII,
// which takes a token.
func fillHub(t *testing.T, hub *hubtest.Server, conversations string) {
	t.Helper()
	talks, err := os.ReadFile(conversations)
	if err != nil {
		t.Fatal(err)
	}
	const commit = "0123456789abcdef0123456789abcdef01234567"
	hub.Add("datasets/anon8231489123/ShareGPT_Vicuna_unfiltered", commit, map[string]hubtest.FakeFile{"ShareGPT_V3_unfiltered_cleaned_split.json": {Data: string(talks), Large: true}})
	vocabulary := map[string]int{"Ġ": 0}
	for c := '!'; c <= '~'; c++ {
		vocabulary[string(c)] = len(vocabulary)
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	text, err := json.Marshal(map[string]any{
		"version": "1.0", "added_tokens": []any{}, "pre_tokenizer": level, "decoder": level,
		"model": map[string]any{"type": "BPE", "vocab": vocabulary, "merges": []string{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	repo := hub.Add(letters, commit, map[string]hubtest.FakeFile{"tokenizer.json": {Data: string(text)}})
	repo.Gated, repo.Token = true, "hf_sesame"
}

// The pieces of reports that the guide prints, by their keys.
func checkSnippets(t *testing.T, dir string) {
	t.Helper()
	spread := []string{"mean", "min", "p10", "median", "p90", "max"}
	text, err := os.ReadFile(filepath.Join(dir, "stage_0_lifecycle_metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Load      map[string]any `json:"load_summary"`
		Successes map[string]any
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	has := func(in any, path string, keys ...string) {
		for name := range strings.SplitSeq(path, "/") {
			if name != "" {
				m, _ := in.(map[string]any)
				in = m[name]
			}
		}
		m, _ := in.(map[string]any)
		for _, k := range keys {
			if _, ok := m[k].(float64); !ok {
				t.Errorf("%s/%s is %v, want a number", path, k, m[k])
			}
		}
	}
	has(report.Load, "", "count", "send_duration", "requested_rate", "achieved_rate")
	has(report.Load, "schedule_delay", spread...)
	for _, name := range []string{"request_latency", "normalized_time_per_output_token", "time_per_output_token", "time_to_first_token", "inter_token_latency"} {
		has(report.Successes, "latency/"+name, spread...)
	}
	has(report.Successes, "throughput", "input_tokens_per_sec", "output_tokens_per_sec", "total_tokens_per_sec", "requests_per_sec")
	has(report.Successes, "prompt_len", spread...)
	has(report.Successes, "output_len", spread...)
}

func picture(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 300 {
		t.Errorf("%s: %v", name, err)
	}
}

// TestPlacesOfTheGuide: the files and headings that the guide points to are here.
func TestPlacesOfTheGuide(t *testing.T) {
	for _, place := range []string{
		"config.yml", "examples/README.md", "examples/vllm/config.yml", "examples/vllm/config-synthetic.yml", "examples/vllm/config-random.yml",
		"examples/vllm/config-shared-prefix.yml", "examples/vllm/config-shared-prefix-multi-turn.yml", "docs/inference-perf-config.md#data-generation",
		"docs/lora.md#multilora-traffic-splitting", "docs/metrics.md", "deploy/README.md", "code-of-conduct.md",
	} {
		name, anchor, _ := strings.Cut(place, "#")
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Error(err)
			continue
		}
		lines := strings.Split(string(text), "\n")
		if anchor != "" && !slices.Contains(lines, `<a id="`+anchor+`"></a>`) {
			t.Errorf("%s has no place called %s", name, anchor)
		}
	}
}
