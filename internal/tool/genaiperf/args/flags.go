package args

// kind says what a flag's value is.
type kind uint8

const (
	toggle kind = iota // no value
	word
	whole  // a whole number
	number // a number that may have a fraction
	list   // one or more words
)

// The releases that a flag belongs to, as bits. What came between 24.04 and the last
// release is counted with the last.
const (
	in2403 = 1 << iota
	in2404
	inLast

	early  = in2403 | in2404
	later  = in2404 | inLast
	always = in2403 | in2404 | inLast
)

// option is one flag of genai-perf, of any release.
type option struct {
	name     string   // with its dashes left out
	same     []string // other names of the same release
	short    string
	key      string // what it sets; flags of several releases that mean the same share it
	kind     kind
	least    float64 // of a number
	choices  []string
	releases int
	group    string // headline of the help
	help     string
}

// flags are all flags. Where a release renamed one, both names stand here with the
// same key.
func flags() []option {
	var all []option
	for _, g := range []struct {
		name string
		rows []option
	}{
		{"Endpoint", endpointFlags()}, {"Input", inputFlags()}, {"Images and audio", mediaFlags()}, {"Load", loadFlags()},
		{"Sessions", sessionFlags()}, {"Output", outputFlags()}, {"Inferometer extensions", ownFlags()},
	} {
		for _, f := range g.rows {
			f.group = g.name
			all = append(all, f)
		}
	}
	return all
}

func endpointFlags() []option {
	return []option{
		{name: "model", short: "m", key: "model", kind: list, releases: always, help: "the model, or several to send requests to in turn"},
		{name: "model-selection-strategy", key: "model-selection", kind: word, choices: []string{"round_robin", "random"}, releases: inLast, help: "how a prompt gets one of several models (round_robin)"},
		{name: "service-kind", key: "service-kind", kind: word, choices: []string{"triton", "openai", "tensorrtllm_engine", "dynamic_grpc"}, releases: always, help: "what the server speaks (triton); openai needs --endpoint"},
		{name: "output-format", key: "output-format", kind: word, choices: []string{"openai_chat_completions", "openai_completions", "trtllm", "vllm"}, releases: in2403, help: "24.03: the shape of requests (trtllm)"},
		{name: "backend", key: "backend", kind: word, choices: []string{"trtllm", "tensorrtllm", "vllm"}, releases: later, help: "backend of a Triton model (tensorrtllm)"},
		{name: "endpoint-type", key: "endpoint-type", kind: word, choices: endpointTypes(), releases: later, help: "what is asked of the server"},
		{name: "endpoint", key: "endpoint", kind: word, releases: always, help: "path on the server, such as v1/chat/completions"},
		{name: "streaming", key: "streaming", kind: toggle, releases: always, help: "ask for streams"},
		{name: "url", short: "u", key: "url", kind: word, releases: always, help: "the server (localhost:8001 for Triton, localhost:8000 for OpenAI)"},
		{name: "server-metrics-url", same: []string{"server-metrics-urls"}, key: "server-metrics", kind: list, releases: inLast, help: "GPU metrics of the server, in Prometheus form"},
		{name: "grpc-method", key: "grpc-method", kind: word, releases: inLast, help: "method of a dynamic_grpc service"},
	}
}

func endpointTypes() []string {
	return []string{
		"chat", "completions", "embeddings", "nvclip", "rankings", "multimodal", "vision", "image_retrieval",
		"huggingface_generate", "generate", "kserve", "template", "tensorrtllm_engine", "dynamic_grpc",
	}
}

func inputFlags() []option {
	return []option{
		{name: "input-type", key: "source", kind: word, choices: []string{"url", "file", "synthetic"}, releases: in2403, help: "24.03: where prompts come from (synthetic)"},
		{name: "prompt-source", key: "source", kind: word, choices: []string{"synthetic", "dataset", "file"}, releases: in2404, help: "24.04: where prompts come from (synthetic)"},
		{name: "dataset", key: "dataset", kind: word, choices: datasets(), releases: in2403, help: "24.03: prompts of a Hugging Face dataset (openorca)"},
		{name: "input-dataset", key: "dataset", kind: word, choices: datasets(), releases: in2404, help: "24.04: the same"},
		{name: "input-data", key: "input-file", kind: word, releases: in2403, help: "24.03: JSON file with a list of requests"},
		{name: "input-file", key: "input-file", kind: word, releases: later, help: "JSON lines with text or image, a directory of them, payload:FILE or synthetic:NAMES"},
		{name: "input-tokens-mean", key: "input-mean", kind: whole, least: 1, releases: in2403, help: "24.03: mean length of synthetic prompts in tokens (550)"},
		{name: "input-tokens-stddev", key: "input-stddev", kind: whole, releases: in2403, help: "24.03: its standard deviation (0)"},
		{name: "synthetic-input-tokens-mean", same: []string{"isl"}, key: "input-mean", kind: whole, least: 1, releases: later, help: "mean length of synthetic prompts in tokens (550)"},
		{name: "synthetic-input-tokens-stddev", key: "input-stddev", kind: whole, releases: later, help: "its standard deviation (0)"},
		{name: "synthetic-tokens-mean", key: "input-mean", kind: whole, least: 1, releases: in2404, help: "the same, as it was called for two weeks"},
		{name: "synthetic-tokens-stddev", key: "input-stddev", kind: whole, releases: in2404, help: "the same, as it was called for two weeks"},
		{name: "expected-output-tokens", key: "expected-output", kind: whole, least: 1, releases: in2403, help: "24.03: ask for about this many tokens, in the prompt and in max_tokens (150)"},
		{name: "synthetic-requested-output-tokens", key: "requested-output", kind: whole, least: 1, releases: in2403, help: "24.03: max_tokens, and the minimum where the backend has one"},
		{name: "output-tokens-mean", same: []string{"osl"}, key: "output-mean", kind: whole, least: 1, releases: later, help: "mean length of answers to ask for (the server decides)"},
		{name: "output-tokens-stddev", key: "output-stddev", kind: whole, releases: later, help: "its standard deviation (0)"},
		{name: "output-tokens-mean-deterministic", key: "deterministic", kind: toggle, releases: later, help: "ask for no fewer tokens either (Triton)"},
		{name: "num-of-output-prompts", key: "prompts", kind: whole, least: 1, releases: in2403, help: "24.03: distinct prompts (100)"},
		{name: "num-dataset-entries", same: []string{"num-prompts"}, key: "prompts", kind: whole, least: 1, releases: later, help: "distinct prompts (100)"},
		{name: "num-prefix-prompts", same: []string{"num-system-prompts"}, key: "prefix-prompts", kind: whole, releases: inLast, help: "prompts to choose a common beginning from (0: none)"},
		{name: "prefix-prompt-length", same: []string{"system-prompt-length"}, key: "prefix-length", kind: whole, releases: inLast, help: "their length in tokens (100)"},
		{name: "random-seed", key: "seed", kind: whole, releases: always, help: "the same seed gives the same prompts (0)"},
		{name: "batch-size-text", same: []string{"batch-size"}, short: "b", key: "batch-text", kind: whole, least: 1, releases: inLast, help: "texts in a request of embeddings or rankings (1)"},
		{name: "extra-inputs", key: "extra", kind: word, releases: later, help: "NAME:VALUE, or a JSON object, added to every request; repeatable"},
		{name: "goodput", short: "g", key: "goodput", kind: list, releases: inLast, help: "METRIC:VALUE, what a good request keeps to: ms, or a rate per second"},
		{name: "header", short: "H", key: "header", kind: word, releases: inLast, help: "NAME:VALUE, a header of every request; repeatable"},
		{name: "tokenizer", key: "tokenizer", kind: word, releases: later, help: "Hugging Face ID or path; makes and counts tokens"},
		{name: "tokenizer-revision", key: "tokenizer-revision", kind: word, releases: inLast, help: "branch, tag or commit of its name (main)"},
		{name: "tokenizer-trust-remote-code", key: "trust-remote-code", kind: toggle, releases: inLast, help: "has no effect: no code is ever fetched"},
	}
}

func datasets() []string { return []string{"openorca", "cnn_dailymail"} }

func mediaFlags() []option {
	return []option{
		{name: "batch-size-image", key: "batch-image", kind: whole, least: 1, releases: inLast, help: "images in a request (1)"},
		{name: "batch-size-audio", key: "batch-audio", kind: whole, least: 1, releases: inLast, help: "audio clips in a request (1)"},
		{name: "image-width-mean", key: "image-width-mean", kind: whole, releases: inLast, help: "mean width of synthetic images in pixels (0: no images)"},
		{name: "image-width-stddev", key: "image-width-stddev", kind: whole, releases: inLast, help: "its standard deviation (0)"},
		{name: "image-height-mean", key: "image-height-mean", kind: whole, releases: inLast, help: "mean height of synthetic images in pixels (0: no images)"},
		{name: "image-height-stddev", key: "image-height-stddev", kind: whole, releases: inLast, help: "its standard deviation (0)"},
		{name: "image-format", key: "image-format", kind: word, choices: []string{"png", "jpeg"}, releases: inLast, help: "format of synthetic images (png)"},
		{name: "audio-length-mean", key: "audio-length-mean", kind: number, releases: inLast, help: "mean length of synthetic audio in seconds (0: none)"},
		{name: "audio-length-stddev", key: "audio-length-stddev", kind: number, releases: inLast, help: "its standard deviation (0)"},
		{name: "audio-format", key: "audio-format", kind: word, choices: []string{"wav", "mp3"}, releases: inLast, help: "format of synthetic audio (wav)"},
		{name: "audio-depths", key: "audio-depths", kind: list, releases: inLast, help: "bit depths to choose from (16)"},
		{name: "audio-sample-rates", key: "audio-sample-rates", kind: list, releases: inLast, help: "sample rates to choose from, in kHz (16)"},
		{name: "audio-num-channels", key: "audio-num-channels", kind: word, choices: []string{"1", "2"}, releases: inLast, help: "channels (1)"},
	}
}

func loadFlags() []option {
	return []option{
		{name: "concurrency", key: "concurrency", kind: whole, least: 1, releases: always, help: "requests in flight (1)"},
		{name: "request-rate", key: "request-rate", kind: number, releases: always, help: "requests per second, instead of --concurrency"},
		{name: "measurement-interval", short: "p", key: "interval", kind: whole, least: 1, releases: always, help: "length of a measurement in ms; three are taken (5000 in 24.03, 10000 in 24.04)"},
		{name: "request-count", same: []string{"num-requests"}, key: "request-count", kind: whole, least: 1, releases: inLast, help: "measured requests, instead of an interval (twice the concurrency, at least 10)"},
		{name: "warmup-request-count", same: []string{"num-warmup-requests"}, key: "warmup", kind: whole, releases: inLast, help: "requests ahead of the measurement (0)"},
		{name: "stability-percentage", short: "s", key: "stability", kind: number, releases: always, help: "how far measurements may differ, in percent (999)"},
		{name: "fixed-schedule", key: "fixed-schedule", kind: toggle, releases: inLast, help: "send at the timestamps of a payload file"},
		{name: "sweep-type", key: "sweep-type", kind: word, choices: sweepTypes(), releases: inLast, help: "analyze: what changes from run to run (concurrency)"},
		{name: "sweep-range", key: "sweep-range", kind: word, releases: inLast, help: "analyze: MIN:MAX by powers of two, or MIN:MAX:STEP"},
		{name: "sweep-list", key: "sweep-list", kind: word, releases: inLast, help: "analyze: values, with commas between"},
	}
}

func sweepTypes() []string {
	return []string{"batch_size", "concurrency", "num_dataset_entries", "input_sequence_length", "request_rate"}
}

func sessionFlags() []option {
	return []option{
		{name: "num-sessions", key: "sessions", kind: whole, releases: inLast, help: "conversations to hold (0)"},
		{name: "session-concurrency", key: "session-concurrency", kind: whole, releases: inLast, help: "conversations at a time"},
		{name: "session-delay-ratio", key: "session-delay-ratio", kind: number, releases: inLast, help: "factor on the delays of a payload file (1)"},
		{name: "session-turn-delay-mean", key: "session-turn-delay-mean", kind: whole, releases: inLast, help: "mean pause between turns in ms (0)"},
		{name: "session-turn-delay-stddev", key: "session-turn-delay-stddev", kind: whole, releases: inLast, help: "its standard deviation (0)"},
		{name: "session-turns-mean", key: "session-turns-mean", kind: number, releases: inLast, help: "mean number of turns (1)"},
		{name: "session-turns-stddev", key: "session-turns-stddev", kind: number, releases: inLast, help: "its standard deviation (0)"},
	}
}

func outputFlags() []option {
	return []option{
		{name: "artifact-dir", key: "artifact-dir", kind: word, releases: inLast, help: "directory for all files (artifacts)"},
		{name: "profile-export-file", key: "export-file", kind: word, releases: always, help: "name of the file of all requests (profile_export.json)"},
		{name: "checkpoint-dir", key: "checkpoint-dir", kind: word, releases: inLast, help: "directory of the checkpoint (checkpoint)"},
		{name: "enable-checkpointing", key: "checkpointing", kind: toggle, releases: inLast, help: "keep the state of an analysis, to go on with it"},
		{name: "generate-plots", key: "plots", kind: toggle, releases: inLast, help: "draw charts"},
		{name: "input-directory", short: "d", key: "input-directory", kind: word, releases: inLast, help: "process-export-files: directory of the runs (aggregated)"},
		{name: "file", short: "f", key: "file", kind: word, releases: inLast, help: "config and create-template: the YAML file"},
		{name: "files", key: "files", kind: list, releases: inLast, help: "compare: profile exports, or directories of runs; also -f"},
		{name: "config", key: "plot-config", kind: word, releases: inLast, help: "compare: a YAML file that describes the charts; compare -f writes one"},
		{name: "override-config", key: "override-config", kind: toggle, releases: inLast, help: "config: flags go over the file"},
		{name: "verbose", short: "v", key: "verbose", kind: toggle, releases: always, help: "say what is sent, and the settings as resolved"},
		{name: "version", key: "version", kind: toggle, releases: always, help: "print the version"},
		{name: "help", short: "h", key: "help", kind: toggle, releases: always, help: "print this"},
	}
}

// ownFlags are those that the original does not have.
func ownFlags() []option {
	return []option{
		{name: "genai-perf-release", key: "release", kind: word, releases: always, help: "behave as this release: 24.03, 24.04 or a later one (told from the flags)"},
		{name: "faithful", key: "faithful", kind: toggle, releases: always, help: "the original's arithmetic, errors included (docs/differences.md)"},
		{name: "strict", key: "strict", kind: toggle, releases: always, help: "exit 1 when the result cannot be trusted"},
		{name: "dry-run", key: "dry-run", kind: toggle, releases: always, help: "print the plan and stop"},
	}
}
