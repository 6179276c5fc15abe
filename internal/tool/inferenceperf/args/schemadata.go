package args

// distribution is the form of a distribution of lengths.
func distribution() form {
	f := section(
		key{name: "min", form: wholeForm, def: 10, help: "Minimum; lower values are raised to it."},
		key{name: "max", form: wholeForm, def: 1024, help: "Maximum; higher values are lowered to it."},
		key{name: "mean", form: numberForm, def: 512.0, help: "Mean; for `fixed`: the value."},
		key{name: "std_dev", form: nonNegative, def: 200.0, help: "Standard deviation."},
		key{name: "total_count", form: wholeForm, open: true, help: "For `random` and `synthetic`: lengths to draw before the run, where the longest stage needs fewer. A seed gives other output lengths with another number of input lengths."},
		key{name: "type", also: "distribution", form: words("normal", "skew_normal", "lognormal", "uniform", "poisson", "fixed"), def: "normal", help: "Shape."},
		key{name: "variance", form: nonNegative, open: true, help: "Instead of `std_dev`."},
		key{name: "skew", form: numberForm, def: 0.0, help: "For `skew_normal`."},
	)
	f.name = "distribution"
	return f
}

func distKey(name, help string) key {
	return key{name: name, form: distribution(), open: true, help: help}
}

// lengthForm is a whole number or a distribution.
func lengthForm() form {
	dist, n := distribution(), countForm
	return form{kind: union, scalar: &n, mapped: &dist}
}

// spotForm is where something stands in a prompt: a number or a distribution.
func spotForm() form {
	dist, n := distribution(), form{kind: number} // bounded where something stands there
	return form{kind: union, scalar: &n, mapped: &dist}
}

func traceForm() form {
	return section(
		key{name: "file", form: textForm, must: true, help: "CSV file: TIMESTAMP, ContextTokens, GeneratedTokens."},
		key{name: "format", form: words("AzurePublicDataset"), def: "AzurePublicDataset", help: "File format."},
	)
}

func dataForm() form {
	return section(
		key{name: "type", form: words(
			"mock", "shareGPT", "synthetic", "random", "shared_prefix", "cnn_dailymail", "infinity_instruct", "billsum_conversations",
			"otel_trace_replay", "weka_trace_replay", "conversation_replay", "visionarena", "synthetic_agentic",
		), def: "mock", help: "Where prompts come from."},
		key{name: "path", form: textForm, open: true, help: "Local file or directory of the dataset; null: Hugging Face."},
		key{name: "corpus_file_path", form: textForm, open: true, help: "Text file that `synthetic` prompts are taken from."},
		distKey("input_distribution", "Prompt length. Required for `synthetic` and `random`; for datasets: `min` and `max` select rows."),
		distKey("output_distribution", "Output length to request, in the same way."),
		key{name: "shared_prefix", form: sharedPrefixForm(), open: true, help: "For `shared_prefix`."},
		key{name: "multimodal", form: mediaForm(), open: true, help: "For `synthetic` and `shared_prefix`: images, videos and audio in prompts, new ones in each; those of `shared_prefix` are in the question."},
		key{name: "trace", form: traceForm(), open: true, help: "For `random`: take lengths from a trace instead of distributions."},
		key{name: "otel_trace_replay", form: otelForm(), open: true, help: "For `otel_trace_replay`."},
		key{name: "weka_trace_replay", form: wekaForm(), open: true, help: "For `weka_trace_replay`."},
		key{name: "conversation_replay", form: conversationForm(), open: true, help: "For `conversation_replay`."},
		key{name: "visionarena", form: visionForm(), open: true, help: "For `visionarena`."},
		key{name: "synthetic_agentic", form: agentsForm(), open: true, help: "For `synthetic_agentic`."},
		key{name: "chat_lengths", form: words("original", "data"), def: "original", help: "Inferometer extension: output length in chats. `original`: 30 tokens, after all turns of a dataset's conversation, including its last answer. " +
			"`data`: conversations end with the last question, and the recorded answer's length is requested; for `synthetic` with media: that of `output_distribution`."},
		key{name: "use_chat_template", form: booleanForm, def: false, help: "For `random`: apply the chat template on the client; lengths include it."},
	)
}

func sharedPrefixForm() form {
	return section(
		key{name: "num_unique_system_prompts", also: "num_groups", form: posWhole, def: 10, help: "Number of groups, each with its own shared prefix."},
		key{name: "num_users_per_system_prompt", also: "num_prompts_per_group", form: posWhole, def: 10, help: "Prompts per group."},
		key{name: "system_prompt_len", form: lengthForm(), def: 100, help: "Length of the shared prefix."},
		key{name: "question_len", form: lengthForm(), def: 50, help: "Length of the question after it."},
		key{name: "output_len", form: lengthForm(), def: 50, help: "Output length to request."},
		key{name: "seed", form: countForm, open: true, help: "Seed for the texts; null: `load.base_seed`."},
		distKey("question_distribution", "Older name for a distribution in `question_len`."),
		distKey("output_distribution", "Older name for a distribution in `output_len`."),
		key{name: "enable_multi_turn_chat", form: booleanForm, def: false, help: "Make a user's requests turns of one conversation."},
		key{name: "turns", form: words("original", "questions"), def: "original", help: "Inferometer extension: with `enable_multi_turn_chat`. `original`: each turn repeats the user's whole prompt, shared prefix included, after the conversation so far. `questions`: each turn is a new question."},
		key{name: "multimodal", form: mediaForm(), open: true, help: "Images, videos and audio in the shared prefix, the same for all prompts of a group. Prompts with media are sent to /v1/chat/completions even where `api.type` is `completion`."},
	)
}

func mediaForm() form {
	resolution := section(
		key{name: "height", form: posWhole, must: true, help: "In pixels."},
		key{name: "width", form: posWhole, must: true, help: "In pixels."},
	)
	preset := words("4k", "1080p", "720p", "360p")
	size := form{kind: union, scalar: &preset, mapped: &resolution}
	weight := key{name: "weight", form: nonNegative, def: 1.0, help: "Relative weight."}
	sizes := listOf(section(key{name: "resolution", form: size, must: true, help: "A name, or height and width."}, weight))
	clip := section(
		key{name: "resolution", form: size, must: true, help: "Resolution of a frame."},
		key{name: "frames", form: posWhole, must: true, help: "Number of frames."},
	)
	clips := listOf(section(key{name: "profile", form: clip, must: true, help: "Resolution and frames."}, weight))
	seconds := posNumber
	durations := listOf(section(key{name: "duration", form: posNumber, must: true, help: "In seconds."}, weight))
	common := []key{
		distKey("count", "How many per request; null: none."),
		{name: "insertion_point", form: spotForm(), open: true, help: "Position in the text: 0 before it, 1 after it; null: random."},
	}
	f := section(
		key{name: "image", form: section(append(common[:2:2],
			key{name: "resolutions", form: form{kind: union, scalar: &preset, mapped: &resolution, listed: &sizes}, open: true, help: "One, or a list to draw from."},
			key{name: "representation", form: words("png", "jpeg"), def: "png", help: "Encoding."})...), open: true, help: "Images."},
		key{name: "video", form: section(append(common[:2:2],
			key{name: "profiles", form: form{kind: union, mapped: &clip, listed: &clips}, open: true, help: "One, or a list to draw from."},
			key{name: "representation", form: words("mp4", "png_frames", "jpeg_frames"), def: "mp4", help: "One video, or its frames as images."})...), open: true, help: "Videos."},
		key{name: "audio", form: section(append(common[:2:2],
			key{name: "durations", form: form{kind: union, scalar: &seconds, listed: &durations}, open: true, help: "Seconds, or a list to draw from."})...), open: true, help: "Audio."},
	)
	f.name = "media"
	return f
}

func conversationForm() form {
	return section(
		key{name: "seed", form: countForm, def: 42, help: "Seed for lengths and texts."},
		key{name: "num_conversations", form: posWhole, def: 200, help: "Number of conversations."},
		key{name: "shared_system_prompt_len", form: countForm, def: 8359, help: "Length of the shared system prompt, in tokens."},
		distKey("dynamic_system_prompt_len", "Length of what each conversation adds to it."),
		distKey("turns_per_conversation", "Turns per conversation; null: 10."),
		distKey("input_tokens_per_turn", "Prompt length per turn; null: 512."),
		distKey("output_tokens_per_turn", "Output length per turn; null: 256."),
		distKey("tool_call_latency_sec", "Time between a response and the next turn, in seconds. Not part of any latency."),
		key{name: "max_model_len", form: posWhole, open: true, help: "Maximum tokens of prompt and output; null: 225000."},
	)
}

// sessionKeys are common to all sessions that are graphs of calls. override is whether turns
// that call tools may be longer than they are said to be, by default.
func sessionKeys(override bool) []key {
	return []key{
		{name: "use_static_model", form: booleanForm, def: false, help: "Request one model throughout."},
		{name: "static_model_name", form: textForm, def: "", help: "Name of that model."},
		{name: "model_mapping", form: mapOf(textForm), open: true, help: "Model to request, by recorded model."},
		{name: "default_max_tokens", form: posWhole, def: 1000, help: "Output length where neither length nor text was recorded."},
		{name: "override_tool_call_max_tokens", form: booleanForm, def: override, help: "Request at least 4096 tokens in turns that call tools."},
		{name: "tool_choice_mode", form: words("force_recorded", "as_recorded"), def: "force_recorded", help: "Whether a turn that called a tool is forced to call it again."},
		{name: "inject_random_session_id", form: booleanForm, def: false, help: "Add a random tag to each session's text, to defeat caches."},
		{name: "duplicate_sessions_target", form: posWhole, open: true, help: "Repeat sessions up to this number."},
		{name: "max_wait_ms", form: countForm, def: 15000, help: "Maximum wait between turns, in milliseconds."},
		{name: "predecessor_wait_timeout_sec", form: nonNegative, def: 3600.0, help: "How long after the session's start a turn may wait for its predecessors, in seconds; 0: forever."},
		{name: "include_errors", form: booleanForm, def: true, help: "Also replay turns recorded as errors."},
		{name: "skip_invalid_files", form: booleanForm, def: false, help: "Skip files that cannot be read."},
		{name: "bad_tool_call_handling", form: words("none", "use_recorded"), def: "none", help: "What later turns contain in place of a malformed tool call."},
	}
}

// replayKeys are common to both kinds of traces.
func replayKeys() []key {
	hub := section(
		key{name: "path", form: textForm, must: true, help: "owner/name."},
		key{name: "name", form: textForm, open: true, help: "Configuration of the dataset."},
		key{name: "revision", form: textForm, open: true, help: "Branch, tag or commit."},
		key{name: "split", form: textForm, open: true, help: "Split."},
	)
	name := textForm
	return append(sessionKeys(true), []key{
		{name: "trace_directory", form: textForm, open: true, help: "Directory of traces. Give exactly one of `trace_directory`, `trace_files` and `hf_dataset_path`."},
		{name: "trace_files", form: listOf(textForm), open: true, help: "Trace files, or glob patterns."},
		{name: "hf_dataset_path", form: form{kind: union, scalar: &name, mapped: &hub}, open: true, help: "Dataset on Hugging Face."},
		{name: "filter", form: textForm, open: true, help: "Expression that sessions must match: comparisons, `and`, `or`, `not`, `in`, `len`. Never run as code."},
	}...)
}

func otelForm() form {
	return section(append(replayKeys(),
		key{name: "disable_output_substitution", form: booleanForm, def: false, help: "Send recorded responses to later turns instead of live ones."},
		key{name: "attribute_to_header_map", form: mapOf(textForm), open: true, help: "Header to send, by the attribute that holds its value."},
		key{name: "attribute_to_label_map", form: mapOf(textForm), open: true, help: "Label of a request, by the attribute that holds its value."},
	)...)
}

func wekaForm() form {
	return section(append(replayKeys(),
		key{name: "trace_idle_gap_cap_seconds", form: nonNegative, def: 60.0, help: "Maximum idle gap, in seconds."},
		key{name: "ignore_trace_delays", form: booleanForm, def: false, help: "Do not wait between turns."},
		key{name: "use_think_time_only", form: booleanForm, def: false, help: "Wait for the recorded think times only."},
		key{name: "default_block_size", form: posWhole, def: 64, help: "Tokens per block, unless the trace has it."},
		key{name: "num_dataset_entries", form: posWhole, def: 100, help: "Sessions to read from Hugging Face."},
		key{name: "datagen_workers", form: posWhole, open: true, help: "Accepted, no effect: there are no worker processes."},
	)...)
}

func visionForm() form {
	return section(
		key{name: "hf_dataset_name", form: textForm, def: "lmarena-ai/VisionArena-Chat", help: "Hugging Face ID of the dataset."},
		key{name: "hf_split", form: textForm, def: "train", help: "Split."},
		key{name: "hf_data_files", form: textForm, open: true, help: "File name or pattern."},
		key{name: "num_rows", form: posWhole, def: 1000, help: "Rows to read."},
		key{name: "max_images_per_request", form: posWhole, def: 1, help: "Maximum images per request."},
		key{name: "insertion_point", form: spotForm(), def: 0.0, open: true, help: "Position in the text: 0 before it, 1 after it; null: random."},
	)
}

func loadForm() form {
	// A stage has the keys of its load's type; stages.go says which.
	stage := section(
		key{name: "rate", form: posNumber, open: true, help: "For constant, poisson, trace_replay: requests per second."},
		key{name: "duration", form: posWhole, open: true, help: "For constant, poisson, trace_replay: duration in seconds."},
		key{name: "num_requests", form: posWhole, open: true, help: "For concurrent: requests in the stage."},
		key{name: "concurrency_level", form: posWhole, open: true, help: "For concurrent: requests in flight."},
		key{name: "concurrent_sessions", form: countForm, open: true, help: "For trace_session_replay: concurrent sessions; 0: all at once."},
		key{name: "session_rate", form: posNumber, open: true, help: "For trace_session_replay: session starts per second."},
		key{name: "num_sessions", form: posWhole, open: true, help: "For trace_session_replay: sessions in the stage; null: those that earlier stages have left, or all of them."},
		key{name: "timeout", form: posNumber, open: true, help: "For trace_session_replay: timeout of the stage, in seconds."},
	)
	sweep := section(
		key{name: "type", form: words("geometric", "linear"), must: true, help: "Spacing of rates: denser toward saturation, or even."},
		key{name: "num_requests", form: posWhole, def: 2000, help: "Requests per search step."},
		key{name: "timeout", form: posNumber, def: 60.0, help: "Timeout of a step, in seconds."},
		key{name: "num_stages", form: posWhole, def: 5, help: "Number of stages."},
		key{name: "stage_duration", form: posWhole, def: 180, help: "Duration of each, in seconds."},
		key{name: "saturation_percentile", form: form{kind: number, least: new(0.0), most: new(100.0)}, def: 95.0, help: "Percentile of the burst's drain rate, taken as the saturation rate."},
	)
	lora := section(
		key{name: "name", form: textForm, must: true, help: "Adapter to request."},
		key{name: "split", form: form{kind: number, least: new(0.0), most: new(1.0)}, must: true, help: "Share of the requests."},
	)
	return section(
		key{name: "type", form: words("constant", "poisson", "trace_replay", "concurrent", "trace_session_replay"), def: "constant", help: "How requests arrive."},
		key{name: "interval", form: nonNegative, def: 1.0, help: "Pause between stages, in seconds."},
		key{name: "stages", form: listOf(stage), def: []any{}, help: "Stages, run one after another."},
		key{name: "sweep", form: sweep, open: true, help: "Find the saturation rate and run stages up to it."},
		key{name: "num_workers", form: countForm, open: true, help: "Accepted: a single process sends as much as that many workers; null: one per CPU."},
		key{name: "worker_max_concurrency", form: countForm, def: 100, help: "Accepted: requests in flight are not limited, so that the rate is kept. With --faithful they are, to this times `num_workers`."},
		key{name: "worker_max_tcp_connections", form: countForm, def: 2500, help: "Accepted: there are as many connections as requests in flight."},
		key{name: "trace", form: traceForm(), open: true, help: "For `trace_replay`: the send times."},
		key{name: "circuit_breakers", form: listOf(textForm), def: []any{}, help: "Names of the active breakers."},
		key{name: "request_timeout", form: nonNegative, open: true, help: "Total request timeout, in seconds; null or 0: 600."},
		key{name: "request_retries", form: countForm, def: 0, help: "How often to retry a request whose connection failed, or broke before the first byte of the response. Latency counts from the first attempt; each attempt has the full `request_timeout`."},
		key{name: "request_retry_backoff_sec", form: nonNegative, def: 0.5, help: "Backoff before the first retry, in seconds; doubled for each further one, with jitter of up to half."},
		key{name: "stage_teardown_grace_seconds", form: nonNegative, def: 120.0, help: "How long requests in flight may continue when a stage ends early (interrupt, breaker or `timeout`), in seconds; 0: cancel at once. A stage that has sent everything waits for all of them."},
		key{name: "lora_traffic_split", form: listOf(lora), open: true, help: "LoRA adapters that share the traffic; shares add up to 1."},
		key{name: "base_seed", form: wholeForm, open: true, help: "Seed for prompts, lengths and arrivals; null: the start time in milliseconds."},
	)
}
