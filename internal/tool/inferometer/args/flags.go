package args

import "github.com/inferometer/inferometer/internal/plan"

// runGroups are the flags of `inferometer run`.
func runGroups() []group {
	return []group{
		{"Load", loadFlags()},
		{"Several runs", repeatFlags()},
		{"Levels and windows", levelFlags()},
		{"Server", serverFlags()},
		{"Prompts", promptFlags()},
		{"Server metrics", metricFlags()},
		{"Cost and energy", costFlags()},
		{"Triton", tritonFlags()},
		{"Goals and validity", judgementFlags()},
		{"Workers", workerFlags()},
		{"Telemetry", sendFlags()},
		{"Output", outputFlags()},
	}
}

// loadFlags are the flags about how much is asked for, and when.
func loadFlags() []option {
	return []option{
		{name: "concurrency", short: "c", arg: "N", path: "stages[0].concurrency", help: "closed loop: keep N requests in flight (default 4); several are levels: 1,2,4 or 1..64"},
		{name: "rate", arg: "R", path: "stages[0].rate", help: "open loop: send R requests per second; several are levels: 5,10,20"},
		{name: "arrival", arg: "KIND", path: "stages[0].arrival", values: []string{plan.ArrivalConstant, plan.ArrivalPoisson, plan.ArrivalGamma, plan.ArrivalTrace}, help: "arrival process of --rate: constant (default), poisson or gamma; trace, without --rate: the input file's timestamps"},
		{name: "cv", arg: "X", path: "stages[0].cv", help: "coefficient of variation of gamma arrivals; 1 is Poisson, higher is burstier"},
		{name: "max-in-flight", arg: "N", path: "stages[0].max_in_flight", help: "with --rate: at most N requests in flight; later arrivals wait, and are counted"},
		{name: "ramp-to", arg: "X", path: "stages[0].ramp_to", help: "change the concurrency or rate linearly to X over the duration"},
		{name: "duration", arg: "TIME", path: "stages[0].duration", help: "length of the measured phase (default without --requests: 30s, or as long as 30 requests take)"},
		{name: "requests", short: "n", arg: "N", path: "stages[0].requests", help: "requests in the measured phase; with --duration, whichever ends first"},
		{name: "warmup", arg: "TIME|N|auto", path: "stages[0].warmup", help: "load before the measured phase: a time (5s), a number of requests (100), or auto: detect how much of the run was warm-up and leave it out"},
		{name: "warmup-drain", path: "stages[0].warmup.drain", help: "with --warmup N: wait for the warm-up requests to end before measuring"},
		{name: "stage", arg: "SPEC", help: "one of several stages, repeatable, instead of the flags above: concurrency=8,duration=30s or rate=50,arrival=poisson,requests=100,gap=5s"},
		{name: "drain", arg: "TIME", path: "drain", help: "how long in-flight requests may take at the end of a stage (default 30s)"},
		{name: "seed", arg: "N", path: "seed", help: "seed for prompts, lengths and arrivals (default: random, and printed)"},
	}
}

// serverFlags are the flags about the server and how it is asked.
func serverFlags() []option {
	return []option{
		{name: "model", short: "m", arg: "NAME", path: "target.model", help: "model name (default: the first that the server lists)"},
		{name: "protocol", arg: "NAME", path: "target.protocol", help: "openai (default), anthropic, http, tfserving, torchserve or triton (implied by grpc:// and grpcs://)"},
		{name: "endpoint", arg: "KIND", path: "target.endpoint", help: "chat (default), completions or embeddings; for http: huggingface_generate, rankings, rerank, image_retrieval or template; for triton: stream (default over gRPC), generate (default over HTTP) or infer"},
		{name: "path", arg: "PATH", path: "target.path", help: "URL path, instead of the endpoint's usual one"},
		{name: "no-stream", help: "request whole responses instead of streams"},
		{name: "header", short: "H", arg: "'NAME: VALUE'", help: "header to add to every request, repeatable"},
		{name: "api-key-env", arg: "VAR", path: "target.api_key.env", help: "environment variable that holds the API key (default: no key is sent)"},
		{name: "api-key-file", arg: "FILE", path: "target.api_key.file", help: "file that holds the API key"},
		{name: "temperature", arg: "X", help: "sampling temperature"},
		{name: "extra", arg: "KEY=JSON", help: "field to add to every request body, repeatable: top_k=40, stop='[\"x\"]'; for Triton: an input tensor or sampling parameter"},
		{name: "http2", path: "target.http2", help: "use HTTP/2: negotiated over https, prior knowledge over http"},
		{name: "proxy", arg: "URL", path: "target.proxy", help: "HTTP proxy: a URL, none, or environment (default: the environment's, but never for private networks)"},
		{name: "source-address", arg: "LIST", help: "local IP addresses and CIDR ranges that connections come from in turn, repeatable: 10.0.0.5,10.0.1.0/28 (default: the system's choice)"},
		{name: "ca", arg: "FILE", path: "target.tls.ca", help: "CA certificates to trust, instead of the system's"},
		{name: "cert", arg: "FILE", path: "target.tls.cert", help: "client certificate"},
		{name: "key", arg: "FILE", path: "target.tls.key", help: "private key of the client certificate"},
		{name: "insecure", path: "target.tls.insecure", help: "do not verify the server's certificate"},
		{name: "timeout", arg: "TIME", path: "target.timeouts.request", help: "total request timeout (default 10m); 0: none"},
		{name: "connect-timeout", arg: "TIME", path: "target.timeouts.connect", help: "timeout for DNS, connect and TLS handshake (default 10s)"},
		{name: "no-preflight", help: "do not send a short test request before the run"},
		{name: "retry-after", arg: "WHAT", path: "target.retry_after", help: "in closed loop, on a 429 or 503 with Retry-After: honor (default: wait, at most a minute) or ignore"},
		{name: "first-byte-timeout", arg: "TIME", path: "target.timeouts.first_byte", help: "timeout for the first byte of a response (default: none)"},
		{name: "stall-timeout", arg: "TIME", path: "target.timeouts.stall", help: "timeout between two reads of a response (default: none)"},
	}
}

// promptFlags are the flags about what is asked.
func promptFlags() []option {
	return []option{
		{name: "input-tokens", arg: "LENGTH", path: "data.input", help: "length of synthetic prompts (default 128): 128, 100-200 or normal:mean=550,stddev=50,min=10,max=900"},
		{name: "input-tokens-count", arg: "WHAT", path: "data.input_tokens_count", help: "what --input-tokens counts: content (default), or prompt: with the chat template or special tokens that the server adds"},
		{name: "output-tokens", arg: "LENGTH", path: "data.output", help: "output length to request (default 128 with synthetic prompts, else up to the server)"},
		{name: "output-cap", path: "data.output_cap", help: "answers may be shorter than --output-tokens: it is the most, not the length that is asked for"},
		{name: "input-file", arg: "FILE", path: "data.file", help: "file of prompts: JSON lines, or plain text with one prompt per line"},
		{name: "prompts", arg: "N", path: "data.prompts", help: "number of distinct prompts, used in turn (default: a new one for each request)"},
		{name: "ignore-eos", path: "data.ignore_eos", help: "send ignore_eos: generate the full output length"},
		{name: "min-tokens", path: "data.min_tokens", help: "send min_tokens equal to the output length"},
		{name: "salt", arg: "WHEN", path: "data.salt", help: "start prompts with a prefix that no cache has seen, new for each request, stage or run"},
		{name: "tokenizer", arg: "NAME", path: "tokenizer.name", help: "model tokenizer: file, directory or Hugging Face ID (default builtin:gpt2)"},
		{name: "tokenizer-revision", arg: "REV", path: "tokenizer.revision", help: "branch, tag or commit of a Hugging Face ID (default main)"},
	}
}

// metricFlags are the flags about the metrics that servers publish.
func metricFlags() []option {
	return []option{
		{name: "scrape", arg: "URL", help: "metrics page of a server or exporter to read every second, such as http://host:8000/metrics, repeatable"},
		{name: "prometheus", arg: "URL", path: "probes.prometheus.url", help: "Prometheus server to query after the run for the servers' metrics"},
		{name: "prometheus-interval", arg: "TIME", path: "probes.prometheus.interval", help: "its scrape interval (default 15s)"},
		{name: "prometheus-server", arg: "NAME", path: "probes.prometheus.server", help: "which server's metrics it holds: vllm (default), sglang, tgi or triton"},
	}
}

// tritonFlags are the flags that only a Triton server has a use for.
func tritonFlags() []option {
	return []option{
		{name: "convention", arg: "NAME", path: "target.triton.convention", help: "how a prompt maps to tensors: trtllm, vllm, vllm-old, trtllm-engine or tensors (default: from the model's inputs)"},
		{name: "model-version", arg: "N", path: "target.triton.version", help: "model version (default: the server's choice)"},
		{name: "streams", arg: "N", path: "target.triton.streams", help: "number of gRPC streams that requests share (default: one per request in flight)"},
		{name: "compression", arg: "NAME", path: "target.triton.compression", help: "compress requests, ahead of time: gzip or deflate"},
		{name: "max-message", arg: "BYTES", path: "target.triton.max_message", help: "largest gRPC message to accept (default: any)"},
		{name: "keep-alive", arg: "TIME", path: "target.triton.keep_alive", help: "ping a gRPC connection that has been idle this long (default: never)"},
		{name: "request-parameter", arg: "NAME:VALUE:TYPE", help: "parameter of every request, repeatable; TYPE is bool, int, float or string"},
		{name: "composing-model", arg: "NAME", help: "model that the model itself calls (BLS), for the server's statistics, repeatable"},
		{name: "server-stats", arg: "WHEN", path: "probes.statistics", help: "read the server's own statistics before and after each stage: on (default) or off"},
		{name: "metrics-url", arg: "URL", path: "probes.metrics", help: "the server's Prometheus metrics page, such as http://host:8002/metrics (default: not read)"},
		{name: "probe-interval", arg: "TIME", path: "probes.interval", help: "how often to read the server's metrics during a stage (default 1s)"},
		{name: "input-format", arg: "FORM", path: "target.triton.input_format", help: "encoding of input tensors over HTTP: binary (default) or json"},
		{name: "output-format", arg: "FORM", path: "target.triton.output_format", help: "encoding of output tensors over HTTP: binary (default) or json"},
		{name: "input-data", arg: "DATA", help: "tensors instead of prompts: zero, random, a JSON file or a directory in Perf Analyzer's format; files repeatable"},
		{name: "shared-memory", arg: "KIND", path: "target.triton.shared_memory", help: "system: pass input tensors in shared memory to a server on this machine"},
		{name: "output-memory", arg: "BYTES", path: "target.triton.output_memory", help: "size of the shared memory for each output, which is then not sent back (default: none)"},
		{name: "shape", arg: "NAME:D1,D2", help: "shape of an input that has variable dimensions, repeatable"},
		{name: "batch-size", arg: "N", path: "data.tensors.batch", help: "batch size of tensor requests (default 1)"},
		{name: "string-length", arg: "N", path: "data.tensors.string_length", help: "length of generated strings (default 128)"},
		{name: "string-data", arg: "TEXT", path: "data.tensors.string_data", help: "text used for generated strings"},
		{name: "sequences", arg: "WHEN", path: "data.tensors.sequences.mode", help: "send requests in sequences: on or off (default: as the model is configured)"},
		{name: "sequence-length", arg: "N", path: "data.tensors.sequences.length", help: "requests per sequence (default: the length of its data stream, else 20)"},
	}
}

// workerFlags are the flags about who sends.
func workerFlags() []option {
	return []option{
		{name: "workers", arg: "N", help: "send from N processes, each its share; on this machine unless --join-at or --nats is given (docs/distributed.md)"},
		{name: "join-at", arg: "HOST:PORT", help: "with --workers: wait here for N workers of other machines (inferometer worker --join); the token is in INFEROMETER_TOKEN"},
		{name: "nats", arg: "URL", help: "with --workers: meet the workers at this NATS server instead"},
		{name: "nats-ca", arg: "FILE", help: "with --nats: PEM file of the authority that signed the certificate of NATS"},
		{name: "run-id", arg: "ID", help: "ID of the run, for worker --run; letters, digits, - and _ (default: a random one, which is printed)"},
		{name: "nats-creds", arg: "FILE", help: "with --nats: credentials file of a NATS account, instead of INFEROMETER_TOKEN"},
	}
}

// judgementFlags are the flags about which requests and which runs are good.
func judgementFlags() []option {
	return []option{
		{name: "goodput", arg: "SLOS", path: "goodput", help: "SLOs of a good request: ttft:200ms,itl:30ms (ttft, ttfot, ttst, ttfb, itl, tpot, ntpot, latency, or a metric's full name)"},
		{name: "fail-if", arg: "CONDITION", help: "exit with code 3 if this holds, repeatable: 'ttft.p99 > 200ms', 'at rate 40: goodput < 95%' (docs/gates.md)"},
		{name: "fail-unless", arg: "CONDITION", help: "exit with code 3 unless this is shown to hold, with its whole 95 % interval, repeatable: 'ttft.p99 < 200ms'"},
		{name: "junit", arg: "FILE", help: "also write the verdict and the gates as JUnit XML, for CI systems"},
		{name: "calibrate", help: "measure the built-in mock at this load first, and report the error bars (docs/selftest.md)"},
		{name: "max-errors", arg: "N|N%", path: "max_errors", help: "end the run after this number or share of failed requests"},
		{name: "limit", arg: "NAME=VALUE", help: "memory limit, repeatable: file=2GiB, answer=1GiB (docs/plan.md lists them)"},
		{name: "budget", arg: "NAME=VALUE", help: "limit of a validity check, repeatable: cpu=90%, lag=2ms (docs/plan.md lists them)"},
	}
}

// outputFlags are the flags about what the run prints and keeps.
func outputFlags() []option {
	return append([]option{
		{name: "out", arg: "DIR", path: "output.dir", help: "directory for records and reports (default: print only); {timestamp}, {model} and {name} are filled in"},
		{name: "keep", arg: "WHAT", values: kept(), help: "what records hold of responses: none, text (default) or raw, every byte of requests and responses"},
		{name: "export", arg: "FILE", help: "also write a table with one row per request: .parquet, .csv or .jsonl; .json for a profile export (docs/export.md)"},
		{name: "on-disk-full", arg: "WHAT", path: "output.on_disk_full", help: "when records can no longer be written, as on a full disk: continue without them (default) or stop"},
		{name: "name", arg: "TEXT", path: "name", help: "name of the run in reports"},
		{name: "html", arg: "FILE", help: "also write the report as a page: one file that opens in any browser"},
		{name: "json", help: "print the result as JSON and nothing else"},
		{name: "all", help: "print every metric and check, and the table of the steady window"},
		{name: "quiet", short: "q", help: "no progress, and of the result only the verdict and the figures"},
		{name: "dry-run", help: "print the equivalent plan file and exit"},
	}, helpFlags()...)
}

// kept is what records may hold of responses.
func kept() []string { return []string{"none", "text", "raw"} }
