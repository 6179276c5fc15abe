package args

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// releaseCase is a command line of a release and settings that it must have: field=value,
// with spaces between.
type releaseCase struct{ release, line, want string }

const (
	tenSeconds = "Interval=10000000000 Requests=0 "
	llama      = `Tokenizer="hf-internal-testing/llama-tokenizer" TokenizerGiven=false `
)

// releaseCases are command lines with the flags that each release brought, renamed or
// still had, in its own spelling.
func releaseCases() []releaseCase {
	return append(releasesOf24(), releasesOf25()...)
}

func releasesOf24() []releaseCase {
	return []releaseCase{
		{"24.03", "-m gpt2 --concurrency 1", `Release="24.03" ServiceKind="triton" Backend="tensorrtllm" Interval=5000000000 Concurrency=1 Prompts=100 InputMean=550 OutputMean=150 InWords=150 Stability=999 Dir="." ExportFile="profile_export.json" InputsFile="llm_inputs.json" ` + llama},
		{"24.03", "-m gpt2 --service-kind openai --endpoint v1/completions --output-format openai_completions --request-rate 3 --dataset cnn_dailymail -s 20 -v",
			`Release="24.03" EndpointType="completions" Rate=3 Concurrency=0 Dataset="cnn_dailymail" Stability=20 Verbose=true`},
		{"24.04", "-m gpt2 --service-kind triton --backend vllm --prompt-source dataset --input-dataset openorca --num-prompts 7 --output-tokens-mean 9 --output-tokens-stddev 2 --output-tokens-mean-deterministic --extra-inputs top_k:3 --tokenizer a/b",
			`Release="24.04" Backend="vllm" Dataset="openorca" Prompts=7 OutputMean=9 OutputStddev=2 Deterministic=true Extra=[{"Name":"top_k","Value":3}] Tokenizer="a/b" ` + tenSeconds},
		{"24.03", "-m gpt2 --endpoint-type=chat --genai-perf-release 24.03", `Release="24.03" Endpoint="v1/chat/completions" ServiceKind="openai"`}, // a flag of later ones says it
		{"24.04", "-m gpt2 --service-kind openai --endpoint-type completions --synthetic-input-tokens-mean 5 --synthetic-input-tokens-stddev 1", `Release="24.04" Endpoint="v1/completions" Concurrency=1 InputMean=5 InputStddev=1 OutputMean=0 ` + tenSeconds + llama},
		{"24.05", "-m gpt2 --service-kind triton --backend tensorrtllm --num-prompts 100 --input-file p.jsonl --generate-plots --artifact-dir out --profile-export-file my.json",
			`Release="latest" Backend="tensorrtllm" InputFile="p.jsonl" Plots=true Artifacts="out" Dir="out" ExportFile="my.json" ` + tenSeconds + llama},
		{"24.05", "-m gpt2 --service-kind openai --endpoint-type chat --input-dataset openorca --artifact-dir out --streaming", // the dataset speaks for 24.04
			`Release="24.04" Dataset="openorca" Artifacts="out" Dir="out" Streaming=true ` + tenSeconds},
		{"24.06", "-m a b --model-selection-strategy random --service-kind openai --endpoint-type chat -p 4000", `Release="latest" Models=["a","b"] PickRandom=true Interval=4000000000 Requests=0 Dir="artifacts/a_multi-openai-chat-concurrency1" ` + llama},
		{"24.07", "-m e5 --service-kind openai --endpoint-type embeddings --batch-size 2 --extra-inputs user:sample_user", `Release="latest" EndpointType="embeddings" Endpoint="v1/embeddings" Batch=2 ` + tenSeconds},
		{"24.07", "-m r --service-kind openai --endpoint-type rankings --endpoint rerank --extra-inputs rankings:tei --input-file dir -b 2", `Release="latest" EndpointType="rankings" Endpoint="rerank" InputFile="dir" Batch=2 ` + tenSeconds},
		{"24.08", "profile -m v --service-kind openai --endpoint-type vision --image-width-mean 9 --image-width-stddev 1 --image-height-mean 8 --image-height-stddev 2 --image-format png --streaming",
			`Release="latest" EndpointType="vision" ImageWidthMean=9 ImageHeightMean=8 ImageWidthStddev=1 ImageHeightStddev=2 ImageFormat="png" ` + tenSeconds + llama},
		{"24.08", "profile -m gpt2 --service-kind triton --backend vllm --random-seed 123 --measurement-interval 4000 --url localhost:8001", `Release="latest" ServiceKind="triton" Backend="vllm" Seed=123 Interval=4000000000 URL="localhost:8001"`},
		{"24.09", "profile -m gpt2 --service-kind openai --endpoint-type chat -g time_to_first_token:20 output_token_throughput_per_request:600 --server-metrics-url http://h:8002/metrics --tokenizer a/b",
			`Release="latest" Goodput=[{"Metric":"time_to_first_token","Value":20},{"Metric":"output_token_throughput_per_request","Value":600}] MetricsURLs=["http://h:8002/metrics"] Tokenizer="a/b" ` + tenSeconds},
		{"24.10", "profile -m y --service-kind openai --endpoint-type image_retrieval --input-file in.jsonl --tokenizer a/b --tokenizer-revision v2 --tokenizer-trust-remote-code",
			`Release="latest" EndpointType="image_retrieval" Endpoint="v1/infer" InputFile="in.jsonl" TokenizerRevision="v2" ` + tenSeconds},
		{"24.09", "profile -m gpt2 --service-kind triton --backend vllm --goodput time_to_first_tokens:10 inter_token_latencies:1.6",
			`Goodput=[{"Metric":"time_to_first_token","Value":10},{"Metric":"inter_token_latency","Value":1.6}]`},
		{"24.10", "profile -m y --service-kind=openai --endpoint-type=image_retrieval --image-width-mean 9 --image-height-mean 8 --batch-size 4", `BatchImage=4 Batch=1`},
		{"24.11", "profile -m c --service-kind openai --endpoint-type nvclip --isl 20 --osl 5 --batch-size-text 2 --batch-size-image 3", `Release="latest" EndpointType="nvclip" InputMean=20 Batch=2 BatchImage=3 ` + tenSeconds},
		{"24.12", "profile -m gpt2 --service-kind openai --endpoint-type chat --num-dataset-entries 8 --request-count 20 --warmup-request-count 4", `Release="latest" Prompts=8 Requests=20 Interval=0 Warmup=4 ` + llama},
		{"24.12", "profile -m gpt2 --service-kind openai --endpoint-type generate --endpoint v2/models/gpt2/generate", `Release="latest" EndpointType="generate" Endpoint="v2/models/gpt2/generate" ` + tenSeconds},
		{"24.12", "profile -m gpt2 --endpoint-type kserve --service-kind triton --backend vllm --streaming", `Release="latest" EndpointType="kserve" ServiceKind="triton" Backend="vllm" ` + tenSeconds},
	}
}

func releasesOf25() []releaseCase {
	return []releaseCase{
		{"25.01", "profile -m gpt2 --service-kind openai --endpoint-type chat --num-system-prompts 3 --system-prompt-length 20", `Prefixes=3 PrefixLength=20 ` + tenSeconds},
		{"25.01", "profile -m gpt2 --service-kind openai --endpoint-type chat --num-prefix-prompts 3 --prefix-prompt-length 20 -H A:b --header C:d", `Prefixes=3 PrefixLength=20 Headers=["A:b","C:d"] ` + tenSeconds},
		{"25.02", "profile -m t --service-kind openai --endpoint-type template --endpoint v1/x --extra-inputs payload_template:body.jinja", `EndpointType="template" Template="body.jinja" Endpoint="v1/x" ` + tenSeconds},
		{"25.02", "profile -m t --service-kind openai --endpoint-type huggingface_generate", `EndpointType="huggingface_generate" Endpoint="." ` + tenSeconds},
		{"25.03", "profile -m gpt2 --service-kind openai --endpoint-type chat --num-sessions 4 --session-concurrency 2 --session-turns-mean 3 --session-turns-stddev 1 --session-turn-delay-mean 5 --session-turn-delay-stddev 1",
			`Sessions=4 SessionConcurrency=2 TurnsMean=3 TurnsStddev=1 TurnDelayMean=5 TurnDelayStddev=1 Concurrency=0 Requests=0 Interval=0`},
		{"25.03", "profile -m gpt2 --service-kind openai --endpoint-type chat -H A:b --artifact-dir out", `Shape="25.03" Dir="out"`},
		{"25.03", "profile -m gpt2 --service-kind openai --endpoint-type chat -H A:b --artifact-dir artifacts", `Shape="25.03" Dir="artifacts/gpt2-openai-chat-concurrency1"`},
		{"25.04", "profile -m gpt2 --endpoint-type chat --artifact-dir out --genai-perf-release 25.04", `Shape="25.05" Dir="out/gpt2-openai-chat-concurrency1"`},
		{"25.03", "profile -m gpt2 --service-kind openai --endpoint-type chat --input-file payload:in.jsonl", `PayloadFile="in.jsonl" FixedSchedule=true Requests=0 Interval=0 Concurrency=0`},
		{"25.05", "profile -m gpt2 --endpoint-type chat --input-file payload:in.jsonl --genai-perf-release 25.05", `FixedSchedule=true`},
		{"25.06", "profile -m gpt2 --endpoint-type chat --input-file payload:in.jsonl --genai-perf-release 25.06", `FixedSchedule=false Requests=10`},
		{"24.12", "profile -m gpt2 --service-kind openai --endpoint-type generate --endpoint v2/models/other/versions/3/generate", `Endpoint="v2/models/other/versions/3/generate"`},
		{"25.02", "profile -m r --endpoint-type rankings --input-file synthetic:passages,queries", `SyntheticFiles=["passages","queries"]`},
		{"25.02", "profile -m gpt2 --endpoint-type chat --input-file synthetic:prompts", `SyntheticFiles=["prompts"] InputFile=""`},
		{"25.04", "profile -m gpt2 --endpoint-type chat", `ServiceKind="openai" Requests=10 Interval=0 Tokenizer="gpt2"`},
		{"25.04", "profile -m gpt2 --endpoint-type chat --concurrency 8", `Requests=16 Interval=0`},
		{"25.04", "profile -m gpt2 --backend vllm --streaming", `ServiceKind="triton" EndpointType="kserve" Requests=10 Tokenizer="gpt2"`},
		{"25.04", "profile -m gpt2 --endpoint-type multimodal --audio-length-mean 2 --audio-length-stddev 1 --audio-format wav --audio-depths 16 --audio-sample-rates 44.1 --audio-num-channels 2 --batch-size-audio 2",
			`EndpointType="multimodal" AudioLengthMean=2 AudioLengthStddev=1 AudioDepths=[16] AudioRates=[44.1] AudioChannels=2 BatchAudio=2`},
		{"25.04", "profile -m gpt2 --endpoint-type chat --goodput output_token_throughput_per_user:30", `Goodput=[{"Metric":"output_token_throughput_per_user","Value":30}]`},
		{"25.05", "profile -m gpt2 --endpoint-type chat --num-requests 30 --num-warmup-requests 3", `Requests=30 Warmup=3`},
		{"25.06", "profile -m gpt2 --endpoint-type chat --input-file payload:in.jsonl --fixed-schedule True", `FixedSchedule=true PayloadFile="in.jsonl" Concurrency=0`},
		{"25.06", "profile -m gpt2 --endpoint-type chat --session-delay-ratio 0.5 --num-sessions 2 --session-concurrency 1", `DelayRatio=0.5`},
		// A release that the user names has its own defaults too.
		{"24.10", "profile -m gpt2 --endpoint-type chat --genai-perf-release 24.10", tenSeconds + llama},
		{"25.04", "profile -m gpt2 --service-kind openai --endpoint-type chat --genai-perf-release 25.04", `Requests=10 Interval=0 Tokenizer="gpt2"`},
	}
}

// Every release's flags mean what they meant, with that release's defaults.
func TestReleases(t *testing.T) {
	for _, tt := range releaseCases() {
		got, a := settingsOf(t, strings.Fields(tt.line))
		if err := planfile.Validate(a.Plan); err != nil {
			t.Errorf("%s: %s: %v", tt.release, tt.line, err)
		}
		for field := range strings.FieldsSeq(tt.want) {
			name, want, _ := strings.Cut(field, "=")
			if string(got[name]) != want {
				t.Errorf("%s: %s: %s is %s, want %s", tt.release, tt.line, name, got[name], want)
			}
		}
	}
}

// A command line is printed as the first release that had all of its flags printed it.
func TestShapes(t *testing.T) {
	const openai = "profile -m gpt2 --service-kind openai --endpoint-type chat "
	for _, tt := range []struct{ line, shape string }{
		{"-m gpt2 --concurrency 1", "24.03"},
		{"-m gpt2 --service-kind openai --endpoint-type chat", "24.04"},
		{"-m gpt2 --service-kind openai --endpoint-type chat --artifact-dir out", "24.06"},
		{"-m a b --service-kind openai --endpoint-type chat --model-selection-strategy random", "24.06"},
		{"-m gpt2 --service-kind openai --endpoint-type embeddings -b 2", "24.08"},
		{"-m gpt2 --service-kind openai --endpoint-type embeddings --artifact-dir out", "24.08"},
		{openai, "24.08"},
		{"profile -m v --service-kind openai --endpoint-type vision --image-width-mean 5 --image-height-mean 5", "24.08"},
		{openai + "--goodput time_to_first_token:5", "24.12"},
		{openai + "--tokenizer-revision main", "24.12"},
		{openai + "--isl 20 --osl 5", "24.12"},
		{openai + "--synthetic-input-tokens-mean 20 --output-tokens-mean 5", "24.08"},
		{openai + "--request-count 20", "24.12"},
		{openai + "--num-requests 20", "25.03"},
		{openai + "-H A:b", "25.03"},
		{openai + "--input-file payload:x.jsonl", "25.03"},
		{openai + "--num-sessions 2 --session-concurrency 1", "25.03"},
		{openai + "--input-file payload:x.jsonl --fixed-schedule", "latest"},
		{"analyze -m m --service-kind openai --endpoint-type chat --sweep-list 1,2", "25.03"},
		{"profile -m gpt2 --endpoint-type chat", "latest"},
		{"profile -m gpt2 --endpoint-type chat --genai-perf-release latest", "latest"},
		{openai + "--request-count 20 --genai-perf-release latest", "latest"},
		{openai + "--genai-perf-release 24.05", "24.06"},
		{openai + "--genai-perf-release 24.07", "24.08"},
		{openai + "--genai-perf-release 24.10", "24.12"},
		{openai + "--genai-perf-release 0.0.9", "24.12"},
		{openai + "--genai-perf-release 0.0.12", "25.03"},
		{openai + "--genai-perf-release 25.04", "25.05"},
		{openai + "--genai-perf-release 0.0.15", "latest"},
		{openai + "--genai-perf-release 25.06", "latest"},
	} {
		a, err := Parse(strings.Fields(tt.line))
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if a.Command == Analyze {
			a = a.Levels[0]
		}
		if got := a.Settings.Shape; got != tt.shape {
			t.Errorf("%s: printed as %s, want %s", tt.line, got, tt.shape)
		}
		inputs := "inputs.json"
		if tt.shape <= "24.08" {
			inputs = "llm_inputs.json"
		}
		if got := a.Settings.InputsFile; got != inputs {
			t.Errorf("%s: prompts are in %s, want %s", tt.line, got, inputs)
		}
	}
	if _, err := Parse(strings.Fields(openai + "--genai-perf-release 0.0.3")); err == nil || !strings.Contains(err.Error(), "a later one such as 25.03, a package version from 0.0.8 on") {
		t.Error(err)
	}
}

// Every flag that tells a release is a flag.
func TestBroughtFlags(t *testing.T) {
	table := flags()
	for month, names := range brought() {
		for _, name := range names {
			if f := long(table, name); f == nil || f.name != name && !slices.Contains(f.same, name) {
				t.Errorf("%s: there is no flag %s", month, name)
			}
		}
	}
	for month, types := range broughtTypes() {
		for _, name := range types {
			if !slices.Contains(choicesOf("endpoint-type"), name) {
				t.Errorf("%s: there is no type %s", month, name)
			}
		}
	}
}

// Command lines that look like those of a release, and cannot be meant.
func TestFaultsOfReleases(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"profile -m m --endpoint-type rankings --input-file synthetic:queries", "give synthetic:queries,passages"},
		// differs: genai-batch-of-lines
		{"profile -m m --endpoint-type image_retrieval --input-file x.jsonl --batch-size-image 2", "--batch-size-image: has no effect on an input file"},
		{"profile -m m --endpoint-type chat --profile-export-file inputs.json", "--profile-export-file: inputs.json is the file of all prompts"},
		{"profile -m m --endpoint-type chat --isl 100000000", "--num-prompts: 100 prompts of 100000000 tokens are too many to keep"},
		{"-m m --profile-export-file out/llm_inputs.json", "--profile-export-file: llm_inputs.json is the file of all prompts"},
	} {
		if _, err := Parse(strings.Fields(tt.line)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.line, err, tt.want)
		}
	}
}

func TestNoModel(t *testing.T) {
	if _, err := Parse([]string{"profile", "-m", "", "--endpoint-type", "chat"}); err == nil || !strings.Contains(err.Error(), "-m: the model is missing") {
		t.Error(err)
	}
}

// The sub-commands of the releases.
func TestCommandsOfReleases(t *testing.T) {
	files := map[string]string{
		"plots.yaml": "plot1:\n  title: Time to First Token\n  type: box\n  y_metric: time_to_first_tokens\n  paths:\n  - a.json\n  - b.json\nplot2:\n  title: x\n  type: scatter\n  x_metric: input_sequence_lengths\n  y_metric: request_latencies\n  paths: [b.json, c.json]\n  output: compare\n",
		"empty.yaml": "", "list.yaml": "plot1:\n  paths: {a: b}\n",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("open " + name + ": no such file or directory")
	}
	for _, tt := range []struct{ release, line, command, files, fault string }{
		{"24.05", "compare --files a.json b.json", Compare, "a.json b.json", ""},
		{"24.05", "compare -f a.json b.json", Compare, "a.json b.json", ""},
		{"24.05", "compare --config plots.yaml", Compare, "a.json b.json", ""},
		{"24.05", "compare --config empty.yaml", "", "", "empty.yaml describes no chart"},
		{"24.05", "compare --config list.yaml", "", "", "list.yaml:1: plot1: "},
		{"24.05", "compare --config missing.yaml", "", "", "no such file"},
		{"24.05", "compare --config plots.yaml -f a.json", "", "", "--config: cannot be combined with -f"},
		{"24.05", "profile -m m --endpoint-type chat --config plots.yaml", "", "", "--config: is not supported here"},
		{"25.01", "analyze -m m --service-kind openai --endpoint-type chat --sweep-type concurrency --sweep-range 1:2", Analyze, "", ""},
		{"25.04", "create-template", Template, "", ""},
		{"25.04", "create-template -f mine.yaml -v", Template, "", ""},
		{"25.05", "process-export-files -d runs --artifact-dir out --profile-export-file x.json", Merge, "", ""},
		{"25.05", "process-export-files --input-directory runs", Merge, "", ""},
	} {
		a, err := Parser{Analyzer: analyzer, ReadFile: read}.Parse(strings.Fields(tt.line))
		switch {
		case tt.fault != "":
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%s: %s: %v, want %s", tt.release, tt.line, err, tt.fault)
			}
		case err != nil:
			t.Errorf("%s: %s: %v", tt.release, tt.line, err)
		case a.Command != tt.command || tt.files != "" && strings.Join(a.Charts[0].Paths, " ") != tt.files:
			t.Errorf("%s: %s: %s of %+v", tt.release, tt.line, a.Command, a.Charts)
		}
	}
}

// planCase is a part of one of the command lines above that no other has, and lines of the
// plan that it compiles to, with semicolons between.
type planCase struct{ line, want string }

func planCases() []planCase {
	return []planCase{
		{"-m gpt2 --concurrency 1", "- grpc://localhost:8001; protocol: triton; convention: trtllm; input: 550; output: 150; - concurrency: 1; duration: 15s"},
		{"openai_completions", "- http://localhost:8000; path: /v1/completions; kind: cnn_dailymail; - rate: 3; arrival: constant; interval: 5s; stability: 0.2"},
		{"--input-dataset openorca --num-prompts 7", "convention: vllm; top_k: 3; prompts: 7; output: {dist: normal, mean: 9, stddev: 2}; min_tokens: true; kind: openorca; name: a/b; duration: 30s"},
		{"--synthetic-input-tokens-mean 5", "endpoint: completions; input: {dist: normal, mean: 5, stddev: 1}; duration: 30s; dir: profile_export_inferometer"},
		{"--generate-plots", "source: file; file: p.jsonl; output: 256; duration: 30s; dir: out/my_inferometer"},
		{"--artifact-dir out --streaming", "endpoint: chat; streaming: true; kind: openorca; duration: 30s; dir: out/profile_export_inferometer"},
		{"--model-selection-strategy random", "- name: a; - name: b; duration: 12s"},
		{"--endpoint-type embeddings", "path: /v1/embeddings; user: sample_user; batch: 2; model: e5"},
		{"rankings:tei", "path: /rerank; file: dir/queries.jsonl; file: dir/passages.jsonl; batch: 2"},
		{"--endpoint-type vision", "endpoint: chat; streaming: true; width: {dist: normal, mean: 9, stddev: 1}; height: {dist: normal, mean: 8, stddev: 2}; format: png"},
		{"--random-seed 123", "seed: 123; - grpc://localhost:8001; convention: vllm; duration: 12s"},
		{"output_token_throughput_per_request", "time_to_first_token: 20ms; - http://h:8002/metrics; name: a/b"},
		{"--endpoint-type image_retrieval", "path: /v1/infer; file: in.jsonl; revision: v2"},
		{"--endpoint-type nvclip", "path: /v1/embeddings; input: 20; batch: 2"},
		{"--num-dataset-entries 8", "prompts: 8; requests: 4; requests: 20"},
		{"--endpoint v2/models/gpt2/generate", "protocol: triton; transport: http; endpoint: generate; model: gpt2"},
		{"--endpoint v2/models/other", "endpoint: generate; model: other; version: \"3\""},
		{"--batch-size 4", "path: /v1/infer; count: 4"},
		{"--endpoint-type kserve", "protocol: triton; transport: grpc; convention: vllm; streaming: true"},
		{"--num-system-prompts", "prefixes:; count: 3; length: 20"},
		{"--num-prefix-prompts", "prefixes:; count: 3; length: 20; A: b; C: d"},
		{"payload_template", "path: /v1/x; template: body.jinja"},
		{"huggingface_generate", "endpoint: huggingface_generate; path: /"},
		{"--num-sessions 4", "source: sessions; count: 4; turns: {dist: normal, mean: 3, stddev: 1}; delay_ms: {dist: normal, mean: 5, stddev: 1}; arrival: sessions; concurrent: 2"},
		{"--endpoint-type chat --concurrency 8", "- concurrency: 8; requests: 16; name: gpt2"},
		{"-m gpt2 --backend vllm --streaming", "- grpc://localhost:8001; convention: vllm; streaming: true; requests: 10; name: gpt2"},
		{"--audio-length-mean", "- length: 2s; stddev: 1s; - 16; - 44100; channels: 2; count: 2"},
		{"per_user:30", "inter_token_latency: 33.333333ms"},
		{"--num-requests 30", "requests: 3; requests: 30"},
		{"--fixed-schedule True", "source: payload; file: in.jsonl; - arrival: trace"},
		{"--session-delay-ratio", "delay_ratio: 0.5; concurrent: 1"},
	}
}

// Every release's flags end up in the plan.
// differs: genai-interval
func TestPlansOfReleases(t *testing.T) {
	for _, tt := range planCases() {
		var lines []string
		for _, c := range releaseCases() {
			if strings.Contains(c.line, tt.line) {
				lines = append(lines, c.line)
			}
		}
		if len(lines) != 1 {
			t.Errorf("%d command lines have %q, want 1: %q", len(lines), tt.line, lines)
			continue
		}
		_, a := settingsOf(t, strings.Fields(lines[0]))
		text, err := planfile.Encode(a.Plan)
		if err != nil {
			t.Fatal(err)
		}
		has := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			has[line], has[strings.TrimPrefix(line, "- ")] = true, true
		}
		for want := range strings.SplitSeq(tt.want, "; ") {
			if !has[want] {
				t.Errorf("%s: the plan has no line %q:\n%s", lines[0], want, text)
			}
		}
	}
}
