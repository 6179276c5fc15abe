package args

// replayEffects are those of recorded sessions.
func replayEffects() []effect {
	var out []effect
	for _, kind := range []string{"otel_trace_replay", "weka_trace_replay"} {
		at := "data." + kind + "."
		load := "--api.type chat --load.type trace_session_replay --load.stages [{\"concurrent_sessions\":1}] --data.type " + kind + " "
		is := load + "--" + at + "trace_directory d"
		hub := load + "--" + at + `hf_dataset_path {"path":"o/n"}`
		tools := works
		if kind == "weka_trace_replay" { // which has no tools and no errors
			tools = warns
		}
		out = append(out,
			effect{at + "use_static_model", is + " --" + at + "static_model_name m --" + at + `model_mapping {"a":"b"}`, "true", works},
			effect{at + "static_model_name", is + " --" + at + "use_static_model true --" + at + "static_model_name m", "n", works},
			effect{at + "static_model_name", is, "n", refused},
			// differs: ip-otel-models
			effect{at + "model_mapping", is, `{"a":"b"}`, works},
			effect{at + "default_max_tokens", is, "3", works},
			effect{at + "override_tool_call_max_tokens", is, "false", tools},
			effect{at + "tool_choice_mode", is, "as_recorded", tools},
			effect{at + "inject_random_session_id", is, "true", works},
			effect{at + "duplicate_sessions_target", is, "3", works},
			effect{at + "max_wait_ms", is, "3", works},
			effect{at + "max_wait_ms", is, "0", works},
			effect{at + "predecessor_wait_timeout_sec", is, "3", works},
			effect{at + "include_errors", is, "false", tools},
			effect{at + "skip_invalid_files", is, "true", works},
			effect{at + "bad_tool_call_handling", is, "use_recorded", tools},
			effect{at + "trace_directory", is, "e", works},
			effect{at + "trace_directory", "", "e", warns},
			effect{at + "trace_files[]", load + "--" + at + `trace_files ["a"]`, "--" + at + `trace_files ["b"]`, works},
			effect{at + "trace_files[]", is, "--" + at + `trace_files ["b"]`, refused},
			effect{at + "hf_dataset_path", load + "--" + at + "hf_dataset_path o/n", "o/m", works},
			effect{at + "hf_dataset_path.path", hub, "--" + at + `hf_dataset_path {"path":"o/m"}`, works},
			effect{at + "hf_dataset_path.name", hub, "--" + at + `hf_dataset_path {"name":"c"}`, works},
			effect{at + "hf_dataset_path.revision", hub, "--" + at + `hf_dataset_path {"revision":"v1"}`, works},
			effect{at + "hf_dataset_path.split", hub, "--" + at + `hf_dataset_path {"split":"test"}`, works},
			effect{at + "filter", is, "len(events)>2", works},
		)
	}
	const otel, weka = "data.otel_trace_replay.", "data.weka_trace_replay."
	const load = "--api.type chat --load.type trace_session_replay --load.stages [{\"concurrent_sessions\":1}] "
	const recorded = load + "--data.type otel_trace_replay --data.otel_trace_replay.trace_directory d"
	const blocks = load + "--data.type weka_trace_replay --data.weka_trace_replay.trace_directory d"
	return append(out,
		effect{otel + "disable_output_substitution", recorded, "true", works},
		effect{otel + "attribute_to_header_map", recorded, `{"a":"b"}`, works},
		effect{otel + "attribute_to_label_map", recorded, `{"a":"b"}`, works},
		effect{weka + "trace_idle_gap_cap_seconds", blocks, "3", works},
		effect{weka + "ignore_trace_delays", blocks, "true", works},
		effect{weka + "use_think_time_only", blocks, "true", works},
		effect{weka + "default_block_size", blocks, "32", works},
		effect{weka + "num_dataset_entries", blocks, "3", works},
		effect{weka + "datagen_workers", blocks, "3", met}, // there are no processes to count
	)
}

func loadEffects() []effect {
	const at = "load.stages"
	const sweep = `--load.sweep {"type":"linear"}`
	const sessions = "--api.type chat --load.type trace_session_replay --data.type otel_trace_replay --data.otel_trace_replay.trace_directory d --load.stages "
	const closed = `--load.type concurrent --load.stages [{"num_requests":9,"concurrency_level":2}]`
	const replay = `--load.type trace_replay --load.trace.file a.csv`
	const breakers = `--circuit_breakers [{"name":"a","metrics":{"matches":["@"]},"triggers":[{"type":"consecutive","threshold":3}]},{"name":"b","metrics":{"matches":["@"]},"triggers":[{"type":"consecutive","threshold":4}]}]`
	stages := func(text string) string { return "--load.stages " + text }
	return []effect{
		{"load.type", "", "poisson", works},
		{"load.interval", stages(`[{"rate":1,"duration":2},{"rate":2,"duration":2}]`), "3", works},
		{at + "[].rate", "", stages(`[{"rate":9,"duration":3}]`), works},
		{at + "[].rate", closed, stages(`[{"num_requests":9,"concurrency_level":2,"rate":3}]`), warns},
		{at + "[].rate", replay + " --data.type mock", stages(`[{"rate":9,"duration":3},{"rate":9,"duration":3}]`), works},
		{at + "[].rate", replay + " --data.type random --data.trace.file t.csv", stages(`[{"rate":9,"duration":3}]`), works}, // of reports
		{at + "[].duration", "", stages(`[{"rate":2,"duration":9}]`), works},
		{at + "[].num_requests", closed, stages(`[{"num_requests":8,"concurrency_level":2}]`), works},
		{at + "[].num_requests", "", stages(`[{"num_requests":8,"rate":2,"duration":3}]`), refused},
		{at + "[].concurrency_level", closed, stages(`[{"num_requests":9,"concurrency_level":3}]`), works},
		{at + "[].concurrent_sessions", sessions + `[{"concurrent_sessions":1}]`, stages(`[{"concurrent_sessions":2}]`), works},
		{at + "[].concurrent_sessions", "", stages(`[{"concurrent_sessions":2,"rate":2,"duration":3}]`), refused},
		{at + "[].session_rate", sessions + `[{"concurrent_sessions":2}]`, stages(`[{"concurrent_sessions":2,"session_rate":1}]`), works},
		{at + "[].num_sessions", sessions + `[{"concurrent_sessions":2}]`, stages(`[{"concurrent_sessions":2,"num_sessions":7}]`), works},
		{at + "[].timeout", sessions + `[{"concurrent_sessions":2}]`, stages(`[{"concurrent_sessions":2,"timeout":7}]`), works},
		{"load.sweep.type", sweep, "geometric", works},
		{"load.sweep.num_requests", sweep, "3", works},
		{"load.sweep.timeout", sweep, "3", works},
		{"load.sweep.num_stages", sweep, "3", works},
		{"load.sweep.stage_duration", sweep, "3", works},
		{"load.sweep.saturation_percentile", sweep, "50", works},
		{"load.num_workers", "", "3", met}, // one process does what so many would
		{"load.num_workers", "--faithful", "3", works},
		{"load.worker_max_concurrency", "", "3", met},
		{"load.worker_max_concurrency", "--faithful", "3", works},
		{"load.worker_max_tcp_connections", "", "3", met},
		{"load.trace.file", replay, "b.csv", works},
		{"load.trace.file", "", "b.csv", warns},
		{"load.trace.format", replay, "AzurePublicDataset", met}, // the only one
		{"load.circuit_breakers[]", breakers + ` --load.circuit_breakers ["a"]`, `--load.circuit_breakers ["b"]`, works},
		{"load.request_timeout", "", "3", works},
		{"load.request_retries", "", "3", works},
		{"load.request_retry_backoff_sec", "--load.request_retries 3", "3", works},
		{"load.request_retry_backoff_sec", "", "3", warns},
		{"load.stage_teardown_grace_seconds", "", "3", works},
		{"load.lora_traffic_split[].name", `--load.lora_traffic_split [{"name":"a","split":1}]`, `--load.lora_traffic_split [{"name":"b","split":1}]`, works},
		{"load.lora_traffic_split[].split", `--load.lora_traffic_split [{"name":"a","split":0.5},{"name":"b","split":0.5}]`,
			`--load.lora_traffic_split [{"name":"a","split":0.25},{"name":"b","split":0.75}]`, works},
		{"load.base_seed", "", "3", works},
	}
}

func reportEffects() []effect {
	const at = "report.request_lifecycle."
	const fields = at + "per_request_fields."
	const each = "--report.request_lifecycle.per_request true"
	return []effect{
		{at + "summary", "", "false", works},
		{at + "per_stage", "", "false", works},
		{at + "per_request", "", "true", works},
		{fields + "request", each, "false", works},
		{fields + "response", each, "false", works},
		{fields + "info", each, "false", works},
		{fields + "response_chunks", each, "false", works},
		{fields + "computed_metrics", each, "true", works},
		{fields + "computed_metrics", "", "true", "works, and warns"}, // it is kept, and nothing is written of it
		{at + "per_adapter", "", "false", works},
		{at + "per_adapter_stage", `--load.lora_traffic_split [{"name":"a","split":1}]`, "true", works},
		{at + "per_adapter_stage", "", "true", "works, and warns"},
		{at + "percentiles[]", "", "--report.request_lifecycle.percentiles [50]", works},
		{at + "use_server_output_tokens", "", "true", works},
		{at + "max_error_messages", "", "3", works},
		{"report.prometheus.summary", "", "false", works},
		{"report.prometheus.per_stage", `--metrics {"type":"prometheus","prometheus":{"url":"http://p"}}`, "true", works},
		{"report.prometheus.per_stage", "", "true", "works, and warns"},
		{"report.session_lifecycle.summary", "", "false", works},
		{"report.session_lifecycle.per_stage", "", "false", works},
		{"report.session_lifecycle.per_session", "", "true", works},
		{"report.goodput.constraints", "", `{"ttft":1}`, works},
	}
}

func otherEffects() []effect {
	const prometheus = `--metrics {"type":"prometheus","prometheus":{"url":"http://p"}}`
	const trigger = `--load.circuit_breakers ["a"] --circuit_breakers `
	breaker := func(name, matches, rules, triggers string) string {
		return `[{"name":"` + name + `","metrics":{"matches":["` + matches + `"],"rules":["` + rules + `"]},"triggers":[` + triggers + `]}]`
	}
	const inARow = `{"type":"consecutive","threshold":3}`
	const share = `{"type":"rate_over_window","threshold":0.5,"window_sec":3,"min_samples":2}`
	broken := func(key, from, to string) effect {
		return effect{"circuit_breakers[]." + key, trigger + from, "--circuit_breakers " + to, works}
	}
	usual := breaker("a", "x", "y", inARow)
	window := breaker("a", "x", "y", share)
	const bucket = `--storage.google_cloud_storage {"bucket_name":"b"}`
	const s3 = `--storage.simple_storage_service {"bucket_name":"b"}`
	return []effect{
		{"metrics.type", "", `--metrics {"type":"default"}`, warns},
		{"metrics.type", prometheus, "default", "works, and warns"},
		{"metrics.prometheus.scrape_interval", prometheus, "3", works},
		{"metrics.prometheus.url", prometheus, "http://q", works},
		{"metrics.prometheus.filters[]", prometheus, `--metrics.prometheus.filters ["a='b'"]`, works},
		{"metrics.prometheus.google_managed", `--metrics {"type":"prometheus","prometheus":{"google_managed":true}}`, `--metrics.prometheus {"google_managed":false,"url":"http://q"}`, works},
		{"metrics.scrape_urls[]", `--metrics {"type":"default","scrape_urls":["http://a/metrics"]}`, `--metrics.scrape_urls ["http://b/metrics"]`, works},

		{"storage.local_storage.path", "", "p", works},
		{"storage.local_storage.report_file_prefix", "", "p", works},
		{"storage.google_cloud_storage.path", bucket, "p", works},
		{"storage.google_cloud_storage.report_file_prefix", bucket, "p", works},
		{"storage.google_cloud_storage.bucket_name", bucket, "c", works},
		{"storage.simple_storage_service.path", s3, "p", works},
		{"storage.simple_storage_service.report_file_prefix", s3, "p", works},
		{"storage.simple_storage_service.bucket_name", s3, "c", works},
		{"storage.simple_storage_service.endpoint_url", s3, "http://h:9000", works},
		{"storage.simple_storage_service.region_name", s3, "r", works},
		{"storage.simple_storage_service.addressing_style", s3, "path", works},

		{"server.type", "", "tgi", works},
		{"server.model_name", "", "m", works},
		{"server.base_url", "", "http://i", works},
		{"server.base_url", "--server.type mock", "http://i", met}, // the note is there with any address
		{"server.ignore_eos", "", "false", works},
		{"server.api_key", "", "k", works},
		{"server.cert_path", "--server.base_url https://i --server.cert_path a --server.key_path b", "c", works},
		{"server.key_path", "--server.base_url https://i --server.cert_path a --server.key_path b", "c", works},
		{"server.ca_path", "--server.base_url https://i", "c", works},
		{"server.insecure", "--server.base_url https://i", "true", works},
		{"server.insecure", "--server.type mock", "true", "works, and warns"},

		{"tokenizer.pretrained_model_name_or_path", "", "t", works},
		{"tokenizer.trust_remote_code", "--tokenizer.pretrained_model_name_or_path t", "true", met}, // what can be loaded is loaded without
		{"tokenizer.token", "", "t", works},
		{"tokenizer.load_timeout", "", "3", works},

		broken("name", usual, breaker("b", "x", "y", inARow)+" --load.circuit_breakers [\"b\"]"),
		broken("metrics.matches[]", usual, breaker("a", "z", "y", inARow)),
		broken("metrics.rules[]", usual, breaker("a", "x", "z", inARow)),
		broken("triggers[].type", usual, window),
		broken("triggers[].threshold", usual, breaker("a", "x", "y", `{"type":"consecutive","threshold":4}`)),
		broken("triggers[].window_sec", window, breaker("a", "x", "y", `{"type":"rate_over_window","threshold":0.5,"window_sec":4,"min_samples":2}`)),
		broken("triggers[].min_samples", window, breaker("a", "x", "y", `{"type":"rate_over_window","threshold":0.5,"window_sec":3,"min_samples":5}`)),
		{"circuit_breakers[].triggers[].window_sec", trigger + usual, "--circuit_breakers " + breaker("a", "x", "y", `{"type":"consecutive","threshold":3,"window_sec":4}`), refused},
	}
}
