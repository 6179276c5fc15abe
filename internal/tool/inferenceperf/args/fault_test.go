package args

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

// TestAllFaults: all that is wrong is told at once, in the order of the lines.
func TestAllFaults(t *testing.T) {
	_, err := parse(`api:
  type: chatt
  streamin: true
data:
  type: synthetic
  input_distribution: {mean: many, typ: x, min: 9, max: 3}
load:
  stages:
    - {rate: -1, duration: 2}
    - {rate: 1}
    - {rate: 1, duration: 1, num_requests: 3}
  num_requests: 3
  circuit_breakers: [slwo]
server:
  type: vllm
report:
  goodput: {constraints: {ttft: 0}}
  request_lifecycle: {percentiles: [50, 101]}
storage: {s3: {}}
circuit_breakers: [{name: slow, metrics: {matches: [a]}, triggers: []}]
`, "--load.interval", "soon", "--lod.type", "constant", "--api.headers", "{", "stray")
	if err == nil {
		t.Fatal("accepted")
	}
	want := `--lod.type: unknown flag (did you mean --load.type?)
argument 9: unexpected "stray" (pass the config file with --config_file)
--load.interval: must be a number, is "soon"
--api.headers: is not valid JSON: line 1: did not find expected node content
c.yml:2:9: api.type: unknown value "chatt"; did you mean "chat"? (one of completion, chat, anthropic_messages)
c.yml:3:3: api.streamin: unknown key (did you mean "streaming"?)
c.yml:5:3: data.output_distribution: is missing: type synthetic needs it (such as {type: fixed, mean: 100})
c.yml:6:23: data.input_distribution: min 9 is more than max 3
c.yml:6:30: data.input_distribution.mean: must be a number, is "many"
c.yml:6:36: data.input_distribution.typ: unknown key (did you mean "type"?)
c.yml:9:14: load.stages[0].rate: must be more than 0, is "-1"
c.yml:10:7: load.stages[1].duration: is missing: a stage of type constant needs it
c.yml:11:44: load.stages[2].num_requests: does not apply to load.type constant (leave it out)
c.yml:12:3: load.num_requests: unknown key (did you mean "load.sweep.num_requests"?)
c.yml:13:22: load.circuit_breakers[0]: there is no breaker "slwo" (did you mean "slow"?)
c.yml:15:3: server.base_url: is missing
c.yml:17:33: report.goodput.constraints.ttft: must be more than 0, is "0"
c.yml:18:41: report.request_lifecycle.percentiles[1]: must be at most 100, is "101"
c.yml:19:11: storage.s3: unknown key (storage has local_storage, google_cloud_storage, simple_storage_service)`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{"[1]", "c.yml:1:1: must be a mapping, is a list"},
		{"a: [", "c.yml:2: not valid YAML"},
		{"api: {}\n---\napi: {}", "a second document"},
		{"api: {type: chat, type: chat}", "c.yml:1:19: api.type: given twice"},
		{"api: {streaming: maybe}", "must be true or false"},
		{"api: chat", "api: must be a mapping, is a single value"},
		{"load: {type: null}", "load.type: must not be null"},
		// differs: ip-agentic
		{"data: {type: synthetic_agentic}", "data.synthetic_agentic: is missing: type synthetic_agentic needs it"},
		{"data: {synthetic_agentic: {num_sessions: 3}}", "c.yml:1:27: data.synthetic_agentic.input_tokens_per_turn: is missing"},
		{"data: {use_chat_template: true}", "data.use_chat_template: needs data.type random"},
		{"data: {type: shared_prefix}", "data.shared_prefix: is missing"},
		{"data: {type: shared_prefix, shared_prefix: {question_len: {mean: 20}, question_distribution: {mean: 20}}}", "data.shared_prefix.question_distribution: cannot be combined with"},
		{"data: {type: shared_prefix, shared_prefix: {multimodal: {image: {colour: red}}}}", "data.shared_prefix.multimodal.image.colour"},
		{"data: {type: shared_prefix, shared_prefix: {num_groups: 2, num_unique_system_prompts: 3}}", "data.shared_prefix.num_unique_system_prompts: is another name for num_groups, which is also given"},
		{"data: {type: conversation_replay}", "data.conversation_replay: is missing"},
		{"data: {type: visionarena}", "data.visionarena: is missing"},
		{"data: {type: visionarena, visionarena: {}}", "api.type: visionarena needs type chat"},
		{"data: {type: otel_trace_replay, otel_trace_replay: {trace_directory: x}}", "api.type: otel_trace_replay needs type chat"},
		{"data: {type: infinity_instruct}", "data.path: is missing"},
		{"data: {type: otel_trace_replay, otel_trace_replay: {trace_directory: x}}", "load.type: otel_trace_replay needs type trace_session_replay"},
		{"load: {type: trace_session_replay, stages: [{concurrent_sessions: 1}]}", "needs data.type otel_trace_replay"},
		{"load: {type: trace_session_replay, stages: [{concurrent_sessions: 1, session_rate: 2}]}\ndata: {type: weka_trace_replay, weka_trace_replay: {trace_directory: a, trace_files: [b]}}",
			"load.stages[0].session_rate: 2 is more than concurrent_sessions, 1"},
		{"load: {type: trace_session_replay, stages: [{concurrent_sessions: 1}]}\ndata: {type: weka_trace_replay, weka_trace_replay: {trace_directory: a, trace_files: [b]}}", "needs exactly one of"},
		{"data: {type: weka_trace_replay, weka_trace_replay: {hf_dataset_path: {name: c}}}", "data.weka_trace_replay.hf_dataset_path.path: is missing (give owner/name)"},
		{"load: {type: trace_replay, stages: [{rate: 1, duration: 1}]}", "load.trace: is missing"},
		{"load: {type: concurrent, sweep: {type: linear}}", "load.sweep: cannot be combined with load.type concurrent"},
		{"load: {sweep: {}}", "load.sweep.type: is missing"},
		{"load: {stages: [{rate: 0.1, duration: 3}]}", "no request would be sent"},
		{"load: {stages: [{rate: 1e6, duration: 1000000000000}]}", "load.stages[0].requests: is 1000000000000000000, more than"},
		{"load: {request_timeout: 1e18, stages: [{rate: 1, duration: 1}]}", "load.request_timeout: is 1281023h53m38.427387904s, more than 30 days"},
		{"load: {request_retries: 5000, stages: [{rate: 1, duration: 1}]}", "load.request_retries: is 5000, more than 1000"},
		{"load: {stages: []}", "load.stages: is empty"},
		{"load: {lora_traffic_split: [{name: a, split: 0.5}], stages: [{rate: 1, duration: 1}]}", "load.lora_traffic_split: the shares add up to 0.5"},
		{"metrics: {type: prometheus, prometheus: {url: 'http://a', google_managed: true}}", "needs exactly one of url and google_managed"},
		{"metrics: {prometheus: {url: 'http://a'}}", "metrics.type: is missing"},
		{"storage: {simple_storage_service: {path: a}}", "storage.simple_storage_service.bucket_name: is missing"},
		{"storage: {local_storage: {report_file_prefix: a/b}}", "must not contain a path separator"},
		{"server: {base_url: 'localhost:8000'}", `c.yml:1:20: server.base_url: has no scheme`},
		{"server: {base_url: 'http://h', cert_path: a}", "server.cert_path: a client certificate needs both cert and key (give server.key_path)"},
		{"data: {type: random, input_distribution: {mean: 2000}, output_distribution: {type: fixed}}", "c.yml:1:49: data.input_distribution.mean: 2000 is outside min and max"},
		{"api: {headers: {x-slo-ttft-ms: soon}}", "api.headers.x-slo-ttft-ms: must be a number"},
		{"data: {type: shared_prefix, shared_prefix: {}, multimodal: {audio: {count: {type: fixed, mean: 1, min: 1, max: 1}}}}\napi: {type: anthropic_messages}", "data.multimodal.audio: messages of Anthropic's API hold no sound (set api.type to chat, or leave it out)"},
		{"data: {type: shared_prefix, shared_prefix: {multimodal: {audio: {count: {type: fixed, mean: 1, min: 1, max: 1}}}}}\napi: {type: anthropic_messages}", "data.shared_prefix.multimodal.audio: messages of Anthropic's API hold no sound (set api.type to chat, or leave it out)"},
		{"data: {type: synthetic, multimodal: {image: {count: {type: fixed, mean: 1, min: 1, max: 1}}}}", "data.multimodal: endpoint \"completions\" takes text alone (set api.type to chat or anthropic_messages)"},
		{"api: {response_format: {type: json_schema}}", "api.response_format.json_schema: is missing"},
		{"server: {base_url: 'http://h', api_key: (secret)}", "server.api_key: was removed"},
	} {
		config := c.config
		if !strings.Contains(config, "server:") {
			config += "\nserver: {base_url: 'http://h'}"
		}
		if !strings.Contains(config, "load:") {
			config += "\nload: {stages: [{rate: 1, duration: 1}]}"
		}
		if strings.HasPrefix(config, "[") {
			config = c.config
		}
		_, err := parse(config)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %s", c.config, err, c.want)
		}
	}
}

// What shows only in the plan is told beside what shows in the config, but nothing that
// only follows from another fault.
func TestFaultsOfSectionsTogether(t *testing.T) {
	_, err := parse("data: {type: otel_trace_repaly}\nload: {type: trace_session_replay, stages: [{concurrent_sessions: 1}]}\nserver: {base_url: 'ftp://h'}")
	var faults plan.Faults
	if !errors.As(err, &faults) || len(faults) != 2 || faults[0].Path != "data.type" || faults[1].Path != "server.base_url" {
		t.Errorf("%v", err)
	}
}

// What shows only when a plan is prepared is told by the config's own names and places.
func TestLocated(t *testing.T) {
	a, err := parse("data: {type: weka_trace_replay, weka_trace_replay: {trace_directory: d}}\napi: {type: chat}\n" +
		"load: {type: trace_session_replay, stages: [{concurrent_sessions: 1}], circuit_breakers: [b]}\nserver: {base_url: 'http://h'}\n" +
		`circuit_breakers: [{name: a, metrics: {matches: [x]}, triggers: [{type: consecutive, threshold: 1}]}, {name: b, metrics: {matches: [x, y]}, triggers: [{type: consecutive, threshold: 1}]}]`)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"data.replay.dir":                               "c.yml:1:70: data.weka_trace_replay.trace_directory: wrong",
		"data.replay":                                   "c.yml:1:52: data.weka_trace_replay: wrong",
		"breakers[0].matches[1]":                        "c.yml:5:136: circuit_breakers[1].metrics.matches[1]: wrong",
		"breakers[0].triggers[0].kind":                  "c.yml:5:159: circuit_breakers[1].triggers[0].type: wrong",
		"target.endpoint":                               "c.yml:2:13: api.type: wrong",
		"data.shared_prefix.media.image.sizes[0].width": "c.yml:1:7: data.shared_prefix.multimodal.image.resolutions[0].width: wrong",
		"output.s3.bucket":                              "c.yml:1:1: storage.simple_storage_service.bucket_name: wrong",
		"data.input.stddev":                             "c.yml:1:7: data.input_distribution.std_dev: wrong",
		"tokenizer.name":                                "c.yml:1:1: tokenizer.pretrained_model_name_or_path: wrong",
	} {
		err := a.Names().Error(&wrapped{errors.Join(errors.New("other"), plan.Faults{{Path: path, Text: "wrong"}})})
		if got := err.Error(); got != "other\n"+want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// wrapped is an error without words of its own.
type wrapped struct{ error }

func (w *wrapped) Unwrap() error { return w.error }

// A flag that lacks the sections around its key is known by the key.
func TestFlagsByTheirKeys(t *testing.T) {
	for flag, want := range map[string]string{
		"--model": "--server.model_name", "--url": "--server.base_url", "--retries": "--load.request_retries", "--stage": "--load.stages",
		"--load.stages.0.rate": "--load.stages takes the whole list, as JSON", "--load.lora_traffic_split[1].name": "--load.lora_traffic_split takes the whole list, as JSON",
		"--num_workers": "--load.num_workers", "--lod.type": "--load.type", "--zzz": "see inference-perf --help",
	} {
		if _, err := parse(small, flag, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flag, err, want)
		}
	}
}

// TestFlagsInForm: a later use of a flag does not make good a value without the form of its kind.
func TestFlagsInForm(t *testing.T) {
	for _, c := range [][3]string{{"--load.interval", "x", "0"}, {"--load.interval", "1", "true"}, {"--load.num_workers", "1", "false"}, {"--load.num_workers", "1.5", "1"}, {"--server.type", "x", "vllm"}, {"--api.headers", "{", "{}"}} {
		if _, err := parse(small, c[0], c[1], c[0], c[2]); err == nil || !strings.Contains(err.Error(), c[0]) {
			t.Errorf("%s %s %s %s: %v", c[0], c[1], c[0], c[2], err)
		}
	}
}

// Places have no usual mean: a distribution that needs none does without.
func TestPlaces(t *testing.T) {
	for config, want := range map[string]string{
		"{type: uniform, min: 0, max: 1}": "",
		"{type: normal, min: 0, max: 1}":  "data.visionarena.insertion_point.mean: must be from 0 to 1, is 512",
		"{type: fixed, mean: 0.5}":        "",
		"1.5":                             "data.visionarena.insertion_point: must be at most 1",
		"-1":                              "data.visionarena.insertion_point: must be 0 or more",
	} {
		_, err := parse(small + "api: {type: chat}\ndata: {type: visionarena, path: p, visionarena: {insertion_point: " + config + "}}\n")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", config, err, want)
		}
	}
}

// A flag that makes something else wrong than its own key says what.
func TestFlagsNameTheKey(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"--load.stages", `[{"rate": 0, "duration": 1}]`, `--load.stages: load.stages[0].rate: must be more than 0, is "0"`},
		{"--metrics.prometheus.url", "http://x", "--metrics.prometheus.url: metrics.type: is missing"},
		{"--load.sweep.num_stages", "3", "--load.sweep.num_stages: load.sweep.type: is missing"},
		{"--load.interval", "soon", `--load.interval: must be a number, is "soon"`},
		{"--server.base_url", "ftp://h", `--server.base_url: unknown scheme "ftp" (http or https)`},
		{"--server.base_url", "grpc://h", "--server.base_url: the protocol is \"openai\", which has no gRPC (give an http:// or https:// address)"},
		{"--load.stages", "[]", "--load.stages: is empty"},
	} {
		if _, err := parse(small, c.flag, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.flag, c.value, err, c.want)
		}
	}
}

// TestBombs: a config whose aliases stand for themselves, or for millions, is refused.
func TestBombs(t *testing.T) {
	huge := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for _, n := range []string{"1", "2", "3", "4", "5", "6"} {
		last := string(n[0] - 1)
		huge += "a" + n + ": &a" + n + " [" + strings.Repeat("*a"+last+", ", 9) + "*a" + last + "]\n"
	}
	huge += "api: {response_format: {json_schema: {a: *a6}}}\n"
	for _, config := range []string{"api: {response_format: {json_schema: &a {a: *a, b: [*a, *a]}}}", huge} {
		if _, err := parse(config); err == nil || !strings.Contains(err.Error(), "nested too deeply or too large") {
			t.Errorf("%.200v", err)
		}
	}
}
