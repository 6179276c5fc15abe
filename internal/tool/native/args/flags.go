package args

// runGroups are the flags of `inferometer run`.
func runGroups() []group {
	return []group{
		{"Load", loadFlags()},
		{"Levels and windows", levelFlags()},
		{"Server", serverFlags()},
		{"Prompts", promptFlags()},
		{"Metrics of the servers", metricFlags()},
		{"Triton", tritonFlags()},
		{"Judgement", judgementFlags()},
		{"Output", outputFlags()},
	}
}

// loadFlags are the flags about how much is asked for, and when.
func loadFlags() []option {
	return []option{
		{name: "concurrency", arg: "N", path: "stages[0].concurrency", help: "closed loop: N requests in flight (1 where no load is given)"},
		{name: "rate", arg: "R", path: "stages[0].rate", help: "open loop: R requests per second; needs --duration or --requests"},
		{name: "arrival", arg: "KIND", path: "stages[0].arrival", help: "how the requests of a rate arrive: constant (default), poisson, gamma; trace, in place of a rate: as the input file's timestamps say"},
		{name: "cv", arg: "X", path: "stages[0].cv", help: "coefficient of variation of gamma arrivals; 1 is Poisson, more is burstier"},
		{name: "max-in-flight", arg: "N", path: "stages[0].max_in_flight", help: "arrivals of a rate beyond N in flight wait, and are counted"},
		{name: "ramp-to", arg: "X", path: "stages[0].ramp_to", help: "concurrency or rate changes linearly to X over the duration"},
		{name: "duration", arg: "TIME", path: "stages[0].duration", help: "length of the measured part (30s in closed loop with no other end)"},
		{name: "requests", arg: "N", path: "stages[0].requests", help: "requests of the measured part; with --duration, whichever is first"},
		{name: "warmup", arg: "TIME|N|auto", path: "stages[0].warmup", help: "load ahead of the measured part: a time (5s) or a number of requests (100); auto: find out how much of the measured part was warm-up"},
		{name: "warmup-drain", path: "stages[0].warmup.drain", help: "let the requests of a --warmup of a number of requests end before the measured part begins"},
		{name: "stage", arg: "SPEC", help: "a stage of several, repeatable, in place of the flags above: concurrency=8,duration=30s or rate=50,arrival=poisson,requests=100,gap=5s"},
		{name: "drain", arg: "TIME", path: "drain", help: "how long requests in flight may take at the end of a stage (30s)"},
		{name: "seed", arg: "N", path: "seed", help: "the same seed gives the same prompts, lengths and arrivals (default: drawn, and printed)"},
	}
}

// serverFlags are the flags about the server and how it is asked.
func serverFlags() []option {
	return []option{
		{name: "model", arg: "NAME", path: "target.model", help: "model to ask for (the first that the server lists)"},
		{name: "protocol", arg: "NAME", path: "target.protocol", help: "openai (default), anthropic, http, tfserving, torchserve or triton, which every grpc:// or grpcs:// URL is"},
		{name: "endpoint", arg: "KIND", path: "target.endpoint", help: "chat (default), completions or embeddings; of http huggingface_generate, rankings, rerank, image_retrieval or template; of Triton stream (default over gRPC), generate (default over HTTP) or infer"},
		{name: "path", arg: "PATH", path: "target.path", help: "path in place of the endpoint's usual one"},
		{name: "no-stream", help: "ask for whole answers"},
		{name: "header", short: "H", arg: "'NAME: VALUE'", help: "header to add to every request, repeatable"},
		{name: "api-key-env", arg: "VAR", path: "target.api_key.env", help: "environment variable that holds the API key; none is used unless named"},
		{name: "api-key-file", arg: "FILE", path: "target.api_key.file", help: "file that holds the API key"},
		{name: "temperature", arg: "X", help: "temperature to ask for"},
		{name: "extra", arg: "KEY=JSON", help: "field to add to every request body, repeatable: top_k=40, stop='[\"x\"]'; of Triton an input tensor or sampling parameter"},
		{name: "http2", path: "target.http2", help: "HTTP/2: negotiated over https, with prior knowledge over http"},
		{name: "proxy", arg: "URL", path: "target.proxy", help: "HTTP proxy to go through, none, or environment; default: the environment's, but never for private networks"},
		{name: "ca", arg: "FILE", path: "target.tls.ca", help: "certificates to trust, in place of the system's"},
		{name: "cert", arg: "FILE", path: "target.tls.cert", help: "client certificate"},
		{name: "key", arg: "FILE", path: "target.tls.key", help: "key of the client certificate"},
		{name: "insecure", path: "target.tls.insecure", help: "do not verify the server's certificate"},
		{name: "timeout", arg: "TIME", path: "target.timeouts.request", help: "bound of a whole request (10m); 0 is none"},
		{name: "connect-timeout", arg: "TIME", path: "target.timeouts.connect", help: "bound of resolving, connecting and TLS (10s)"},
		{name: "no-preflight", help: "do not send a short request ahead of the run to find out whether it would be answered"},
		{name: "retry-after", arg: "WHAT", path: "target.retry_after", help: "Retry-After of a 429 or 503 in closed loop: honour (default: wait, a minute at most) or ignore"},
		{name: "first-byte-timeout", arg: "TIME", path: "target.timeouts.first_byte", help: "bound up to the first byte of an answer (none)"},
		{name: "stall-timeout", arg: "TIME", path: "target.timeouts.stall", help: "bound between two reads of an answer (none)"},
	}
}

// promptFlags are the flags about what is asked.
func promptFlags() []option {
	return []option{
		{name: "input-tokens", arg: "LENGTH", path: "data.input", help: "length of synthetic prompts (128): 128, 100-200 or normal:mean=550,stddev=50,min=10,max=900"},
		{name: "input-tokens-count", arg: "WHAT", path: "data.input_tokens_count", help: "what --input-tokens counts: content (default) or prompt, with the chat template or special tokens that the server adds"},
		{name: "output-tokens", arg: "LENGTH", path: "data.output", help: "length of answer to ask for (the server decides)"},
		{name: "input-file", arg: "FILE", path: "data.file", help: "prompts from JSON lines or plain text, one a line"},
		{name: "prompts", arg: "N", path: "data.prompts", help: "distinct prompts, used in turn (a new one for each request)"},
		{name: "ignore-eos", path: "data.ignore_eos", help: "ask for the whole output length"},
		{name: "min-tokens", path: "data.min_tokens", help: "send min_tokens equal to the output length"},
		{name: "salt", arg: "WHEN", path: "data.salt", help: "prefix that no cache has seen: request, stage or run, for each of which it is new"},
		{name: "tokenizer", arg: "NAME", path: "tokenizer.name", help: "the model's: a file, a directory or a Hugging Face name (builtin:gpt2 stands in)"},
		{name: "tokenizer-revision", arg: "REV", path: "tokenizer.revision", help: "branch, tag or commit of a Hugging Face name (main)"},
	}
}

// metricFlags are the flags about the metrics that servers publish.
func metricFlags() []option {
	return []option{
		{name: "scrape", arg: "URL", help: "read this page of metrics of a server or an exporter every second, such as http://host:8000/metrics, repeatable"},
		{name: "prometheus", arg: "URL", path: "probes.prometheus.url", help: "ask this Prometheus server after the run what it has gathered of the servers"},
		{name: "prometheus-interval", arg: "TIME", path: "probes.prometheus.interval", help: "how often that one scrapes (15s)"},
		{name: "prometheus-server", arg: "NAME", path: "probes.prometheus.server", help: "whose metrics it has: vllm (default), sglang, tgi or triton"},
	}
}

// tritonFlags are the flags that only a Triton server has a use for.
func tritonFlags() []option {
	return []option{
		{name: "convention", arg: "NAME", path: "target.triton.convention", help: "how a prompt becomes tensors: trtllm, vllm, vllm-old, trtllm-engine or tensors (as the model's inputs say)"},
		{name: "model-version", arg: "N", path: "target.triton.version", help: "version of the model (the server's choice)"},
		{name: "streams", arg: "N", path: "target.triton.streams", help: "gRPC streams that the requests share (one for each request in flight)"},
		{name: "compression", arg: "NAME", path: "target.triton.compression", help: "compress requests, ahead of time: gzip or deflate"},
		{name: "max-message", arg: "BYTES", path: "target.triton.max_message", help: "largest gRPC message to accept (any)"},
		{name: "keep-alive", arg: "TIME", path: "target.triton.keep_alive", help: "ping a gRPC connection that was quiet for so long (never)"},
		{name: "request-parameter", arg: "NAME:VALUE:TYPE", help: "parameter of every request, repeatable; TYPE is bool, int, float or string"},
		{name: "composing-model", arg: "NAME", help: "model that the model calls itself (BLS), for the server's statistics, repeatable"},
		{name: "server-stats", arg: "WHEN", path: "probes.statistics", help: "take the server's own statistics before and after each stage: on (default) or off"},
		{name: "metrics-url", arg: "URL", path: "probes.metrics", help: "read the server's Prometheus metrics there, such as http://host:8002/metrics (not read)"},
		{name: "probe-interval", arg: "TIME", path: "probes.interval", help: "how often the server is asked about itself during a stage (1s)"},
		{name: "input-format", arg: "FORM", path: "target.triton.input_format", help: "input tensors over HTTP: binary (default) or json"},
		{name: "output-format", arg: "FORM", path: "target.triton.output_format", help: "output tensors over HTTP: binary (default) or json"},
		{name: "input-data", arg: "DATA", help: "tensors in place of prompts: zero, random, a JSON file or a directory, as Perf Analyzer has them; files repeatable"},
		{name: "shared-memory", arg: "KIND", path: "target.triton.shared_memory", help: "system: input tensors lie in shared memory, for a server on this machine"},
		{name: "output-memory", arg: "BYTES", path: "target.triton.output_memory", help: "shared memory for each output, which is not sent back then (none)"},
		{name: "shape", arg: "NAME:D1,D2", help: "shape of an input that the model leaves open, repeatable"},
		{name: "batch-size", arg: "N", path: "data.tensors.batch", help: "items of a request of tensors (1)"},
		{name: "string-length", arg: "N", path: "data.tensors.string_length", help: "length of made-up strings (128)"},
		{name: "string-data", arg: "TEXT", path: "data.tensors.string_data", help: "what made-up strings are"},
		{name: "sequences", arg: "WHEN", path: "data.tensors.sequences.mode", help: "requests form sequences: on or off (as the model says)"},
		{name: "sequence-length", arg: "N", path: "data.tensors.sequences.length", help: "requests of a sequence (those of its stream of data, else 20)"},
	}
}

// judgementFlags are the flags about which requests and which runs are good.
func judgementFlags() []option {
	return []option{
		{name: "goodput", arg: "SLOS", path: "goodput", help: "objectives of a good request: ttft:200ms,itl:30ms (ttft, ttfot, ttst, ttfb, itl, tpot, ntpot, latency, or a metric's full name)"},
		{name: "calibrate", help: "measure the built-in mock at this load first, and put the error bars into the report (docs/selftest.md)"},
		{name: "max-errors", arg: "N|N%", path: "max_errors", help: "end the run after this many failed requests, or this share"},
		{name: "limit", arg: "NAME=VALUE", help: "bound of what is held in memory, repeatable: file=2GiB, answer=1GiB (docs/plan.md lists them)"},
		{name: "budget", arg: "NAME=VALUE", help: "bound of a valid measurement, repeatable: cpu=90%, lag=2ms (docs/plan.md lists them)"},
	}
}

// outputFlags are the flags about what the run prints and keeps.
func outputFlags() []option {
	return []option{
		{name: "out", arg: "DIR", path: "output.dir", help: "directory for records and reports (only the screen)"},
		{name: "keep", arg: "raw", help: "keep the bytes of every answer"},
		{name: "on-full", arg: "WHAT", path: "output.on_full", help: "when records cannot be written any more, as on a full disk: continue without them (default) or stop the run"},
		{name: "name", arg: "TEXT", path: "name", help: "what reports call the run"},
		{name: "json", help: "print the result as JSON and nothing else"},
		{name: "all", help: "print every metric and check, and the steady window's table"},
		{name: "quiet", short: "q", help: "no progress, only the result"},
		{name: "dry-run", help: "print the plan that this command line compiles to, and stop"},
		{name: "help", short: "h", help: "this text"},
	}
}
