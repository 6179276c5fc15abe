package args

// distribution is the form of a distribution of lengths.
func distribution() form {
	f := section(
		key{name: "min", form: wholeForm, def: 10, help: "Least; what is drawn below becomes it."},
		key{name: "max", form: wholeForm, def: 1024, help: "Most; what is drawn above becomes it."},
		key{name: "mean", form: numberForm, def: 512.0, help: "Mean; of `fixed`, the value."},
		key{name: "std_dev", form: nonNegative, def: 200.0, help: "Standard deviation."},
		key{name: "total_count", form: posWhole, open: true, help: "Accepted and without effect: as many are drawn as are needed."},
		key{name: "type", also: "distribution", form: words("normal", "skew_normal", "lognormal", "uniform", "poisson", "fixed"), def: "normal", help: "Shape."},
		key{name: "variance", form: nonNegative, open: true, help: "Instead of `std_dev`."},
		key{name: "skew", form: numberForm, def: 0.0, help: "Of `skew_normal`."},
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
	dist, n := distribution(), form{kind: number, least: f64(0), most: f64(1)}
	return form{kind: union, scalar: &n, mapped: &dist}
}

func dataForm() form {
	trace := section(
		key{name: "file", form: textForm, must: true, help: "CSV file: TIMESTAMP, ContextTokens, GeneratedTokens."},
		key{name: "format", form: words("AzurePublicDataset"), def: "AzurePublicDataset", help: "Its form."},
	)
	return section(
		key{name: "type", form: dataType(), def: "mock", help: "Where prompts come from."},
		key{name: "path", form: textForm, open: true, help: "Local file or directory of files of a data set; null: the hub."},
		key{name: "corpus_file_path", form: textForm, open: true, help: "Text that `synthetic` prompts are taken from."},
		distKey("input_distribution", "Length of prompts. Of `synthetic` and `random` it is needed; of data sets, `min` and `max` say which rows are taken."),
		distKey("output_distribution", "Length of answers to ask for, in the same way."),
		key{name: "shared_prefix", form: sharedPrefixForm(), open: true, help: "Of `shared_prefix`."},
		key{name: "multimodal", form: mediaForm(), open: true, help: "Images, videos and sound beside the text of `synthetic` and `shared_prefix`."},
		key{name: "trace", form: trace, open: true, help: "Lengths of `random` out of a trace, instead of distributions."},
		key{name: "otel_trace_replay", form: otelForm(), open: true, help: "Of `otel_trace_replay`."},
		key{name: "weka_trace_replay", form: wekaForm(), open: true, help: "Of `weka_trace_replay`."},
		key{name: "conversation_replay", form: conversationForm(), open: true, help: "Of `conversation_replay`."},
		key{name: "visionarena", form: visionForm(), open: true, help: "Of `visionarena`."},
		key{name: "synthetic_agentic", form: agentsForm(), open: true, help: "Of `synthetic_agentic`."},
		key{name: "chat_lengths", form: words("original", "data"), def: "original", help: "Inferometer extension: how long answers of chats are. `original`: 30 tokens, after all turns of a data set's conversation, its last answer included. " +
			"`data`: conversations end with the last question, and its recorded answer's length is asked for; of `synthetic` with media, that of `output_distribution`."},
		key{name: "use_chat_template", form: booleanForm, def: false, help: "Of `random`: wrap the prompt in the chat template here; its length is that of the whole."},
	)
}

// dataType is where prompts may come from.
func dataType() form { return words(dataTypes()...) }

func dataTypes() []string {
	return []string{
		"mock", "shareGPT", "synthetic", "random", "shared_prefix", "cnn_dailymail", "infinity_instruct", "billsum_conversations",
		"otel_trace_replay", "weka_trace_replay", "conversation_replay", "visionarena", "synthetic_agentic",
	}
}

func sharedPrefixForm() form {
	return section(
		key{name: "num_unique_system_prompts", also: "num_groups", form: posWhole, def: 10, help: "Groups, each with a beginning of its own."},
		key{name: "num_users_per_system_prompt", also: "num_prompts_per_group", form: posWhole, def: 10, help: "Prompts of a group."},
		key{name: "system_prompt_len", form: lengthForm(), def: 100, help: "Length of the shared beginning."},
		key{name: "question_len", form: lengthForm(), def: 50, help: "Length of what follows it."},
		key{name: "output_len", form: lengthForm(), def: 50, help: "Length of answers to ask for."},
		key{name: "seed", form: countForm, open: true, help: "Of the texts; null: `load.base_seed`."},
		distKey("question_distribution", "The older name of a distribution in `question_len`."),
		distKey("output_distribution", "The older name of a distribution in `output_len`."),
		key{name: "enable_multi_turn_chat", form: booleanForm, def: false, help: "A user's requests are turns of one conversation."},
		key{name: "turns", form: words("original", "questions"), def: "original", help: "Inferometer extension: with `enable_multi_turn_chat`. `original`: each turn is the user's whole prompt again, shared beginning included, after all that was said. `questions`: each is a new question."},
		key{name: "multimodal", form: mediaForm(), open: true, help: "Images, videos and sound beside the text."},
	)
}

func mediaForm() form {
	resolution := section(
		key{name: "height", form: posWhole, must: true, help: "In pixels."},
		key{name: "width", form: posWhole, must: true, help: "In pixels."},
	)
	preset := words("4k", "1080p", "720p", "360p")
	size := form{kind: union, scalar: &preset, mapped: &resolution}
	weight := key{name: "weight", form: nonNegative, def: 1.0, help: "How often it is drawn beside the others."}
	sizes := listOf(section(key{name: "resolution", form: size, must: true, help: "A name or height and width."}, weight))
	clip := section(
		key{name: "resolution", form: size, must: true, help: "Of a frame."},
		key{name: "frames", form: posWhole, must: true, help: "How many."},
	)
	clips := listOf(section(key{name: "profile", form: clip, must: true, help: "Resolution and frames."}, weight))
	seconds := posNumber
	durations := listOf(section(key{name: "duration", form: posNumber, must: true, help: "In seconds."}, weight))
	common := []key{
		distKey("count", "How many a request has."),
		{name: "insertion_point", form: spotForm(), open: true, help: "Where in the text: 0 is before it, 1 behind it; null: anywhere."},
	}
	f := section(
		key{name: "image", form: section(append(common[:2:2],
			key{name: "resolutions", form: form{kind: union, scalar: &preset, mapped: &resolution, listed: &sizes}, open: true, help: "One, or a list to draw from."},
			key{name: "representation", form: words("png", "jpeg"), def: "png", help: "Encoding."})...), open: true, help: "Images."},
		key{name: "video", form: section(append(common[:2:2],
			key{name: "profiles", form: form{kind: union, mapped: &clip, listed: &clips}, open: true, help: "One, or a list to draw from."},
			key{name: "representation", form: words("mp4", "png_frames", "jpeg_frames"), def: "mp4", help: "One video, or its frames as images."})...), open: true, help: "Videos."},
		key{name: "audio", form: section(append(common[:2:2],
			key{name: "durations", form: form{kind: union, scalar: &seconds, listed: &durations}, open: true, help: "Seconds, or a list to draw from."})...), open: true, help: "Sound."},
	)
	f.name = "media"
	return f
}

func conversationForm() form {
	return section(
		key{name: "seed", form: countForm, def: 42, help: "Of lengths and texts."},
		key{name: "num_conversations", form: posWhole, def: 200, help: "Conversations."},
		key{name: "shared_system_prompt_len", form: countForm, def: 8359, help: "Tokens of the system prompt that all share."},
		distKey("dynamic_system_prompt_len", "What each conversation adds to it."),
		distKey("turns_per_conversation", "Turns; null: 10."),
		distKey("input_tokens_per_turn", "Length of a turn's prompt; null: 512."),
		distKey("output_tokens_per_turn", "Length of a turn's answer; null: 256."),
		distKey("tool_call_latency_sec", "Time between an answer and the next turn, in seconds. It is part of no latency."),
		key{name: "max_model_len", form: posWhole, open: true, help: "Most tokens of a prompt and its answer; null: 225000."},
	)
}

// sessionKeys are common to all sessions that are graphs of calls. override is whether turns
// that call tools may be longer than they are said to be, by default.
func sessionKeys(override bool) []key {
	return []key{
		{name: "use_static_model", form: booleanForm, def: false, help: "Ask for one model in all requests."},
		{name: "static_model_name", form: textForm, def: "", help: "That model."},
		{name: "model_mapping", form: mapOf(textForm), open: true, help: "Model to ask for by the recorded one."},
		{name: "default_max_tokens", form: posWhole, def: 1000, help: "Length of answer where neither length nor text was recorded."},
		{name: "override_tool_call_max_tokens", form: booleanForm, def: override, help: "Ask for at least 4096 tokens in turns that call tools."},
		{name: "tool_choice_mode", form: words("force_recorded", "as_recorded"), def: "force_recorded", help: "Whether a turn that called a tool is made to call it again."},
		{name: "inject_random_session_id", form: booleanForm, def: false, help: "A random tag in each session's text, so that no cache knows it."},
		{name: "duplicate_sessions_target", form: posWhole, open: true, help: "Repeat sessions to reach so many."},
		{name: "max_wait_ms", form: countForm, def: 15000, help: "Longest wait between a turn and the one before, in milliseconds."},
		{name: "predecessor_wait_timeout_sec", form: nonNegative, def: 3600.0, help: "How long after the session's begin a turn may still wait for those before it; 0: forever."},
		{name: "include_errors", form: booleanForm, def: true, help: "Play turns that were recorded as errors too."},
		{name: "skip_invalid_files", form: booleanForm, def: false, help: "Leave out files that cannot be read."},
		{name: "bad_tool_call_handling", form: words("none", "use_recorded"), def: "none", help: "What later turns see of a tool call that the model got wrong."},
	}
}

// replayKeys are common to both kinds of traces.
func replayKeys() []key {
	hub := section(
		key{name: "path", form: textForm, must: true, help: "owner/name."},
		key{name: "name", form: textForm, open: true, help: "Configuration of the data set."},
		key{name: "revision", form: textForm, open: true, help: "Branch, tag or commit."},
		key{name: "split", form: textForm, open: true, help: "Split."},
	)
	name := textForm
	return append(sessionKeys(true), []key{
		{name: "trace_directory", form: textForm, open: true, help: "Directory of traces; or"},
		{name: "trace_files", form: listOf(textForm), open: true, help: "files, or patterns of them; or"},
		{name: "hf_dataset_path", form: form{kind: union, scalar: &name, mapped: &hub}, open: true, help: "a data set on the hub."},
		{name: "filter", form: textForm, open: true, help: "Expression that a session must meet: comparisons, `and`, `or`, `not`, `in`, `len`. Never run as code."},
	}...)
}

func otelForm() form {
	return section(append(replayKeys(),
		key{name: "disable_output_substitution", form: booleanForm, def: false, help: "Send recorded answers instead of the live ones."},
		key{name: "attribute_to_header_map", form: mapOf(textForm), open: true, help: "Header to send by the attribute that holds its value."},
		key{name: "attribute_to_label_map", form: mapOf(textForm), open: true, help: "Label of a request by the attribute that holds its value."},
	)...)
}

func wekaForm() form {
	return section(append(replayKeys(),
		key{name: "trace_idle_gap_cap_seconds", form: nonNegative, def: 60.0, help: "Longest idle gap."},
		key{name: "ignore_trace_delays", form: booleanForm, def: false, help: "No waits at all."},
		key{name: "use_think_time_only", form: booleanForm, def: false, help: "Wait for the recorded think times alone."},
		key{name: "default_block_size", form: posWhole, def: 64, help: "Tokens of a block where the trace does not say."},
		key{name: "num_dataset_entries", form: posWhole, def: 100, help: "Sessions that are read from the hub."},
		key{name: "datagen_workers", form: posWhole, open: true, help: "Accepted and without effect: there are no processes to count."},
	)...)
}

func visionForm() form {
	return section(
		key{name: "hf_dataset_name", form: textForm, def: "lmarena-ai/VisionArena-Chat", help: "Where on the hub."},
		key{name: "hf_split", form: textForm, def: "train", help: "Split."},
		key{name: "hf_data_files", form: textForm, open: true, help: "Name or pattern of files."},
		key{name: "num_rows", form: posWhole, def: 1000, help: "Rows that are read."},
		key{name: "max_images_per_request", form: posWhole, def: 1, help: "Most images of a request."},
		key{name: "insertion_point", form: spotForm(), def: 0.0, open: true, help: "Where in the text: 0 is before it, 1 behind it; null: anywhere."},
	)
}

func loadForm() form {
	// A stage has the keys of its load's type; stages.go says which.
	stage := section(
		key{name: "rate", form: posNumber, open: true, help: "constant, poisson, trace_replay: requests per second."},
		key{name: "duration", form: posWhole, open: true, help: "constant, poisson, trace_replay: seconds."},
		key{name: "num_requests", form: posWhole, open: true, help: "concurrent: requests of the stage."},
		key{name: "concurrency_level", form: posWhole, open: true, help: "concurrent: requests in flight."},
		key{name: "concurrent_sessions", form: countForm, open: true, help: "trace_session_replay: sessions under way; 0: all at once."},
		key{name: "session_rate", form: posNumber, open: true, help: "trace_session_replay: sessions that begin, per second."},
		key{name: "num_sessions", form: posWhole, open: true, help: "trace_session_replay: sessions of the stage; null: those that earlier stages have left, or all of them."},
		key{name: "timeout", form: posNumber, open: true, help: "trace_session_replay: longest time of the stage, in seconds."},
	)
	sweep := section(
		key{name: "type", form: words("geometric", "linear"), must: true, help: "How rates are laid out: dense near the saturation, or evenly."},
		key{name: "num_requests", form: posWhole, def: 2000, help: "Requests of a step of the search."},
		key{name: "timeout", form: posNumber, def: 60.0, help: "Longest time of a step, in seconds."},
		key{name: "num_stages", form: posWhole, def: 5, help: "Stages."},
		key{name: "stage_duration", form: posWhole, def: 180, help: "Length of each, in seconds."},
		key{name: "saturation_percentile", form: form{kind: number, least: f64(0), most: f64(100)}, def: 95.0, help: "Percentile of the rates at which a burst drains that bounds the search."},
	)
	trace := section(
		key{name: "file", form: textForm, must: true, help: "CSV file: TIMESTAMP, ContextTokens, GeneratedTokens."},
		key{name: "format", form: words("AzurePublicDataset"), def: "AzurePublicDataset", help: "Its form."},
	)
	lora := section(
		key{name: "name", form: textForm, must: true, help: "Adapter to ask for."},
		key{name: "split", form: form{kind: number, least: f64(0), most: f64(1)}, must: true, help: "Share of the requests."},
	)
	return section(
		key{name: "type", form: words("constant", "poisson", "trace_replay", "concurrent", "trace_session_replay"), def: "constant", help: "How requests arrive."},
		key{name: "interval", form: nonNegative, def: 1.0, help: "Pause between stages, in seconds."},
		key{name: "stages", form: listOf(stage), def: []any{}, help: "One after another."},
		key{name: "sweep", form: sweep, open: true, help: "Find the rate that the server can keep up with and run stages of rates up to it."},
		key{name: "num_workers", form: countForm, open: true, help: "Accepted: one process sends at least as much as so many would; null: one for each CPU."},
		key{name: "worker_max_concurrency", form: countForm, def: 100, help: "Accepted: requests in flight are not bounded, so that a rate stays a rate. With --faithful they are, by this times `num_workers`."},
		key{name: "worker_max_tcp_connections", form: countForm, def: 2500, help: "Accepted: there are as many connections as requests in flight."},
		key{name: "trace", form: trace, open: true, help: "Moments of `trace_replay`."},
		key{name: "circuit_breakers", form: listOf(textForm), def: []any{}, help: "Names of the breakers that are in force."},
		key{name: "request_timeout", form: nonNegative, open: true, help: "Longest time of a request, in seconds; null or 0: 600."},
		key{name: "request_retries", form: countForm, def: 0, help: "How often a request goes again for which no connection was made, or whose connection broke before the first byte of the answer. Latencies count from the first attempt; each has the whole `request_timeout`."},
		key{name: "request_retry_backoff_sec", form: nonNegative, def: 0.5, help: "Wait before the first of them, in seconds; twice as long before each further one, and changed at random by up to half."},
		key{name: "stage_teardown_grace_seconds", form: nonNegative, def: 120.0, help: "How long requests in flight may go on where a stage is ended before its time, by an interrupt, a breaker or its `timeout`, in seconds; 0: they are broken off at once. A stage that has sent everything waits for all of them."},
		key{name: "lora_traffic_split", form: listOf(lora), open: true, help: "Adapters that share the traffic; the shares add up to 1."},
		key{name: "base_seed", form: wholeForm, open: true, help: "The same seed gives the same prompts, lengths and arrivals; null: the time of the start, in milliseconds."},
	)
}
