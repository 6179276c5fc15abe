package args

// options is the table of options, in the order in which the help lists them.
func (s *settings) options() []option {
	var all []option
	for _, g := range []struct {
		name string
		rows []option
	}{
		{"General", s.general()},
		{"Measurement", s.measuring()},
		{"Load", s.loading()},
		{"Sequences", s.sequenceOptions()},
		{"Input", s.inputOptions()},
		{"Request", s.requestOptions()},
		{"Server", s.server()},
		{"Report", s.reporting()},
		{"Metrics and traces", s.observing()},
		{"Deprecated", s.deprecated()},
		{"Inferometer extensions", s.extensions()},
	} {
		for _, o := range g.rows {
			o.group = g.name
			all = append(all, o)
		}
	}
	return all
}

func (s *settings) general() []option {
	return []option{
		{short: 'm', arg: "NAME", help: "model to measure; required", set: text(&s.model)},
		{short: 'x', arg: "VERSION", help: "model version (default: the server's choice)", set: text(&s.modelVersion)},
		{long: "service-kind", arg: "KIND", help: "triton (default), openai, tfserving or torchserve; triton_c_api is not supported", set: oneOf(&s.action.Service, "'triton', 'tfserving', 'torchserve', 'triton_c_api', or 'openai'", Triton, TFServing, TorchServe, TritonCAPI, OpenAI, "dynamic_grpc")},
		{long: "bls-composing-models", arg: "NAME[:VERSION],…", help: "models that the model calls itself, for the server's statistics", set: s.setComposing},
		{long: "model-signature-name", arg: "NAME", help: "signature of a TensorFlow Serving model", set: text(&s.signature)},
		{long: "endpoint", arg: "PATH", help: "path of an OpenAI endpoint, such as v1/chat/completions; no effect with triton", set: text(&s.action.Endpoint)},
		{long: "enable-mpi", help: "no effect: one process drives one model", set: toggle(&s.mpi)},
		{short: 'v', help: "print every pass; given twice, also the server's metadata and statistics", set: s.countVerbose},
		{long: "version", help: "print the version", set: toggle(&s.version)},
		{long: "help", short: 'h', own: true, help: "print this help", set: toggle(&s.help)},
	}
}

func (s *settings) measuring() []option {
	return []option{
		{long: "measurement-mode", arg: "MODE", help: "time_windows (default) or count_windows", set: oneOf(&s.windows, "'time_windows' or 'count_windows'", "time_windows", "count_windows")},
		{long: "measurement-interval", short: 'p', arg: "MS", help: "length of a window (default 5000)", set: atLeast(&s.action.WindowMS, 1, "The value must be > 0 msec.")},
		{long: "measurement-request-count", arg: "N", help: "requests in a counted window (default 50)", set: atLeast(&s.action.WindowRequests, 1, "The value must be > 0.")},
		{long: "stability-percentage", short: 's', arg: "PERCENT", help: "how much the last three windows may differ (default 10)", set: percent(&s.action.Stability)},
		{long: "percentile", arg: "P", help: "latency percentile that must be stable, 1 to 99 (default -1: the average)", set: s.setPercentile},
		{long: "warmup-request-count", arg: "N", help: "warm-up requests before the measured ones (default 0)", set: atLeast(&s.action.Warmup, 0, "The value must be >= 0.")},
		{long: "request-count", arg: "N", help: "measure exactly N requests, in one window, instead of windows until stable", set: s.setRequestCount},
		{long: "max-trials", short: 'r', arg: "N", help: "maximum number of windows per level (default 10)", set: atLeast(&s.action.MaxTrials, 1, "The value must be > 0.")},
		{long: "latency-threshold", short: 'l', arg: "MS", help: "a level with this latency or more ends the search (default 0: none)", set: atLeast(&s.action.Threshold, 0, "The value must be >= 0 msecs.")},
		{long: "binary-search", help: "binary search for the highest level below the latency threshold", set: toggle(&s.action.Binary)},
		{long: "max-threads", arg: "N", help: "maximum number of synchronous requests in flight: at a rate (default 4), and in a concurrency range without an end (default 16); no effect on asynchronous ones", set: atLeast(&s.action.Threads, 1, "The value must be > 0.")},
	}
}

func (s *settings) loading() []option {
	return []option{
		{long: "concurrency-range", arg: "START:END:STEP", help: "requests in flight (default 1:1:1); with END 0, up to the latency threshold", set: span(&s.action.Concurrency, natural)},
		{long: "periodic-concurrency-range", arg: "START:END:STEP", help: "raise the requests in flight from START to END as responses arrive, each sent once; writes only the export", set: s.setPeriodic},
		{long: "request-period", arg: "N", help: "responses that each request of a step must have before the next step of the periodic range (default 10)", set: atLeast(&s.action.Period, 1, "The value must be > 0")},
		{long: "request-rate-range", arg: "START:END:STEP", help: "requests per second, instead of concurrency", set: span(&s.action.Rate, decimal)},
		{long: "request-distribution", arg: "KIND", help: "arrival process of a request rate: constant (default) or poisson", set: s.setDistribution},
		{long: "request-intervals", arg: "FILE", help: "file of intervals between requests in microseconds, one per line, used in turn", set: s.setIntervals},
		{long: "fixed-schedule", help: "send each entry of the input data once, at its timestamp", set: toggle(&s.schedule)},
		{long: "session-concurrency", arg: "N", help: "concurrent sessions of the input data; each turn waits for the response to the last, and every session runs once", set: atLeast(&s.sessions, 1, "Session concurrency must be > 0.")},
	}
}

func (s *settings) sequenceOptions() []option {
	return []option{
		{long: "num-of-sequences", arg: "N", help: "concurrent sequences at a request rate (default 4)", set: atLeast(&s.sequences, 1, "The value must be > 0.")},
		{long: "sequence-length", arg: "N", help: "requests per sequence (default 20)", set: s.setSequenceLength},
		{long: "sequence-length-variation", arg: "PERCENT", help: "variation of the sequence length (default 20)", set: s.setVariation},
		{long: "sequence-id-range", arg: "START:END", help: "sequence IDs to use (default 1:4294967295)", set: s.setIDs},
		{long: "serial-sequences", help: "send a request of a sequence only after the response to the last", set: toggle(&s.serial)},
	}
}

func (s *settings) inputOptions() []option {
	return []option{
		{long: "input-data", arg: "zero|random|DIR|FILE", help: "input data (default random); files repeatable", set: s.setData},
		{short: 'b', arg: "N", help: "batch size (default 1)", set: s.setBatch},
		{long: "shape", arg: "NAME:D1,D2,…", help: "shape of an input that has variable dimensions, repeatable", set: s.setShape},
		{long: "string-length", arg: "N", help: "length of random strings (default 128)", set: atLeast(&s.stringLength, 1, "The value must be > 0")},
		{long: "string-data", arg: "TEXT", help: "text to use instead of random strings", set: text(&s.stringData)},
		{long: "shared-memory", arg: "KIND", help: "none (default) or system; cuda is not supported", set: oneOf(&s.sharedMemory, "'system', 'cuda', or 'none'", "none", "system", "cuda")},
		{long: "output-shared-memory-size", arg: "BYTES", help: "size of each output in shared memory (default 102400)", set: atLeast(&s.outputSharedMemory, 0, "The value must be >= 0.")},
		{long: "input-tensor-format", arg: "FORM", help: "encoding of tensors over HTTP: binary (default) or json", set: oneOf(&s.inputFormat, "'binary' or 'json'", "binary", "json")},
		{long: "output-tensor-format", arg: "FORM", help: "binary or json; no effect: outputs have the encoding of inputs", set: oneOf(&s.outputFormat, "'binary' or 'json'", "binary", "json")},
		{long: "request-parameter", arg: "NAME:VALUE:TYPE", help: "parameter of every gRPC request, repeatable; TYPE is bool, int, uint, double or string", set: s.setParameter},
	}
}

func (s *settings) requestOptions() []option {
	return []option{
		{short: 'i', arg: "PROTOCOL", help: "http (default) or grpc", set: s.setProtocol},
		{long: "async", short: 'a', help: "judge stability by throughput alone; requests are always asynchronous here", set: toggle(&s.action.Async)},
		{long: "sync", help: "judge stability by latency and throughput; the opposite of --async", set: toggle(&s.action.Sync)},
		{long: "streaming", help: "use gRPC streams", set: toggle(&s.action.Streaming)},
		{short: 'H', arg: "NAME:VALUE", help: "header or gRPC metadata to add to every request, repeatable", set: s.setHeader},
		{long: "grpc-compression-algorithm", arg: "KIND", help: "none (default), gzip or deflate", set: oneOf(&s.compression, "'gzip', 'deflate', or 'none'", "none", "gzip", "deflate")},
		{long: "grpc-method", arg: "PACKAGE.SERVICE/METHOD", help: "not supported", set: text(&s.grpcMethod)},
	}
}

func (s *settings) server() []option {
	return []option{
		{short: 'u', arg: "URL", help: "server URL (default localhost:8000, for grpc localhost:8001)", set: text(&s.url)},
		{long: "ssl-grpc-use-ssl", help: "use TLS for gRPC", set: toggle(&s.useTLS)},
		{long: "ssl-grpc-root-certifications-file", arg: "FILE", help: "CA certificates to trust", set: s.file(&s.grpcTLS.CA)},
		{long: "ssl-grpc-private-key-file", arg: "FILE", help: "private key of the client certificate", set: s.file(&s.grpcTLS.Key)},
		{long: "ssl-grpc-certificate-chain-file", arg: "FILE", help: "client certificate chain", set: s.file(&s.grpcTLS.Cert)},
		{long: "ssl-https-verify-peer", arg: "0|1", help: "verify the server's certificate (default 1)", set: s.verifyServer("0", "1")},
		{long: "ssl-https-verify-host", arg: "0|1|2", help: "verify the host name in the server's certificate (default 2)", set: s.verifyServer("0", "1", "2")},
		{long: "ssl-https-ca-certificates-file", arg: "FILE", help: "CA certificates to trust", set: s.file(&s.tls.CA)},
		{long: "ssl-https-client-certificate-file", arg: "FILE", help: "client certificate", set: s.file(&s.tls.Cert)},
		{long: "ssl-https-client-certificate-type", arg: "PEM", help: "format of the client certificate", set: s.setCertificateType},
		{long: "ssl-https-private-key-file", arg: "FILE", help: "private key of the client certificate", set: s.file(&s.tls.Key)},
		{long: "ssl-https-private-key-type", arg: "PEM", help: "format of the private key", set: s.setCertificateType},
		{long: "triton-server-directory", arg: "DIR", help: "for the C API, which is not supported", set: text(&s.serverDirectory)},
		{long: "model-repository", arg: "DIR", help: "for the C API, which is not supported", set: text(&s.repository)},
	}
}

func (s *settings) reporting() []option {
	return []option{
		{short: 'f', arg: "FILE", help: "write the levels as CSV", set: s.setCSV},
		{long: "verbose-csv", help: "add columns to the CSV", set: toggle(&s.action.VerboseCSV)},
		{long: "profile-export-file", arg: "FILE", help: "write every request as JSON; replaces only an earlier export", set: s.setExport},
	}
}

func (s *settings) observing() []option {
	return []option{
		{long: "collect-metrics", help: "read GPU metrics from Triton's metrics page", set: toggle(&s.action.Metrics)},
		{long: "metrics-url", arg: "URL", help: "URL of that page (default: port 8002 of the server's host, /metrics)", set: text(&s.metricsURL)},
		{long: "metrics-interval", arg: "MS", help: "how often to read it (default 1000)", set: atLeast(&s.metricsMS, 1, "The value must be > 0 msecs.")},
		{long: "trace-level", arg: "LEVEL", help: "trace level to set on the server before the run: OFF (default), TIMESTAMPS or TENSORS", set: s.traced("trace_level", oneOf(new(string), "'OFF', 'TIMESTAMPS', or 'TENSORS'", "OFF", "TIMESTAMPS", "TENSORS"))},
		{long: "trace-rate", arg: "N", help: "trace one request in N (default 1000)", set: s.traced("trace_rate", text(new(string)))},
		{long: "trace-count", arg: "N", help: "maximum number of traces (default -1: no limit)", set: s.traced("trace_count", atLeast(new(int64), -1, "The value must be >= 0 or set to -1 (default)."))},
		{long: "log-frequency", arg: "N", help: "start a new trace file after N traces (default 0: one file)", set: s.traced("log_frequency", atLeast(new(int64), 0, "The value must be >= 0."))},
	}
}

func (s *settings) deprecated() []option {
	return []option{
		{long: "data-directory", arg: "DIR", help: "same as --input-data", set: s.old("--data-directory", "--input-data", s.addData)},
		{short: 'z', help: "same as --input-data zero", set: s.old("-z", "--input-data=zero", toggle(&s.zero))},
		{short: 'd', help: "no effect", set: s.old("-d", "--concurrency-range", s.oldLoad(toggle(new(bool))))},
		{short: 't', arg: "N", help: "start of --concurrency-range", set: s.old("-t", "--concurrency-range", s.oldLoad(s.setStart))},
		{short: 'c', arg: "N", help: "end of --concurrency-range", set: s.old("-c", "--concurrency-range", s.oldLoad(s.setEnd))},
	}
}

func (s *settings) extensions() []option {
	return []option{
		{long: "faithful", own: true, help: "reproduce the original's arithmetic: windows of 1.2 times the interval, counted windows checked once a second", set: toggle(&s.faithful)},
		{long: "strict", own: true, help: "exit with 1 if a measurement is INVALID", set: toggle(&s.action.Strict)},
		{long: "out", own: true, arg: "DIR", help: "directory for inferometer's own records and reports", set: text(&s.out)},
		{long: "dry-run", own: true, help: "print the equivalent plan file and exit", set: toggle(&s.action.DryRun)},
	}
}
