package args

// kind says what a flag's value is.
type kind uint8

const (
	toggle kind = iota // no value
	word
	whole  // a whole number
	number // a number that may have a fraction
	list   // one or more words
	wholes // one or more whole numbers
	floats // one or more numbers
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
		{name: "model", short: "m", key: "model", kind: list, releases: always, help: "model name; several are used in turn"},
		{name: "model-selection-strategy", key: "model-selection", kind: word, choices: []string{"round_robin", "random"}, releases: inLast, help: "how prompts are assigned to several models (default round_robin)"},
		{name: "service-kind", key: "service-kind", kind: word, choices: []string{"triton", "openai", "tensorrtllm_engine", "dynamic_grpc"}, releases: always, help: "server API (default triton); openai needs --endpoint or --endpoint-type"},
		{name: "output-format", key: "output-format", kind: word, choices: []string{"openai_chat_completions", "openai_completions", "trtllm", "vllm"}, releases: in2403, help: "24.03: request format (default trtllm)"},
		{name: "backend", key: "backend", kind: word, choices: []string{"trtllm", "tensorrtllm", "vllm"}, releases: later, help: "backend of the Triton model (default tensorrtllm)"},
		{name: "endpoint-type", key: "endpoint-type", kind: word, choices: endpointTypes(), releases: later, help: "API endpoint to measure"},
		{name: "endpoint", key: "endpoint", kind: word, releases: always, help: "URL path, such as v1/chat/completions"},
		{name: "streaming", key: "streaming", kind: toggle, releases: always, help: "request streamed responses"},
		{name: "url", short: "u", key: "url", kind: word, releases: always, help: "server address (default localhost:8001 for Triton, localhost:8000 for OpenAI)"},
		{name: "server-metrics-url", same: []string{"server-metrics-urls"}, key: "server-metrics", kind: list, releases: inLast, help: "Prometheus pages with GPU metrics of the server"},
		{name: "grpc-method", key: "grpc-method", kind: word, releases: inLast, help: "no effect: method of a dynamic_grpc service, which is not supported"},
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
		{name: "input-type", key: "source", kind: word, choices: []string{"url", "file", "synthetic"}, releases: in2403, help: "24.03: where prompts come from (default synthetic)"},
		{name: "prompt-source", key: "source", kind: word, choices: []string{"synthetic", "dataset", "file"}, releases: in2404, help: "24.04: where prompts come from (default synthetic)"},
		{name: "dataset", key: "dataset", kind: word, choices: datasets(), releases: in2403, help: "24.03: Hugging Face dataset to take prompts from (default openorca)"},
		{name: "input-dataset", key: "dataset", kind: word, choices: datasets(), releases: in2404, help: "24.04: the same"},
		{name: "input-data", key: "input-file", kind: word, releases: in2403, help: "24.03: JSON file with a list of requests"},
		{name: "input-file", key: "input-file", kind: word, releases: later, help: "prompts: JSON lines with text or image, a directory of them, payload:FILE or synthetic:NAMES"},
		{name: "input-tokens-mean", key: "input-mean", kind: whole, least: 1, releases: in2403, help: "24.03: mean length of synthetic prompts in tokens (default 550)"},
		{name: "input-tokens-stddev", key: "input-stddev", kind: whole, releases: in2403, help: "24.03: its standard deviation (default 0)"},
		{name: "synthetic-input-tokens-mean", same: []string{"isl"}, key: "input-mean", kind: whole, least: 1, releases: later, help: "mean length of synthetic prompts in tokens (default 550)"},
		{name: "synthetic-input-tokens-stddev", key: "input-stddev", kind: whole, releases: later, help: "its standard deviation (default 0)"},
		{name: "synthetic-tokens-mean", key: "input-mean", kind: whole, least: 1, releases: in2404, help: "24.04: early name of --synthetic-input-tokens-mean"},
		{name: "synthetic-tokens-stddev", key: "input-stddev", kind: whole, releases: in2404, help: "24.04: early name of --synthetic-input-tokens-stddev"},
		{name: "expected-output-tokens", key: "expected-output", kind: whole, least: 1, releases: in2403, help: "24.03: output length to request, in the prompt's text and as max_tokens (default 150)"},
		{name: "synthetic-requested-output-tokens", key: "requested-output", kind: whole, least: 1, releases: in2403, help: "24.03: max_tokens, and min_tokens if the backend has it"},
		{name: "output-tokens-mean", same: []string{"osl"}, key: "output-mean", kind: whole, least: 1, releases: later, help: "mean output length to request, in tokens (default: up to the server)"},
		{name: "output-tokens-stddev", key: "output-stddev", kind: whole, releases: later, help: "its standard deviation (default 0)"},
		{name: "output-tokens-mean-deterministic", key: "deterministic", kind: toggle, releases: later, help: "also request this length as the minimum (Triton)"},
		{name: "num-of-output-prompts", key: "prompts", kind: whole, least: 1, releases: in2403, help: "24.03: number of distinct prompts (default 100)"},
		{name: "num-dataset-entries", same: []string{"num-prompts"}, key: "prompts", kind: whole, least: 1, releases: later, help: "number of distinct prompts (default 100)"},
		{name: "num-prefix-prompts", same: []string{"num-system-prompts"}, key: "prefix-prompts", kind: whole, releases: inLast, help: "number of shared prefixes, one of which starts each prompt (default 0: none)"},
		{name: "prefix-prompt-length", same: []string{"system-prompt-length"}, key: "prefix-length", kind: whole, releases: inLast, help: "length of a prefix in tokens (default 100)"},
		{name: "random-seed", key: "seed", kind: whole, least: -1 << 52, releases: always, help: "seed; the same one gives the same prompts (default 0)"},
		{name: "batch-size-text", same: []string{"batch-size"}, short: "b", key: "batch-text", kind: whole, least: 1, releases: inLast, help: "texts per request, for embeddings and rankings (default 1)"},
		{name: "extra-inputs", key: "extra", kind: word, releases: later, help: "NAME:VALUE or a JSON object to add to every request, repeatable"},
		{name: "goodput", short: "g", key: "goodput", kind: list, releases: inLast, help: "METRIC:VALUE that a request must meet to count as good, in ms or per second"},
		{name: "header", short: "H", key: "header", kind: word, releases: inLast, help: "NAME:VALUE header to add to every request, repeatable"},
		{name: "tokenizer", key: "tokenizer", kind: word, releases: later, help: "tokenizer for making and counting tokens: Hugging Face ID or path"},
		{name: "tokenizer-revision", key: "tokenizer-revision", kind: word, releases: inLast, help: "branch, tag or commit of the Hugging Face ID (default main)"},
		{name: "tokenizer-trust-remote-code", key: "trust-remote-code", kind: toggle, releases: inLast, help: "no effect: no code is ever downloaded"},
	}
}

func datasets() []string { return []string{"openorca", "cnn_dailymail"} }

func mediaFlags() []option {
	return []option{
		{name: "batch-size-image", key: "batch-image", kind: whole, least: 1, releases: inLast, help: "images per request (default 1)"},
		{name: "batch-size-audio", key: "batch-audio", kind: whole, least: 1, releases: inLast, help: "audio clips per request (default 1)"},
		{name: "image-width-mean", key: "image-width-mean", kind: whole, releases: inLast, help: "mean width of synthetic images in pixels (default 0: no images)"},
		{name: "image-width-stddev", key: "image-width-stddev", kind: whole, releases: inLast, help: "its standard deviation (default 0)"},
		{name: "image-height-mean", key: "image-height-mean", kind: whole, releases: inLast, help: "mean height of synthetic images in pixels (default 0: no images)"},
		{name: "image-height-stddev", key: "image-height-stddev", kind: whole, releases: inLast, help: "its standard deviation (default 0)"},
		{name: "image-format", key: "image-format", kind: word, choices: []string{"png", "jpeg"}, releases: inLast, help: "format of synthetic images (default png)"},
		{name: "audio-length-mean", key: "audio-length-mean", kind: number, releases: inLast, help: "mean length of synthetic audio in seconds (default 0: no audio)"},
		{name: "audio-length-stddev", key: "audio-length-stddev", kind: number, releases: inLast, help: "its standard deviation (default 0)"},
		{name: "audio-format", key: "audio-format", kind: word, choices: []string{"wav", "mp3"}, releases: inLast, help: "format of synthetic audio (default wav)"},
		{name: "audio-depths", key: "audio-depths", kind: wholes, least: 1, releases: inLast, help: "bit depths to choose from (default 16)"},
		{name: "audio-sample-rates", key: "audio-sample-rates", kind: floats, least: 1, releases: inLast, help: "sample rates to choose from, in kHz (default 16)"},
		{name: "audio-num-channels", key: "audio-num-channels", kind: word, choices: []string{"1", "2"}, releases: inLast, help: "number of channels (default 1)"},
	}
}

func loadFlags() []option {
	return []option{
		{name: "concurrency", key: "concurrency", kind: whole, least: 1, releases: always, help: "number of requests in flight (default 1)"},
		{name: "request-rate", key: "request-rate", kind: number, releases: always, help: "requests per second, instead of --concurrency"},
		{name: "measurement-interval", short: "p", key: "interval", kind: whole, least: 1, releases: always, help: "length of each of the three measurements in ms (default 5000 in 24.03, 10000 up to 25.03)"},
		{name: "request-count", same: []string{"num-requests"}, key: "request-count", kind: whole, least: 1, releases: inLast, help: "number of measured requests, instead of an interval (default: twice the concurrency, at least 10)"},
		{name: "warmup-request-count", same: []string{"num-warmup-requests"}, key: "warmup", kind: whole, releases: inLast, help: "warm-up requests before the measured ones (default 0)"},
		{name: "stability-percentage", short: "s", key: "stability", kind: number, releases: always, help: "how much measurements may differ, in percent (default 999)"},
		{name: "fixed-schedule", key: "fixed-schedule", kind: toggle, releases: inLast, help: "send requests at the timestamps of a payload file"},
		{name: "sweep-type", key: "sweep-type", kind: word, choices: sweepTypes(), releases: inLast, help: "analyze: what to vary between runs (default concurrency)"},
		{name: "sweep-range", key: "sweep-range", kind: word, releases: inLast, help: "analyze: MIN:MAX in powers of two, or MIN:MAX:STEP"},
		{name: "sweep-list", key: "sweep-list", kind: word, releases: inLast, help: "analyze: comma-separated values"},
	}
}

func sweepTypes() []string {
	return []string{"batch_size", "concurrency", "num_dataset_entries", "input_sequence_length", "request_rate"}
}

func sessionFlags() []option {
	return []option{
		{name: "num-sessions", key: "sessions", kind: whole, releases: inLast, help: "number of conversations (default 0)"},
		{name: "session-concurrency", key: "session-concurrency", kind: whole, releases: inLast, help: "number of conversations at a time"},
		{name: "session-delay-ratio", key: "session-delay-ratio", kind: number, releases: inLast, help: "factor by which to multiply the delays of a payload file (default 1)"},
		{name: "session-turn-delay-mean", key: "session-turn-delay-mean", kind: whole, releases: inLast, help: "mean delay between turns in ms (default 0)"},
		{name: "session-turn-delay-stddev", key: "session-turn-delay-stddev", kind: whole, releases: inLast, help: "its standard deviation (default 0)"},
		{name: "session-turns-mean", key: "session-turns-mean", kind: whole, releases: inLast, help: "mean number of turns (default 1)"},
		{name: "session-turns-stddev", key: "session-turns-stddev", kind: whole, releases: inLast, help: "its standard deviation (default 0)"},
	}
}

func outputFlags() []option {
	return []option{
		{name: "artifact-dir", key: "artifact-dir", kind: word, releases: inLast, help: "output directory (default artifacts)"},
		{name: "profile-export-file", key: "export-file", kind: word, releases: always, help: "name of the file with every request (default profile_export.json)"},
		{name: "checkpoint-dir", key: "checkpoint-dir", kind: word, releases: inLast, help: "checkpoint directory (default checkpoint)"},
		{name: "enable-checkpointing", key: "checkpointing", kind: toggle, releases: inLast, help: "save the state of an analysis, so that it can be resumed"},
		{name: "generate-plots", key: "plots", kind: toggle, releases: inLast, help: "draw charts"},
		{name: "input-directory", short: "d", key: "input-directory", kind: word, releases: inLast, help: "process-export-files: directory that holds the runs (default aggregated)"},
		{name: "file", short: "f", key: "file", kind: word, releases: inLast, help: "config and create-template: YAML config file"},
		{name: "files", key: "files", kind: list, releases: inLast, help: "compare: profile exports or run directories; also -f"},
		{name: "config", key: "plot-config", kind: word, releases: inLast, help: "compare: YAML file that describes the charts, as written by compare -f"},
		{name: "override-config", key: "override-config", kind: toggle, releases: inLast, help: "config: let flags override the file"},
		{name: "verbose", short: "v", key: "verbose", kind: toggle, releases: always, help: "print the settings and what is sent"},
		{name: "version", key: "version", kind: toggle, releases: always, help: "print the version"},
		{name: "help", short: "h", key: "help", kind: toggle, releases: always, help: "print this help"},
	}
}

// ownFlags are those that the original does not have.
func ownFlags() []option {
	return []option{
		{name: "genai-perf-release", key: "release", kind: word, releases: always, help: "release to behave as: 24.03, 24.04 or a later one (default: recognised by the flags)"},
		{name: "faithful", key: "faithful", kind: toggle, releases: always, help: "use the original's arithmetic, errors included (docs/differences.md)"},
		{name: "strict", key: "strict", kind: toggle, releases: always, help: "exit with 1 if the result can't be trusted"},
		{name: "dry-run", key: "dry-run", kind: toggle, releases: always, help: "print the equivalent plan file and exit"},
	}
}
