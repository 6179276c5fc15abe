package args

import (
	"fmt"
	"strings"
)

// setting is one key of a config file.
type setting struct {
	path    string // within the file, with dots between
	flag    string // that says the same on a command line; empty: see readKey
	without string // what it is when nobody says anything, as the template has it
	help    string // a comment of the template
}

// configKeys are the keys of a config file, in the order of the template. The sections
// analyze and process, and the model's name, stand apart.
func configKeys() []setting {
	return []setting{
		{"endpoint.model_selection_strategy", "model-selection-strategy", "round_robin", "How prompts are assigned to several models: round_robin or random."},
		{"endpoint.backend", "backend", "tensorrtllm", "Backend of the Triton model: tensorrtllm or vllm."},
		{"endpoint.custom", "endpoint", "", "URL path, instead of the usual one of the type."},
		{"endpoint.type", "endpoint-type", "kserve", "API endpoint to measure: chat, completions, embeddings, kserve and so on."},
		{"endpoint.streaming", "streaming", "False", "Request streamed responses."},
		{"endpoint.server_metrics_urls", "server-metrics-url", "http://localhost:9400/metrics", "Prometheus pages with GPU metrics of the server."},
		{"endpoint.url", "url", "localhost:8001", "Server address."},
		{"endpoint.grpc_method", "grpc-method", "", "Method of a dynamic_grpc service."},

		{"perf_analyzer.path", "", "perf_analyzer", "No effect: no other program is started."},
		{"perf_analyzer.verbose", "verbose", "False", "Print the settings and what is sent."},
		{"perf_analyzer.stimulus", "", "{'concurrency': 1}", "Load: concurrency, request_rate, session_concurrency or fixed_schedule, with its value."},
		{"perf_analyzer.stability_percentage", "stability-percentage", "999", "How much measurements may differ, in percent."},
		{"perf_analyzer.warmup_request_count", "warmup-request-count", "0", "Warm-up requests before the measured ones."},
		{"perf_analyzer.measurement.mode", "", "request_count", "request_count or interval."},
		{"perf_analyzer.measurement.num", "", "", "Number of requests, or milliseconds. If empty: twice the concurrency, at least 10; or 10000 ms."},

		{"input.batch_size", "batch-size-text", "1", "Texts per request, for embeddings and rankings."},
		{"input.extra", "", "", "Fields to add to every request."},
		{"input.goodput", "", "", "What a request must meet to count as good: metrics with their limits, in ms or per second."},
		{"input.header", "", "", "Headers to add to every request."},
		{"input.file", "input-file", "", "Prompts: a file, a directory, payload:FILE or synthetic:NAMES."},
		{"input.num_dataset_entries", "num-dataset-entries", "100", "Number of distinct prompts."},
		{"input.random_seed", "random-seed", "0", "Seed; the same one gives the same prompts."},
		{"input.audio.batch_size", "batch-size-audio", "1", "Audio clips per request."},
		{"input.audio.format", "audio-format", "wav", "wav or mp3."},
		{"input.audio.depths", "audio-depths", "16", "Bit depths to choose from."},
		{"input.audio.sample_rates", "audio-sample-rates", "16", "Sample rates to choose from, in kHz."},
		{"input.audio.num_channels", "audio-num-channels", "1", "Number of channels: 1 or 2."},
		{"input.audio.length.mean", "audio-length-mean", "0", "Mean length in seconds; 0: no audio."},
		{"input.audio.length.stddev", "audio-length-stddev", "0", "Its standard deviation."},
		{"input.image.batch_size", "batch-size-image", "1", "Images per request."},
		{"input.image.format", "image-format", "png", "png or jpeg."},
		{"input.image.width.mean", "image-width-mean", "0", "Mean width in pixels; 0: no images."},
		{"input.image.width.stddev", "image-width-stddev", "0", "Its standard deviation."},
		{"input.image.height.mean", "image-height-mean", "0", "Mean height in pixels; 0: no images."},
		{"input.image.height.stddev", "image-height-stddev", "0", "Its standard deviation."},
		{"input.output_tokens.mean", "output-tokens-mean", "", "Mean output length to request, in tokens. If empty: up to the server."},
		{"input.output_tokens.deterministic", "output-tokens-mean-deterministic", "False", "Also request this length as the minimum (Triton)."},
		{"input.output_tokens.stddev", "output-tokens-stddev", "0", "Its standard deviation."},
		{"input.synthetic_tokens.mean", "synthetic-input-tokens-mean", "550", "Mean length of synthetic prompts in tokens."},
		{"input.synthetic_tokens.stddev", "synthetic-input-tokens-stddev", "0", "Its standard deviation."},
		{"input.prefix_prompt.num", "num-prefix-prompts", "0", "Number of shared prefixes, one of which starts each prompt; 0: none."},
		{"input.prefix_prompt.length", "prefix-prompt-length", "100", "Length of a prefix in tokens."},
		{"input.sessions.num", "num-sessions", "0", "Number of conversations."},
		{"input.sessions.turns.mean", "session-turns-mean", "1", "Mean number of turns."},
		{"input.sessions.turns.stddev", "session-turns-stddev", "0", "Its standard deviation."},
		{"input.sessions.turn_delay.mean", "session-turn-delay-mean", "0", "Mean delay between turns in ms."},
		{"input.sessions.turn_delay.ratio", "session-delay-ratio", "1.0", "Factor by which to multiply the delays of a payload file."},
		{"input.sessions.turn_delay.stddev", "session-turn-delay-stddev", "0", "Standard deviation of the delay between turns."},

		{"output.artifact_directory", "artifact-dir", "artifacts", "Output directory."},
		{"output.checkpoint_directory", "checkpoint-dir", "checkpoint", "Checkpoint directory."},
		{"output.profile_export_file", "profile-export-file", "profile_export.json", "Name of the file with every request."},
		{"output.generate_plots", "generate-plots", "False", "Draw charts."},
		{"output.enable_checkpointing", "enable-checkpointing", "False", "Save the state of an analysis, so that it can be resumed."},

		{"tokenizer.name", "tokenizer", "", "Hugging Face ID or path. If empty: the model name."},
		{"tokenizer.revision", "tokenizer-revision", "main", "Branch, tag or commit."},
		{"tokenizer.trust_remote_code", "tokenizer-trust-remote-code", "False", "No effect: no code is ever downloaded."},
	}
}

// TemplateText is the config file that create-template writes: every key with its
// default, and with comments where they are asked for.
func TemplateText(comments bool) string {
	var b strings.Builder
	say := func(indent, text string) {
		if comments {
			fmt.Fprintf(&b, "%s# %s\n", indent, text)
		}
	}
	say("  ", "Models to measure.")
	b.WriteString("  model_names: \n\n  analyze:\n" +
		"    # For a sweep, uncomment the lines below.\n    #   concurrency:\n    #     start: 1\n    #     stop: 1024\n")
	var open []string
	for _, k := range configKeys() {
		parts := strings.Split(k.path, ".")
		sections := parts[:len(parts)-1]
		same := 0
		for same < len(open) && same < len(sections) && open[same] == sections[same] {
			same++
		}
		for i := same; i < len(sections); i++ {
			fmt.Fprintf(&b, "\n%s%s:\n", strings.Repeat("  ", i+1), sections[i])
		}
		open = sections
		indent := strings.Repeat("  ", len(parts))
		say(indent, k.help)
		fmt.Fprintf(&b, "%s%s: %s\n", indent, parts[len(parts)-1], k.without)
	}
	b.WriteString("\n  process:\n    # To merge runs, uncomment the line below.\n    #   input_path: aggregated\n")
	return b.String()
}
