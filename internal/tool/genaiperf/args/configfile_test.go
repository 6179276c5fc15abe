package args

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// withFile reads command lines with one config file on the disk.
func withFile(text string) Parser {
	return Parser{Analyzer: analyzer, ReadFile: func(name string) ([]byte, error) {
		if name != "c.yaml" {
			return nil, errors.New("no such file")
		}
		return []byte(text), nil
	}}
}

// A config file asks for what a command line asks for.
func TestConfigFile(t *testing.T) {
	for _, tt := range []struct{ file, flags, line string }{
		{
			"model_names: [gpt2]\nendpoint: {type: chat, streaming: True, url: there:1}\n", "",
			"profile -m gpt2 --endpoint-type chat --streaming -u there:1",
		},
		{
			`model_names: gpt2
endpoint: {type: completions, custom: v1/mine}
perf_analyzer: {path: /bin/x, stimulus: {request_rate: 2.5}, measurement: {mode: interval, num: 700}, warmup_request_count: 3}
input:
  extra: {temperature: 0.5, stop: ["a:b"]}
  goodput: {request_latency: 300}
  header: {X-A: "1"}
  synthetic_tokens: {mean: 20, stddev: 2}
  output_tokens: {mean: 9}
  prefix_prompt: {num: 2, length: 7}
output: {artifact_directory: here}
tokenizer: {name: builtin:gpt2}
`, "",
			`profile -m gpt2 --endpoint-type completions --endpoint v1/mine --request-rate 2.5 -p 700 --warmup-request-count 3 --extra-inputs {"stop":["a:b"],"temperature":0.5} ` +
				`--goodput request_latency:300 -H X-A:1 --isl 20 --synthetic-input-tokens-stddev 2 --osl 9 --num-prefix-prompts 2 --prefix-prompt-length 7 --artifact-dir here --tokenizer builtin:gpt2`,
		},
		{
			"model_names: gpt2\nendpoint: {backend: vllm}\nperf_analyzer: {stimulus: {'concurrency': 4}, measurement: {num: 50}}\n", "--override-config --concurrency 8",
			"profile -m gpt2 --backend vllm --concurrency 8 --request-count 50",
		},
		{
			"model_names: gpt2\nendpoint: {type: chat}\nanalyze:\n  concurrency: {start: 1, stop: 8}\n", "",
			"analyze -m gpt2 --endpoint-type chat --sweep-type concurrency --sweep-range 1:8",
		},
		{
			"model_names: gpt2\nendpoint: {type: chat}\nanalyze:\n  concurrency: {start: 1, stop: 2}\nperf_analyzer: {stimulus: {concurrency: 1}}\n", "",
			"analyze -m gpt2 --endpoint-type chat --sweep-type concurrency --sweep-range 1:2 --concurrency 1",
		},
		{"model_names: m\nendpoint: {type: chat, custom: ''}\noutput: {artifact_directory: '', checkpoint_directory: ''}\n", "", "profile -m m --endpoint-type chat --artifact-dir= --checkpoint-dir="},
		{"model_names: m\nendpoint: {type: chat}\noutput: {artifact_directory: , checkpoint_directory: }\n", "", "profile -m m --endpoint-type chat"},
		{"process: {input_path: runs}\n", "", "process-export-files -d runs"},
		{"model_names: a, b\nendpoint: {type: chat}\n", "", "profile -m a b --endpoint-type chat"},
	} {
		got, err := withFile(tt.file).Parse(append([]string{"config", "-f", "c.yaml"}, strings.Fields(tt.flags)...))
		if err != nil {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		want, err := Parser{Analyzer: analyzer}.Parse(strings.Fields(tt.line))
		if err != nil {
			t.Fatal(err)
		}
		if got.Command != want.Command || got.InputDir != want.InputDir || !reflect.DeepEqual(got.Settings, want.Settings) ||
			!reflect.DeepEqual(got.Plan, want.Plan) || len(got.Levels) != len(want.Levels) {
			t.Errorf("%s\n%s\n got %+v\nwant %+v", tt.file, tt.line, got.Settings, want.Settings)
		}
	}
}

// What create-template writes is all defaults, and a config file.
func TestTemplate(t *testing.T) {
	for _, comments := range []bool{false, true} {
		text := strings.Replace(TemplateText(comments), "model_names: ", "model_names: gpt2", 1)
		got, err := withFile(text).Parse([]string{"config", "-f", "c.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse(strings.Fields("profile -m gpt2 -u localhost:8001"))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Settings, want.Settings) {
			t.Errorf(" got %+v\nwant %+v", got.Settings, want.Settings)
		}
	}
	a, err := Parse([]string{"create-template", "-v"})
	if err != nil || a.File != "genai_perf_config.yaml" || !a.Settings.Verbose {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Parse([]string{"create-template", "--concurrency", "3"}); err == nil {
		t.Error("a flag without a meaning is taken")
	}
}

// Each key that stands for a flag does so under its own name.
func TestEveryKey(t *testing.T) {
	table := flags()
	for _, k := range configKeys() {
		if k.flag != "" && long(table, k.flag) == nil {
			t.Errorf("%s stands for --%s, which is not a flag", k.path, k.flag)
		}
	}
}

func TestBadConfigFiles(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"", "is empty"},
		{"a: [", "c.yaml:1: not valid YAML"},
		{"model_names: m\n---\nmodel_names: n\n", "c.yaml:2:1: a second document in one file"},
		{"model_names: m\nendpoint:\n  typ: chat\n", "c.yaml:3: endpoint.typ: unknown key (did you mean endpoint.type?)"},
		{"model_names: m\nendpoint: {type: chatt}\n", `c.yaml:2: endpoint.type: unknown value "chatt"`},
		{"model_names: m\ninput:\n  output_tokens: {mean: -3}\n", "c.yaml:3: input.output_tokens.mean: must be at least 1"},
		{"model_names: m\nendpoint: {streaming: maybe}\n", "endpoint.streaming: must be True or False"},
		{"model_names: m\nperf_analyzer: {stimulus: {load: 3}}\n", "unknown load"},
		{"model_names: m\nperf_analyzer: {stimulus: {session_concurrency: 1, concurrency: 7}}\n", "session_concurrency cannot be combined with another load"},
		{"model_names: m\nperf_analyzer: {measurement: {mode: x}}\n", `measurement.mode: unknown value "x"`},
		{"model_names: m\nanalyze: {concurrency: {start: 1, stop: 2}, request_rate: {start: 1, stop: 2}}\n", "a sweep varies one parameter"},
		{"endpoint: {type: chat}\n", "the model is missing"},
		{"model_names: m\nendpoint: {type: chat}\noutput: {profile_export_file: ''}\n", "is empty"},
		{"model_names: {a: b}\n", "must be a value or a list of values"},
		{"input: 3\n", "input: must be a mapping of keys to values"},
	} {
		_, err := withFile(tt.file).Parse([]string{"config", "-f", "c.yaml"})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "is not supported") {
			t.Errorf("%s: %v, want %s", tt.file, err, tt.want)
		}
	}
	for line, want := range map[string]string{
		"config":                            "the file is missing",
		"config -f other":                   "no such file",
		"config -f c.yaml --concurrency 12": "add --override-config",
	} {
		if _, err := withFile("model_names: m\n").Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func FuzzConfigFile(f *testing.F) {
	f.Add(TemplateText(true))
	f.Add("model_names: m\nanalyze: {sweep_parameters: {concurrency: [1, 2]}}\n")
	f.Add("a: &a [*a]\ninput: {extra: {a: {1: 2}}}\n")
	mutate.Fuzz(f, func(t *testing.T, text string) {
		a, err := withFile(text).Parse([]string{"config", "-f", "c.yaml"})
		if err == nil && a == nil {
			t.Error("neither an action nor an error")
		}
		_ = fmt.Sprint(err)
	})
}
