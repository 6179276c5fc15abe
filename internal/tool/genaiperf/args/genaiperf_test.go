package args

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan/planfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// lines reads command lines out of a file, one in each paragraph.
func lines(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for part := range strings.SplitSeq(string(text), "\n\n") {
		var kept []string
		for line := range strings.Lines(part) {
			if !strings.HasPrefix(line, "#") {
				kept = append(kept, strings.TrimSuffix(strings.TrimSpace(line), "\\"))
			}
		}
		if fields := strings.Fields(strings.Join(kept, " ")); len(fields) > 1 {
			all = append(all, fields)
		}
	}
	return all
}

// The command lines of the README and of the tutorial, word for word.
func TestSeeds(t *testing.T) {
	seeds := lines(t, "seeds.txt")
	if len(seeds) != 8 {
		t.Fatalf("%d command lines, want 8", len(seeds))
	}
	var got bytes.Buffer
	for _, args := range seeds {
		a, err := Parse(args[1:])
		if err != nil {
			t.Fatalf("%s:\n%v", strings.Join(args, " "), err)
		}
		text, err := planfile.Encode(a.Plan)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := json.MarshalIndent(a.Settings, "# ", " ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "# %s\n# notes: %q\n# %s\n%s\n", strings.Join(args, " "), a.Notes, settings, text)
	}
	golden(t, "seeds.golden", got.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
	}
}

// base is a command line that needs nothing more, of a release.
func base(release string) []string {
	switch release {
	case Release2403:
		return []string{"-m", "gpt2", "--service-kind", "openai", "--endpoint", "v1/chat/completions", "--output-format", "openai_chat_completions"}
	case Release2404:
		return []string{"-m", "gpt2", "--service-kind", "openai", "--endpoint-type", "chat", "--prompt-source", "synthetic"}
	default:
		return []string{"profile", "-m", "gpt2", "--endpoint-type", "chat"}
	}
}

// flagCase is a flag and what it changes in the settings, as JSON.
type flagCase struct {
	release string
	args    string
	want    string // field=value of Settings, with spaces between
}

func flagCases() []flagCase {
	return []flagCase{
		{Release2403, "--expected-output-tokens 70", "OutputMean=70 InWords=70"},
		{Release2403, "--input-type synthetic", ""},
		{Release2403, "--input-type url", `Dataset="openorca" InWords=0`},
		{Release2403, "--input-type url --dataset cnn_dailymail", `Dataset="cnn_dailymail" InWords=0`},
		{Release2403, "--dataset openorca", `Dataset="openorca" InWords=0`},
		{Release2403, "--input-type file --input-data in.json", `InputFile="in.json" InWords=0`},
		{Release2403, "--input-type file", `InputFile="llm_inputs.json" InWords=0`},
		{Release2403, "--input-data in.json", `InputFile="in.json" InWords=0`},
		{Release2403, "--input-tokens-mean 7", "InputMean=7"},
		{Release2403, "--input-tokens-stddev 3", "InputStddev=3"},
		{Release2403, "--model llama", `Models=["llama"]`},
		{Release2403, "--num-of-output-prompts 12", "Prompts=12"},
		{Release2403, "--num-of-output-prompts=12", "Prompts=12"},
		{Release2403, "--random-seed 9", "Seed=9"},
		{ReleaseLast, "--random-seed -9", "Seed=-9"},
		{Release2403, "--concurrency 5", "Concurrency=5"},
		{Release2403, "-p 2000", "Interval=2000000000"},
		{Release2403, "-p2000", "Interval=2000000000"},
		{Release2403, "--measurement-interval 2000", "Interval=2000000000"},
		{Release2403, "--profile-export-file out/x.json", `Dir="out" ExportFile="x.json"`},
		{Release2403, "--request-rate 2.5", "Concurrency=0 Rate=2.5"},
		{Release2403, "-s 10", "Stability=10"},
		{Release2403, "--stability-percentage 12.5", "Stability=12.5"},
		{Release2403, "--streaming", "Streaming=true"},
		{Release2403, "-u host:1", `URL="host:1"`},
		{Release2403, "--url host:1", `URL="host:1"`},
		{Release2403, "-v", "Verbose=true"},
		{Release2403, "--verbose", "Verbose=true"},
		{Release2403, "--synthetic-requested-output-tokens 33", "OutputMean=33 InWords=33"},
		{Release2404, "--synthetic-input-tokens-mean 7", "InputMean=7"},
		{Release2404, "--synthetic-input-tokens-stddev 7", "InputStddev=7"},
		{Release2404, "--synthetic-tokens-mean 7 --synthetic-tokens-stddev 2", "InputMean=7 InputStddev=2"},
		{Release2404, "--output-tokens-mean 7 --output-tokens-stddev 2", "OutputMean=7 OutputStddev=2"},
		{Release2404, "--num-prompts 3", "Prompts=3"},
		{Release2404, "--extra-inputs temperature:0.5 --extra-inputs n:1 --extra-inputs seed", `Extra=[{"Name":"temperature","Value":0.5},{"Name":"n","Value":1},{"Name":"seed","Value":null}]`},
		{Release2404, `--extra-inputs {"stop":["a:b"]}`, `Extra=[{"Name":"stop","Value":["a:b"]}]`},
		{ReleaseLast, `--extra-inputs a:1.0 --extra-inputs b:-1 --extra-inputs c:1e-3 --extra-inputs d:.50 --extra-inputs e:07 --extra-inputs {"f":2.0,"g":[1e-3,5]}`, `Extra=[{"Name":"a","Value":1.0},{"Name":"b","Value":"-1"},{"Name":"c","Value":"1e-3"},{"Name":"d","Value":0.5},{"Name":"e","Value":7},{"Name":"f","Value":2.0},{"Name":"g","Value":[0.001,5]}]`},
		{Release2404, "--tokenizer some/thing", `Tokenizer="some/thing" TokenizerGiven=true`},
		{Release2404, "--prompt-source dataset --input-dataset cnn_dailymail", `Dataset="cnn_dailymail"`},
		{Release2404, "--prompt-source file --input-file p.jsonl", `InputFile="p.jsonl"`},
		{ReleaseLast, "--isl 7", "InputMean=7"},
		{ReleaseLast, "--osl 7", "OutputMean=7"},
		{ReleaseLast, "--request-count 70", "Requests=70"},
		{ReleaseLast, "--num-requests 70", "Requests=70 RequestsGiven=true"},
		{ReleaseLast, "--warmup-request-count 7", "Warmup=7"},
		{ReleaseLast, "--num-warmup-requests 7", "Warmup=7"},
		{ReleaseLast, "--concurrency 30", `Concurrency=30 Requests=60 Dir="artifacts/gpt2-openai-chat-concurrency30"`},
		{ReleaseLast, "--request-rate 2", `Concurrency=0 Rate=2 Dir="artifacts/gpt2-openai-chat-request_rate2.0"`},
		{ReleaseLast, "--measurement-interval 10000", "Interval=10000000000 Requests=0"},
		{ReleaseLast, "--goodput request_latency:300 time_to_first_token:50.5", `Goodput=[{"Metric":"request_latency","Value":300},{"Metric":"time_to_first_token","Value":50.5}]`},
		{ReleaseLast, "--goodput nonsense:x --goodput request_latency:9", `Goodput=[{"Metric":"request_latency","Value":9}]`},
		{ReleaseLast, "--osl -3 --concurrency -1 --output-tokens-mean 6 --concurrency 2", `Concurrency=2 Requests=10 OutputMean=6 Dir="artifacts/gpt2-openai-chat-concurrency2"`},
		{ReleaseLast, "-g inter_token_latency:5 --isl 3", `Goodput=[{"Metric":"inter_token_latency","Value":5}] InputMean=3`},
		{ReleaseLast, "--header X-A:b -H C:d", `Headers=["X-A:b","C:d"]`},
		{ReleaseLast, "--num-dataset-entries 4", "Prompts=4"},
		{ReleaseLast, "--artifact-dir here", `Artifacts="here" Dir="here/gpt2-openai-chat-concurrency1"`},
		{ReleaseLast, "--endpoint /custom/path", `Endpoint="custom/path"`},
		{ReleaseLast, "--tokenizer-revision v2", `TokenizerRevision="v2"`},
		{ReleaseLast, "--tokenizer-trust-remote-code", "TrustRemoteCode=true"},
		{ReleaseLast, "--model a/b c", `Models=["a/b","c"] Tokenizer="a/b" Dir="artifacts/a_b_multi-openai-chat-concurrency1"`},
		{ReleaseLast, "--model-selection-strategy random", "PickRandom=true"},
		{ReleaseLast, "--input-file in.jsonl", `InputFile="in.jsonl"`},
		{ReleaseLast, "--server-metrics-url http://a:1/metrics http://b:1/metrics", `MetricsURLs=["http://a:1/metrics","http://b:1/metrics"]`},
		{ReleaseLast, "--server-metrics-urls http://a:1/metrics", `MetricsURLs=["http://a:1/metrics"]`},
		{ReleaseLast, "--num-prefix-prompts 4 --prefix-prompt-length 30", "Prefixes=4 PrefixLength=30"},
		{ReleaseLast, "--input-file payload:x.jsonl", `PayloadFile="x.jsonl" Dir="artifacts/gpt2-openai-chat" InWords=0`},
		{ReleaseLast, "--input-file payload:x.jsonl --fixed-schedule true", `PayloadFile="x.jsonl" FixedSchedule=true Concurrency=0 Requests=0 Dir="artifacts/gpt2-openai-chat-fixed_schedule"`},
		{ReleaseLast, "--input-file payload:x.jsonl --fixed-schedule", `PayloadFile="x.jsonl" FixedSchedule=true Concurrency=0 Requests=0`},
		{ReleaseLast, "--num-sessions 3 --session-concurrency 2 --session-delay-ratio 0.5 --session-turn-delay-mean 5 --session-turn-delay-stddev 6 --session-turns-mean 3 --session-turns-stddev 1", `Sessions=3 SessionConcurrency=2 DelayRatio=0.5 TurnDelayMean=5 TurnDelayStddev=6 TurnsMean=3 TurnsStddev=1 Concurrency=0 Requests=0 Dir="artifacts/gpt2-openai-chat-session_concurrency2"`},
		{ReleaseLast, "--num-sessions 3 --session-concurrency 2 --concurrency 5 --request-count 7", `Sessions=3 SessionConcurrency=2 Concurrency=0 Requests=0 ToldRequests=7 Dir="artifacts/gpt2-openai-chat-session_concurrency2"`},
		{ReleaseLast, "--endpoint-type multimodal --image-width-mean 9 --image-width-stddev 1 --image-height-mean 8 --image-height-stddev 2 --image-format jpeg --batch-size-image 3",
			`EndpointType="multimodal" ImageWidthMean=9 ImageWidthStddev=1 ImageHeightMean=8 ImageHeightStddev=2 ImageFormat="jpeg" BatchImage=3`},
		{ReleaseLast, "--endpoint-type vision --audio-length-mean 0.5 --audio-length-stddev 0.1 --audio-format wav --audio-depths 8 24 --audio-sample-rates 16 44.1 --audio-num-channels 2 --batch-size-audio 2",
			`EndpointType="vision" AudioLengthMean=0.5 AudioLengthStddev=0.1 AudioDepths=[8,24] AudioRates=[16,44.1] AudioChannels=2 BatchAudio=2`},
		{ReleaseLast, "--endpoint-type multimodal --audio-length-mean 2 --audio-format mp3 --audio-sample-rates 22.05", `EndpointType="multimodal" AudioLengthMean=2 AudioFormat="mp3" AudioRates=[22.05]`},
		{ReleaseLast, "--endpoint-type rankings --input-file synthetic:queries,passages --batch-size-text 4", `EndpointType="rankings" Endpoint="v1/ranking" Batch=4 SyntheticFiles=["queries","passages"]`},
		{ReleaseLast, "--endpoint-type image_retrieval --image-width-mean 9 --image-height-mean 8", `EndpointType="image_retrieval" Endpoint="v1/infer" ImageWidthMean=9 ImageHeightMean=8`},
		{ReleaseLast, "--endpoint-type nvclip --batch-size-text 2", `EndpointType="nvclip" Endpoint="v1/embeddings" Batch=2`},
		{ReleaseLast, "--endpoint-type huggingface_generate --streaming", `EndpointType="huggingface_generate" Endpoint="." Streaming=true`},
		{ReleaseLast, "--endpoint-type generate", `EndpointType="generate" Endpoint="v2/models/gpt2/generate"`},
		{ReleaseLast, "--endpoint-type template --endpoint a/b --extra-inputs payload_template:x.jinja", `EndpointType="template" Endpoint="a/b" Template="x.jinja"`},
		{ReleaseLast, "--generate-plots", "Plots=true"},
		{ReleaseLast, "--grpc-method a.b/c", `GRPCMethod="a.b/c"`},
		{ReleaseLast, "--audio-depths 7 --audio-sample-rates 1e3", "AudioDepths=[7] AudioRates=[1000]"}, // without audio, any
		{ReleaseLast, "--endpoint-type vision --image-width-mean 10", `EndpointType="vision" ImageWidthMean=10`},
		{ReleaseLast, "--input-file in.jsonl --num-sessions 3 --batch-size-image 2", `InputFile="in.jsonl" Sessions=3 BatchImage=2`},
		{ReleaseLast, "--concurrency 0 --isl 0 --osl 0 --request-count 0 --batch-size-text 0 --batch-size-image 0 --batch-size-audio 0 -s 0", ""}, // as if not given
		{ReleaseLast, "--osl 30 --output-tokens-mean 0 --isl 7 --isl 0", ""},
		{ReleaseLast, "--isl 0 --isl 7 --osl 30 --osl 9", "InputMean=7 OutputMean=9"},
		{ReleaseLast, "--request-rate 0 --prefix-prompt-length 0 --session-turns-mean 0 --session-delay-ratio 0.0 --measurement-interval 0", ""},
		{ReleaseLast, "--fixed-schedule=", ""},
		{ReleaseLast, "--enable-checkpointing --checkpoint-dir state", `Checkpoint="state" CheckpointDir="state"`},
		{ReleaseLast, "--faithful", "Faithful=true"},
		{ReleaseLast, "-- --max-threads 4 --request-distribution=poisson", ""},
	}
}

// settingsOf are the settings of a command line, field by field.
func settingsOf(t *testing.T, args []string) (map[string]json.RawMessage, *Action) {
	t.Helper()
	a, err := Parser{Analyzer: analyzer}.Parse(args)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	text, err := json.Marshal(a.Settings)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields, a
}

// Each flag changes what it should, and nothing else.
func TestFlags(t *testing.T) {
	for _, tt := range flagCases() {
		t.Run(tt.release+" "+tt.args, func(t *testing.T) {
			before, _ := settingsOf(t, base(tt.release))
			after, a := settingsOf(t, append(base(tt.release), strings.Fields(tt.args)...))
			if a.Settings.Release != tt.release {
				t.Errorf("taken as %s", a.Settings.Release)
			}
			want := map[string]string{}
			for field := range strings.FieldsSeq(tt.want) {
				name, value, _ := strings.Cut(field, "=")
				want[name] = value
			}
			for name, value := range after {
				if w, ok := want[name]; ok && w != string(value) {
					t.Errorf("%s is %s, want %s", name, value, w)
				} else if !ok && string(before[name]) != string(value) && !follows(name) {
					t.Errorf("%s changed from %s to %s", name, before[name], value)
				}
			}
		})
	}
}

// follows are settings that follow from others.
func follows(name string) bool {
	return slices.Contains([]string{"Dir", "Requests", "RequestsGiven", "InWords", "Tokenizer", "AudioRatesGiven"}, name)
}

// No flag is left out of the test above, or refused in the test below.
func TestEveryFlagIsTested(t *testing.T) {
	text := ""
	for _, c := range flagCases() {
		text += " " + strings.Join(base(c.release), " ") + " " + c.args
	}
	for _, args := range lines(t, "seeds.txt") {
		text += " " + strings.Join(args, " ")
	}
	for _, c := range faultCases() {
		text += " " + c.args
	}
	for _, c := range releaseCases() {
		text += " " + c.line
	}
	for _, f := range flags() {
		for _, n := range append([]string{f.name}, f.same...) {
			if !strings.Contains(text+" ", "--"+n+" ") && !strings.Contains(text, "--"+n+"=") && !slices.Contains(untested(), n) {
				t.Errorf("no test uses --%s", n)
			}
		}
	}
}

// untested stand in tests of their own.
func untested() []string { return []string{"help", "version", "dry-run", "strict"} }

func TestReleaseIsRecognised(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-m a", Release2403},
		{"-m a --service-kind triton --streaming", Release2403},
		{"-m a --backend vllm", Release2404},
		{"-m a --num-prompts 3", Release2404},
		{"-m a --prompt-source synthetic", Release2404},
		{"-m a --request-count 10", ReleaseLast},
		{"profile -m a", ReleaseLast},
		{"profile -m a --input-tokens-mean 10", ReleaseLast},
		{"-m a --input-tokens-mean 10 --num-prompts 4", Release2403},
		{"-m a --genai-perf-release 24.04", Release2404},
		{"-m a --genai-perf-release 24.08", ReleaseLast},
		{"-m a --genai-perf-release 0.0.16", ReleaseLast},
		{"profile -m a --genai-perf-release 24.03", Release2403},
	} {
		a, err := Parse(strings.Fields(tt.args))
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if a.Settings.Release != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, a.Settings.Release, tt.want)
		}
	}
}

func TestFlagOfAnotherReleaseIsNoted(t *testing.T) {
	a, err := Parse(append(base(Release2403), "--num-prompts", "7"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Settings.Prompts != 7 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "--num-prompts is a flag of 24.04 and later") {
		t.Errorf("%d prompts, notes %q", a.Settings.Prompts, a.Notes)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for args, want := range map[string]string{
		"": Help, "-h": Help, "--help": Help, "profile -h": Help, "profile --nonsense --help": Help, "--version": Version,
	} {
		a, err := Parse(strings.Fields(args))
		if err != nil || a.Command != want {
			t.Errorf("%q: %v, %v, want %s", args, a, err, want)
		}
	}
	text := HelpText()
	for _, f := range flags() {
		if !strings.Contains(text, "--"+f.name) {
			t.Errorf("the help lacks --%s", f.name)
		}
	}
	a, err := Parse(append(base(ReleaseLast), "--dry-run", "--strict"))
	if err != nil || !a.DryRun || !a.Strict {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSweeps(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--sweep-range 1:8", "artifacts/m-openai-chat-concurrency1 artifacts/m-openai-chat-concurrency2 artifacts/m-openai-chat-concurrency4 artifacts/m-openai-chat-concurrency8"},
		{"--sweep-range 1:2 --concurrency 1", "artifacts/m-openai-chat-concurrency1 artifacts/m-openai-chat-concurrency2"},
		{"--sweep-list 2 --request-rate 7", "artifacts/m-openai-chat-concurrency2"},
		{"--sweep-type request_rate --sweep-list 4 --concurrency 3", "artifacts/m-openai-chat-request_rate4"},
		{"--sweep-list 3,5", "artifacts/m-openai-chat-concurrency3 artifacts/m-openai-chat-concurrency5"},
		{"--sweep-type request_rate --sweep-range 10:30:10 --artifact-dir a", "a/m-openai-chat-request_rate10 a/m-openai-chat-request_rate20 a/m-openai-chat-request_rate30"},
		// differs: genai-sweep-values
		{"--sweep-type request_rate --sweep-range 20:40", "artifacts/m-openai-chat-request_rate20 artifacts/m-openai-chat-request_rate40"},
		{"--sweep-type input_sequence_length --sweep-list 100,200", "artifacts/m-openai-chat-input_sequence_length100 artifacts/m-openai-chat-input_sequence_length200"},
		{"--sweep-type num_dataset_entries --sweep-range 2:4", "artifacts/m-openai-chat-num_dataset_entries2 artifacts/m-openai-chat-num_dataset_entries3 artifacts/m-openai-chat-num_dataset_entries4"},
		{"--sweep-type num_dataset_entries --sweep-list 7", "artifacts/m-openai-chat-num_dataset_entries7"},
	} {
		a, err := Parse(append([]string{"analyze", "-m", "m", "--endpoint-type", "chat"}, strings.Fields(tt.args)...))
		if err != nil {
			t.Fatal(err)
		}
		var dirs []string
		for _, l := range a.Levels {
			dirs = append(dirs, l.Settings.Dir)
			if err := planfile.Validate(l.Plan); err != nil || l.Plan.Output.Dir != l.Settings.Dir+"/profile_export_inferometer" {
				t.Errorf("%s: %s: %v", tt.args, l.Plan.Output.Dir, err)
			}
		}
		if got := strings.Join(dirs, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
	if a, err := Parse(strings.Fields("analyze -m m --endpoint-type chat")); err != nil || len(a.Levels) != 11 {
		t.Errorf("without values: %v, %v", a, err)
	}
}
