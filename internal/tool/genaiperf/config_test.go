package genaiperf

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	frontend "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

// configOf is the configuration that the JSON report of a command line repeats.
func configOf(t *testing.T, args string) map[string]any {
	t.Helper()
	read := func(text string) ([]byte, error) { return []byte(text), nil } // the text in place of its file
	a, err := frontend.Parser{ReadFile: read}.Parse(strings.Fields(args))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Levels) > 0 {
		a = a.Levels[0]
	}
	tt := &job{set: &a.Settings, plan: a.Plan}
	text, err := tt.config()
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// What the report repeats is what the real tool repeated of the same command line, to
// the letter.
func TestConfigOfTheRealTool(t *testing.T) {
	const args = "profile -m vllm_model --backend vllm --streaming -u 127.0.0.1:8001 --concurrency 4 --request-count 40 --warmup-request-count 4 --num-prompts 20 --isl 50 --osl 16 --tokenizer DIR/tokenizer --artifact-dir DIR/samples/genai_triton"
	text, err := os.ReadFile("testdata/vllm/profile_export_genai_perf.json")
	if err != nil {
		t.Fatal(err)
	}
	var real struct {
		Config json.RawMessage `json:"input_config"`
	}
	if err := json.Unmarshal(text, &real); err != nil {
		t.Fatal(err)
	}
	a, err := frontend.Parser{}.Parse(strings.Fields(args))
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&job{set: &a.Settings, plan: a.Plan}).config()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(real.Config), got); diff != "" {
		t.Errorf("(-real +ours):\n%s", diff)
	}
}

// Every part of it follows the settings.
// differs: genai-input-config
func TestConfigFollowsTheSettings(t *testing.T) {
	const chat = "profile -m m --endpoint-type chat "
	for _, tt := range []struct{ args, path, want string }{
		{chat, "endpoint.url", `"localhost:8000"`},
		{"profile -m m", "endpoint.url", `"localhost:8001"`},
		{chat + "-v", "verbose", "true"},
		{chat + `--extra-inputs {"a":{"b":null,"c":[null]}}`, "input.extra", `{"a":{"b":"","c":[null]}}`},
		{chat + `--extra-inputs {}`, "input.extra", `""`},
		{`config -f {"model_names":["m"],"endpoint":{"type":"chat"},"input":{"extra":{}}}`, "input.extra", "{}"},
		{chat + "--checkpoint-dir=", "output.checkpoint_directory", `"."`},
		{chat + "--artifact-dir ./a//b/../c/", "output.artifact_directory", `"a/b/../c"`},
		{chat + "--artifact-dir /a/", "output.artifact_directory", `"/a"`},
		{chat + "--generate-plots", "output.generate_plots", "true"},
		{"analyze -m m --endpoint-type chat --sweep-list 1,2 --enable-checkpointing --checkpoint-dir there", "output.enable_checkpointing", "true"},
		{"analyze -m m --endpoint-type chat --sweep-list 1,2 --enable-checkpointing --checkpoint-dir there", "output.checkpoint_directory", `"there"`},
		{"analyze -m m --endpoint-type chat --sweep-list 1,2", "analyze.sweep_parameters", `{"concurrency":[1,2]}`},
		{"analyze -m m --endpoint-type chat --sweep-type request_rate --sweep-range 2:8", "analyze.sweep_parameters", `{"request_rate":{"max":8,"min":2}}`},
		{"analyze -m m --endpoint-type chat --sweep-range 2:8:2", "analyze.sweep_parameters", `{"concurrency":[2,4,6,8]}`},
		{"analyze -m m --endpoint-type chat --sweep-range 2:8:2", "subcommand", `"analyze"`},
		{"profile -m m --endpoint-type generate", "endpoint.output_format", `"triton_generate"`},
		{"profile -m m --endpoint-type rankings --input-file synthetic:queries,passages", "endpoint.output_format", `"rankings"`},
		{"profile -m m --endpoint-type huggingface_generate", "endpoint.output_format", `"huggingface_generate"`},
		{chat, "input.output_tokens.mean", `""`},
		{chat + "--concurrency 7", "perf_analyzer.measurement.num", `""`},
		{chat + "--request-count 7", "perf_analyzer.measurement.num", `7`},
		// differs: genai-sweep-stimulus
		{"analyze -m m --endpoint-type chat --sweep-list 4 --concurrency 1", "perf_analyzer.stimulus", `{"concurrency":4}`},
		{chat + "--tokenizer-trust-remote-code", "tokenizer.trust_remote_code", "true"},
		{"profile -m m --endpoint-type multimodal --image-width-mean 20 --image-width-stddev 3 --image-height-mean 30 --image-format jpeg --batch-size-image 2", "input.image",
			`{"batch_size":2,"format":"jpeg","height":{"mean":30,"stddev":0},"width":{"mean":20,"stddev":3}}`},
		{"profile -m m --endpoint-type multimodal --audio-length-mean 2 --audio-length-stddev 0.5 --audio-depths 8 16 --audio-sample-rates 8 44.1 --audio-num-channels 2 --batch-size-audio 3", "input.audio",
			`{"batch_size":3,"depths":[8,16],"format":"wav","length":{"mean":2,"stddev":0.5},"num_channels":2,"sample_rates":[8,44.1]}`},
		{chat + "--input-file payload:x.jsonl", "input.file", `"payload:x.jsonl"`},
		{chat + "--input-file payload:x.jsonl", "input.payload_file", `"x.jsonl"`},
		{"profile -m m --endpoint-type rankings --input-file synthetic:queries,passages", "input.synthetic_files", `["queries","passages"]`},
		{"profile -m m --endpoint-type rankings --input-file synthetic:queries,passages", "input.file", `"synthetic:queries,passages"`},
		{chat + "--request-rate 5 -p 4000 -s 20", "perf_analyzer", `{"measurement":{"mode":"interval","num":4000},"path":"perf_analyzer","stability_percentage":20,"stimulus":{"request_rate":5},"verbose":false,"warmup_request_count":0}`},
	} {
		var at any = configOf(t, tt.args)
		for name := range strings.SplitSeq(tt.path, ".") {
			at = at.(map[string]any)[name]
		}
		got, err := json.Marshal(at)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s is %s, want %s", tt.args, tt.path, got, tt.want)
		}
	}
}
