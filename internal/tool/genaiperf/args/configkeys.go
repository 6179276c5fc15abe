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
		{"endpoint.model_selection_strategy", "model-selection-strategy", "round_robin", "How a prompt gets one of several models: round_robin or random."},
		{"endpoint.backend", "backend", "tensorrtllm", "Backend of a Triton model: tensorrtllm or vllm."},
		{"endpoint.custom", "endpoint", "", "A path on the server instead of the type's own."},
		{"endpoint.type", "endpoint-type", "kserve", "What is asked of the server: chat, completions, embeddings, kserve and so on."},
		{"endpoint.streaming", "streaming", "False", "Ask for streams."},
		{"endpoint.server_metrics_urls", "server-metrics-url", "http://localhost:9400/metrics", "GPU metrics of the server, in Prometheus form."},
		{"endpoint.url", "url", "localhost:8001", "The server."},
		{"endpoint.grpc_method", "grpc-method", "", "Method of a dynamic_grpc service."},

		{"perf_analyzer.path", "", "perf_analyzer", "Has no effect: no other program is started."},
		{"perf_analyzer.verbose", "verbose", "False", "Say more."},
		{"perf_analyzer.stimulus", "", "{'concurrency': 1}", "The load: concurrency, request_rate, session_concurrency or fixed_schedule, with its value."},
		{"perf_analyzer.stability_percentage", "stability-percentage", "999", "How far measurements may differ, in percent."},
		{"perf_analyzer.warmup_request_count", "warmup-request-count", "0", "Requests ahead of the measurement."},
		{"perf_analyzer.measurement.mode", "", "request_count", "request_count or interval."},
		{"perf_analyzer.measurement.num", "", "", "Requests, or milliseconds. Left empty: twice the concurrency and at least 10, or 10000."},

		{"input.batch_size", "batch-size-text", "1", "Texts in a request of embeddings or rankings."},
		{"input.extra", "", "", "Fields that are added to every request."},
		{"input.goodput", "", "", "What a good request keeps to: metrics with their bounds, in ms or per second."},
		{"input.header", "", "", "Headers of every request."},
		{"input.file", "input-file", "", "Prompts: a file, a directory, payload:FILE or synthetic:NAMES."},
		{"input.num_dataset_entries", "num-dataset-entries", "100", "Distinct prompts."},
		{"input.random_seed", "random-seed", "0", "The same seed gives the same prompts."},
		{"input.audio.batch_size", "batch-size-audio", "1", "Clips in a request."},
		{"input.audio.format", "audio-format", "wav", "Format of clips."},
		{"input.audio.depths", "audio-depths", "16", "Bit depths to draw from."},
		{"input.audio.sample_rates", "audio-sample-rates", "16", "Sample rates to draw from, in kHz."},
		{"input.audio.num_channels", "audio-num-channels", "1", "Channels: 1 or 2."},
		{"input.audio.length.mean", "audio-length-mean", "0", "Mean length in seconds; 0: no audio."},
		{"input.audio.length.stddev", "audio-length-stddev", "0", "Its standard deviation."},
		{"input.image.batch_size", "batch-size-image", "1", "Images in a request."},
		{"input.image.format", "image-format", "png", "png or jpeg."},
		{"input.image.width.mean", "image-width-mean", "0", "Mean width in pixels; 0: no images."},
		{"input.image.width.stddev", "image-width-stddev", "0", "Its standard deviation."},
		{"input.image.height.mean", "image-height-mean", "0", "Mean height in pixels; 0: no images."},
		{"input.image.height.stddev", "image-height-stddev", "0", "Its standard deviation."},
		{"input.output_tokens.mean", "output-tokens-mean", "", "Mean length of answers to ask for. Left empty: the server decides."},
		{"input.output_tokens.deterministic", "output-tokens-mean-deterministic", "False", "Ask for no fewer tokens either (Triton)."},
		{"input.output_tokens.stddev", "output-tokens-stddev", "0", "Its standard deviation."},
		{"input.synthetic_tokens.mean", "synthetic-input-tokens-mean", "550", "Mean length of synthetic prompts."},
		{"input.synthetic_tokens.stddev", "synthetic-input-tokens-stddev", "0", "Its standard deviation."},
		{"input.prefix_prompt.num", "num-prefix-prompts", "0", "Prompts to choose a common beginning from; 0: none."},
		{"input.prefix_prompt.length", "prefix-prompt-length", "100", "Their length in tokens."},
		{"input.sessions.num", "num-sessions", "0", "Conversations to hold."},
		{"input.sessions.turns.mean", "session-turns-mean", "1", "Mean number of turns."},
		{"input.sessions.turns.stddev", "session-turns-stddev", "0", "Its standard deviation."},
		{"input.sessions.turn_delay.mean", "session-turn-delay-mean", "0", "Mean pause between turns in ms."},
		{"input.sessions.turn_delay.ratio", "session-delay-ratio", "1.0", "Factor on the delays of a payload file."},
		{"input.sessions.turn_delay.stddev", "session-turn-delay-stddev", "0", "Standard deviation of pauses."},

		{"output.artifact_directory", "artifact-dir", "artifacts", "Directory for all files."},
		{"output.checkpoint_directory", "checkpoint-dir", "checkpoint", "Directory of the checkpoint."},
		{"output.profile_export_file", "profile-export-file", "profile_export.json", "Name of the file of all requests."},
		{"output.generate_plots", "generate-plots", "False", "Draw charts."},
		{"output.enable_checkpointing", "enable-checkpointing", "False", "Keep the state of an analysis, to go on with it."},

		{"tokenizer.name", "tokenizer", "", "Hugging Face ID or path. Left empty: that of the model's name."},
		{"tokenizer.revision", "tokenizer-revision", "main", "Branch, tag or commit."},
		{"tokenizer.trust_remote_code", "tokenizer-trust-remote-code", "False", "Has no effect: no code is ever fetched."},
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
	say("  ", "The model or models to measure.")
	b.WriteString("  model_names: \n\n  analyze:\n" +
		"    # To sweep, take the marks off the lines below.\n    #   concurrency:\n    #     start: 1\n    #     stop: 1024\n")
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
	b.WriteString("\n  process:\n    # To merge runs, take the mark off the line below.\n    #   input_path: aggregated\n")
	return b.String()
}
