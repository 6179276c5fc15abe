package args

import (
	"errors"
	"strings"
	"testing"
)

// faultCase is a bad command line and what the message must say.
type faultCase struct{ args, want string }

func faultCases() []faultCase { return append(formFaults(), meaningFaults()...) }

const ok = "profile -m m --endpoint-type chat "

// formFaults are faults of a flag by itself.
func formFaults() []faultCase {
	return []faultCase{
		{"--concurrency 1", "-m: the model is missing"},
		{"-m m --service-kind openai", "--service-kind openai: needs --endpoint (such as --endpoint v1/chat/completions"},
		{"profile -m m --service-kind openai", "--service-kind openai: needs --endpoint"},
		{"-m m --service-kind openai --endpoint some/path", `the type of endpoint "some/path" is unknown`},
		{"profile -m m --endpoint-type embeddings --streaming", "--streaming: embeddings responses are never streamed"},
		{ok + "--concurrency 1 --request-rate 2", "--request-rate: cannot be combined with --concurrency"},
		{ok + "--measurement-interval 5 --request-count 9", "--request-count: cannot be combined with --measurement-interval"},
		{ok + "--concurrency -1", "--concurrency: must be at least 1, is -1"},
		{ok + "--concurrency 0 --request-rate 3", "--request-rate: cannot be combined with --concurrency"},
		{ok + "--concurrency -4", "--concurrency: must be at least 1, is -4"},
		{ok + "--concurrency 4 --concurrency -4", "--concurrency: must be at least 1, is -4"},
		{ok + "--concurrency x --concurrency 4", `--concurrency: "x" is not a number`},
		{ok + "--num-dataset-entries -1 --num-dataset-entries 4", "--num-dataset-entries: must be at least 1, is -1"},
		{ok + "--concurrency 1.5", "--concurrency: must be a whole number, not 1.5"},
		{ok + "--concurrency many", `--concurrency: "many" is not a number`},
		{ok + "--concurrency 40 --request-count 20", "--request-count: 20 requests cannot keep 40 in flight"},
		{ok + "--request-rate -1", "--request-rate: must be at least 0, is -1"},
		{ok + "--isl -1", "--isl: must be at least 1, is -1"},
		{ok + "--synthetic-input-tokens-stddev -1", "must be at least 0"},
		{"-m m --input-tokens-mean 0", "--input-tokens-mean: must be at least 1"},
		{"-m m --input-tokens-stddev -1", "--input-tokens-stddev: must be at least 0"},
		{"-m m --num-of-output-prompts 0", "--num-of-output-prompts: must be at least 1"},
		{"-m m --synthetic-requested-output-tokens 0", "must be at least 1"},
		{"-m m --output-format vllm --service-kind openai", "vllm is a format of --service-kind triton, not of openai"},
		{"-m m --output-format openai_completions", "--service-kind openai, not of triton"},
		{"-m m --output-format vlm", `unknown value "vlm" (did you mean vllm?)`},
		{ok + "--concurency 3", "--concurency: unknown flag (did you mean --concurrency?)"},
		{ok + "-z", "-z: unknown flag (see --help)"},
		{ok + "--isl", "--isl: needs a value"},
		{ok + "--streaming=yes", "--streaming: takes no value"},
		{ok + "stray", `"stray" is not a flag`},
		{"-m m --streaming profle", "did you mean profile?"},
	}
}

// meaningFaults are faults of what flags mean together, and what is not supported.
func meaningFaults() []faultCase {
	cases := []faultCase{
		{ok + "--extra-inputs a:b:c", "the value of a has a colon in it (give a JSON object"},
		{ok + "--extra-inputs {bad", "is not a JSON object"},
		{ok + "--extra-inputs :x", "is not NAME:VALUE"},
		{ok + "--extra-inputs x:", "the value of x is empty"},
		{ok + "--extra-inputs x:1 --extra-inputs x:2", "x is given twice"},
		{ok + "-H nothing", "-H: is not NAME:VALUE"},
		{ok + "--goodput latency:3", `unknown metric "latency"`},
		{ok + "--goodput request_latency:x", "is not METRIC:NUMBER"},
		{ok + "--goodput request_latency:-3", "must not be negative"},
		{ok + "--profile-export-file a/b.json", "--profile-export-file: must be a name, not a path (give the directory with --artifact-dir)"},
		{ok + "--backend vllm", "--backend: only for --service-kind triton"},
		{ok + "--output-tokens-stddev 3", "needs --output-tokens-mean"},
		{ok + "--batch-size 2", "only for --endpoint-type embeddings, rankings"},
		{ok + "--batch-size-text 2", "only for --endpoint-type embeddings, rankings"},
		{ok + "--genai-perf-release 23.01", `unknown release "23.01": give 24.03`},
		{"-m m --input-type url --input-data x.json", "--input-data: cannot be combined with --input-type url"},
		{"-m m --input-type file --dataset openorca", "--dataset: cannot be combined with --input-type file"},
		{"profile -m m --service-kind tensorrtllm_engine", "use --service-kind triton --backend tensorrtllm"},
		{"profile -m m --endpoint-type dynamic_grpc", "dynamic_grpc is not supported"},
		{ok + "-- --shared-memory cuda", "cuda"},
		{"profile -m m --endpoint-type image_retrieval", "there are no images"},
		{"profile -m m --endpoint-type template --extra-inputs payload_template:x", "needs --endpoint"},
		{"profile -m m --endpoint-type template --endpoint x", "the template is missing"},
		{"profile -m m --endpoint-type template --endpoint x --extra-inputs payload_template:x --extra-inputs a:1", "the only field for a template is payload_template"},
		{"profile -m m --endpoint-type nvclip --streaming", "--streaming: nvclip responses are never streamed"},
		{"compare", "the runs are missing"},
		{"compare -f a.json b.json --concurrency 3", "does not apply to compare"},
		{"profile -m m --backend vllm -- --shared-memory system", "-- --shared-memory: only for tensors from files"},
		{ok + "--fixed-schedule maybe", `takes no value, or true, not "maybe"`},
		{ok + "--input-file synthetic:a,b", "only for --endpoint-type rankings: synthetic:queries,passages"},
		{ok + "--endpoint-type multimodal --audio-length-mean 1 --audio-format mp3 --audio-sample-rates 96", "an MP3 cannot have 96 kHz"},
		{ok + "--audio-depths 0", "--audio-depths: must be at least 1, is 0"},
		{ok + "--audio-depths 8.5", "--audio-depths: must be a whole number, not 8.5"},
		{"profile -m m --endpoint-type vision --audio-length-mean 1 --audio-depths 7", `"7" is not a bit depth`},
		{ok + "--audio-sample-rates x", `--audio-sample-rates: "x" is not a number`},
		{"profile -m m --endpoint-type vision --audio-length-mean 1 --audio-sample-rates 2e3", `"2e3" is not a sample rate in kHz`},
		{"profile -m m --endpoint-type image_retrieval --image-width-mean 10", "there are no images"},
		{ok + "-s 0.5", "-s: must be from 1 to 999"},
		{ok + "-s 1e3", "-s: must be from 1 to 999"},
		{ok + "--fixed-schedule true", "--fixed-schedule: needs a payload file"},
		{ok + "--session-concurrency 3", "--session-concurrency: needs sessions"},
		{ok + "--num-sessions 3", "--num-sessions: needs --session-concurrency"},
		{ok + "--num-sessions 3 --session-concurrency 1 --input-file payload:x", "cannot be combined with a payload file"},
		{ok + "--num-sessions 3 --session-concurrency 1 --session-turns-mean 0.5", "--session-turns-mean: must be a whole number"},
		{"profile -m m --endpoint-type completions --num-sessions 3 --session-concurrency 1", "sessions are only for --endpoint-type chat"},
		{"profile -m m --endpoint-type embeddings --input-file payload:x", "sessions and payload files are only for chat and completions"},
		{"analyze -m m --sweep-type concurrency --sweep-range 1:4 --sweep-list 1,2", "--sweep-list: cannot be combined with --sweep-range"},
		{"analyze -m m --endpoint-type chat --sweep-range 4:1", `"4:1" is not MIN:MAX`},
		{"analyze -m m --endpoint-type chat --sweep-range 0:4", `"0" is not a whole number from 1`},
		{"analyze -m m --endpoint-type chat --sweep-range 1:100000:1", "is more than 1000 runs"},
		{"analyze -m m --endpoint-type chat --sweep-type request_rate", "needs values"},
		{"analyze --endpoint-type chat --sweep-list 1", "the model is missing"},
		{ok + "--sweep-list 1,2", "--sweep-list: only for analyze"},
		{"config -f file.yaml --override-config", "config files are not read here"},
		{"process-export-files --input-directory x --isl 3", "--isl: does not apply to process-export-files"},
		{"process-export-files --profile-export-file a/b", "must be a name, not a path"},
	}
	for _, f := range []string{
		"--file x.yaml", "--files x.json", "--config x.yaml",
	} {
		name, _, _ := strings.Cut(f, " ")
		cases = append(cases, faultCase{ok + f, name + ": is not supported here"})
	}
	return cases
}

func TestFaults(t *testing.T) {
	for _, tt := range faultCases() {
		_, err := Parser{Analyzer: analyzer}.Parse(strings.Fields(tt.args))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\n%v\nwant %s", tt.args, err, tt.want)
		}
	}
}

// All faults are told at once.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Parse(strings.Fields("profile --endpoint-type chat --isl -1 --request-rate x --wrong 3 --osl -7"))
	var malformed *UsageError
	if !errors.As(err, &malformed) || len(malformed.Faults) != 5 {
		t.Errorf("%v, want 5 faults", err)
	}
}
