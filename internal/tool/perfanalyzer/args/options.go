package args

import "strconv"

// options is the table of options, in the order in which the help lists them.
func options() []option {
	var all []option
	for _, g := range []struct {
		name string
		rows []option
	}{
		{"General", general()},
		{"Measurement", measuring()},
		{"Load", loading()},
		{"Sequences", sequences()},
		{"Input", inputs()},
		{"Request", requests()},
		{"Server", server()},
		{"Report", reporting()},
		{"Metrics and traces", observing()},
		{"Deprecated", deprecated()},
		{"Of inferometer alone", own()},
	} {
		for _, o := range g.rows {
			o.group = g.name
			all = append(all, o)
		}
	}
	return all
}

func general() []option {
	return []option{
		{short: 'm', arg: "NAME", help: "model to measure; required", set: text(func(s *settings, v string) { s.model = v })},
		{short: 'x', arg: "VERSION", help: "version of the model (the server's choice)", set: text(func(s *settings, v string) { s.modelVersion = v })},
		{long: "service-kind", arg: "KIND", help: "triton (default), openai, tfserving or torchserve; triton_c_api is not served", set: oneOf(
			"'triton', 'tfserving', 'torchserve', 'triton_c_api', or 'openai'", func(s *settings, v string) { s.action.Service = v },
			Triton, TFServing, TorchServe, TritonCAPI, OpenAI, "dynamic_grpc")},
		{long: "bls-composing-models", arg: "NAME[:VERSION],…", help: "models that the model calls itself, for the server's statistics", set: setComposing},
		{long: "model-signature-name", arg: "NAME", help: "signature of a TensorFlow Serving model", set: text(func(s *settings, v string) { s.signature = v })},
		{long: "endpoint", arg: "PATH", help: "path of an OpenAI endpoint, such as v1/chat/completions; no effect with triton", set: text(func(s *settings, v string) { s.action.Endpoint = v })},
		{long: "enable-mpi", help: "no effect: one process drives one model", set: toggle(func(s *settings) { s.mpi = true })},
		{short: 'v', help: "print every pass; twice: the server's own words and statistics too", set: toggle(func(s *settings) { s.action.Verbose++ })},
		{long: "version", help: "print the version", set: toggle(func(s *settings) { s.version = true })},
		{long: "help", short: 'h', own: true, help: "this text", set: toggle(func(s *settings) { s.help = true })},
	}
}

func measuring() []option {
	return []option{
		{long: "measurement-mode", arg: "MODE", help: "time_windows (default) or count_windows", set: oneOf(
			"'time_windows' or 'count_windows'", func(s *settings, v string) { s.action.CountWindows = v == "count_windows" }, "time_windows", "count_windows")},
		{long: "measurement-interval", short: 'p', arg: "MS", help: "length of a window (5000)",
			set: atLeast(1, "The value must be > 0 msec.", func(s *settings, n int64) { s.action.WindowMS = n })},
		{long: "measurement-request-count", arg: "N", help: "requests of a counted window (50)",
			set: atLeast(1, "The value must be > 0.", func(s *settings, n int64) { s.action.WindowRequests = n })},
		{long: "stability-percentage", short: 's', arg: "PERCENT", help: "how far the last three windows may differ (10)", set: setStability},
		{long: "percentile", arg: "P", help: "percentile of latency that must be stable, 1 to 99 (-1: the average)", set: setPercentile},
		{long: "warmup-request-count", arg: "N", help: "requests ahead of the measured ones (0)",
			set: atLeast(0, "The value must be >= 0.", func(s *settings, n int64) { s.action.Warmup = n })},
		{long: "request-count", arg: "N", help: "measure exactly N requests, in one window, instead of windows until stable",
			set: atLeast(1, "The value must be > 0.", func(s *settings, n int64) { s.action.RequestCount = n })},
		{long: "max-trials", short: 'r', arg: "N", help: "most windows of a level (10)",
			set: atLeast(1, "The value must be > 0.", func(s *settings, n int64) { s.action.MaxTrials = int(n) })},
		{long: "latency-threshold", short: 'l', arg: "MS", help: "a level with this latency or more ends the search (0: none)",
			set: atLeast(0, "The value must be >= 0 msecs.", func(s *settings, n int64) { s.action.Threshold = n })},
		{long: "binary-search", help: "bisect the range for the highest level below the threshold", set: toggle(func(s *settings) { s.action.Binary = true })},
		{long: "max-threads", arg: "N", help: "most synchronous requests in flight at a rate (4), and of a concurrency range without an end (16); no effect on asynchronous ones",
			set: atLeast(1, "The value must be > 0.", func(s *settings, n int64) { s.action.Threads, s.threadsGiven = int(n), true })},
	}
}

func loading() []option {
	return []option{
		{long: "concurrency-range", arg: "START:END:STEP", help: "requests in flight (1:1:1); an end of 0 is up to the latency threshold", set: setConcurrency},
		{long: "periodic-concurrency-range", arg: "START:END:STEP", help: "requests in flight that grow as responses come: each request is sent once, END in all; an export alone", set: setPeriodic},
		{long: "request-period", arg: "N", help: "responses of each request of a step before the next step of the periodic range (10)",
			set: atLeast(1, "The value must be > 0", func(s *settings, n int64) { s.action.Period = n })},
		{long: "request-rate-range", arg: "START:END:STEP", help: "requests per second, instead of concurrency", set: setRate},
		{long: "request-distribution", arg: "KIND", help: "how the requests of a rate arrive: constant (default) or poisson", set: setDistribution},
		{long: "request-intervals", arg: "FILE", help: "microseconds between requests, one a line, over and over", set: setIntervals},
		{long: "fixed-schedule", help: "send each entry of the data at its timestamp, once", set: toggle(func(s *settings) { s.schedule = true })},
		{long: "session-concurrency", arg: "N", help: "sessions of the data under way, each turn after the answer to the one before, every session once", set: atLeast(1, "Session concurrency must be > 0.",
			func(s *settings, n int64) { s.sessions = n })},
	}
}

func sequences() []option {
	return []option{
		{long: "num-of-sequences", arg: "N", help: "sequences under way at a time, of a rate (4)",
			set: atLeast(1, "The value must be > 0.", func(s *settings, n int64) { s.sequences, s.sequencesGiven = int(n), true })},
		{long: "sequence-length", arg: "N", help: "requests of a sequence (20)", set: setSequenceLength},
		{long: "sequence-length-variation", arg: "PERCENT", help: "how far lengths differ (20)", set: setVariation},
		{long: "sequence-id-range", arg: "START:END", help: "ids of sequences (1 to 4294967295)", set: setIDs},
		{long: "serial-sequences", help: "requests of a sequence wait for one another", set: toggle(func(s *settings) { s.serial = true })},
	}
}

func inputs() []option {
	return []option{
		{long: "input-data", arg: "zero|random|DIR|FILE", help: "what requests carry (random); files may be given repeatedly", set: setData},
		{short: 'b', arg: "N", help: "batch size (1)", set: setBatch},
		{long: "shape", arg: "NAME:D1,D2,…", help: "shape of an input that the model leaves open, repeatable", set: setShape},
		{long: "string-length", arg: "N", help: "length of random strings (128)",
			set: atLeast(1, "The value must be > 0", func(s *settings, n int64) { s.stringLength = int(n) })},
		{long: "string-data", arg: "TEXT", help: "instead of random strings", set: text(func(s *settings, v string) { s.stringData = v })},
		{long: "shared-memory", arg: "KIND", help: "none (default) or system; cuda is not served", set: oneOf(
			"'system', 'cuda', or 'none'", func(s *settings, v string) { s.sharedMemory = v }, "none", "system", "cuda")},
		{long: "output-shared-memory-size", arg: "BYTES", help: "of an output in shared memory (102400)",
			set: atLeast(0, "The value must be >= 0.", func(s *settings, n int64) { s.outputSharedMemory = n })},
		{long: "input-tensor-format", arg: "FORM", help: "binary (default) or json, over HTTP", set: oneOf(
			"'binary' or 'json'", func(s *settings, v string) { s.inputFormat = v }, "binary", "json")},
		{long: "output-tensor-format", arg: "FORM", help: "binary (default) or json, over HTTP", set: oneOf(
			"'binary' or 'json'", func(s *settings, v string) { s.outputFormat = v }, "binary", "json")},
		{long: "request-parameter", arg: "NAME:VALUE:TYPE", help: "parameter of every request, of type bool, int, uint, double or string, repeatable; gRPC", set: setParameter},
	}
}

func requests() []option {
	return []option{
		{short: 'i', arg: "PROTOCOL", help: "http (default) or grpc", set: setProtocol},
		{long: "async", short: 'a', help: "the load's mode of old; here it only says what stability is about", set: toggle(func(s *settings) { s.action.Async = true })},
		{long: "sync", help: "the opposite of --async", set: toggle(func(s *settings) { s.action.Sync = true })},
		{long: "streaming", help: "gRPC streams", set: toggle(func(s *settings) { s.action.Streaming = true })},
		{short: 'H', arg: "NAME:VALUE", help: "header or gRPC metadata of every request, repeatable", set: setHeader},
		{long: "grpc-compression-algorithm", arg: "KIND", help: "none (default), gzip or deflate", set: oneOf(
			"'gzip', 'deflate', or 'none'", func(s *settings, v string) { s.compression, s.compressionGiven = v, true }, "none", "gzip", "deflate")},
		{long: "grpc-method", arg: "PACKAGE.SERVICE/METHOD", help: "not served", set: text(func(s *settings, v string) { s.grpcMethod = v })},
	}
}

func server() []option {
	verify := func(words ...string) func(*settings, string) error {
		return func(s *settings, v string) error {
			for _, w := range words {
				if v == w {
					s.tls.Insecure = s.tls.Insecure || v == "0"
					return nil
				}
			}
			return sentence("The value must be either %s.", orList(words))
		}
	}
	return []option{
		{short: 'u', arg: "URL", help: "the server (localhost:8000, with grpc localhost:8001)", set: text(func(s *settings, v string) { s.url, s.urlGiven = v, true })},
		{long: "ssl-grpc-use-ssl", help: "TLS for gRPC", set: toggle(func(s *settings) { s.useTLS = true })},
		{long: "ssl-grpc-root-certifications-file", arg: "FILE", help: "whom to trust", set: file(func(s *settings, v string) { s.grpcTLS.CA = v })},
		{long: "ssl-grpc-private-key-file", arg: "FILE", help: "our key", set: file(func(s *settings, v string) { s.grpcTLS.Key = v })},
		{long: "ssl-grpc-certificate-chain-file", arg: "FILE", help: "our certificates", set: file(func(s *settings, v string) { s.grpcTLS.Cert = v })},
		{long: "ssl-https-verify-peer", arg: "0|1", help: "whether the server's certificate is verified (1)", set: verify("0", "1")},
		{long: "ssl-https-verify-host", arg: "0|1|2", help: "whether its name is (2)", set: verify("0", "1", "2")},
		{long: "ssl-https-ca-certificates-file", arg: "FILE", help: "whom to trust", set: file(func(s *settings, v string) { s.tls.CA = v })},
		{long: "ssl-https-client-certificate-file", arg: "FILE", help: "our certificate", set: file(func(s *settings, v string) { s.tls.Cert = v })},
		{long: "ssl-https-client-certificate-type", arg: "PEM", help: "form of it", set: setCertificateType},
		{long: "ssl-https-private-key-file", arg: "FILE", help: "our key", set: file(func(s *settings, v string) { s.tls.Key = v })},
		{long: "ssl-https-private-key-type", arg: "PEM", help: "form of it", set: setCertificateType},
		{long: "triton-server-directory", arg: "DIR", help: "of the C API, which is not served", set: text(func(s *settings, v string) { s.serverDirectory = v })},
		{long: "model-repository", arg: "DIR", help: "of the C API, which is not served", set: text(func(s *settings, v string) { s.repository = v })},
	}
}

func reporting() []option {
	return []option{
		{short: 'f', arg: "FILE", help: "write the levels as CSV", set: setCSV},
		{long: "verbose-csv", help: "more columns in the CSV", set: toggle(func(s *settings) { s.action.VerboseCSV = true })},
		{long: "profile-export-file", arg: "FILE", help: "write every request as JSON; the file must not exist, or be an export of before", set: setExport},
	}
}

func observing() []option {
	return []option{
		{long: "collect-metrics", help: "GPU figures of Triton's metrics page", set: toggle(func(s *settings) { s.action.Metrics = true })},
		{long: "metrics-url", arg: "URL", help: "that page (the server's host, port 8002, /metrics)",
			set: text(func(s *settings, v string) { s.metricsURL, s.metricsURLGiven = v, true })},
		{long: "metrics-interval", arg: "MS", help: "how often it is read (1000)",
			set: atLeast(1, "The value must be > 0 msecs.", func(s *settings, n int64) { s.metricsMS, s.metricsMSGiven = n, true })},
		{long: "trace-level", arg: "LEVEL", help: "what Triton traces: OFF (default), TIMESTAMPS or TENSORS; the server is told before the run", set: oneOf(
			"'OFF', 'TIMESTAMPS', or 'TENSORS'", func(s *settings, v string) { s.traced("trace_level", v) }, "OFF", "TIMESTAMPS", "TENSORS")},
		{long: "trace-rate", arg: "N", help: "one request in so many is traced (1000)", set: atLeast(0, "The value must be >= 0.",
			func(s *settings, n int64) { s.traced("trace_rate", strconv.FormatInt(n, 10)) })},
		{long: "trace-count", arg: "N", help: "how many are traced at most (-1: no bound)", set: atLeast(-1, "The value must be >= 0 or set to -1 (default).",
			func(s *settings, n int64) { s.traced("trace_count", strconv.FormatInt(n, 10)) })},
		{long: "log-frequency", arg: "N", help: "traces are written to a file of their own after so many (0: all to one)", set: atLeast(0, "The value must be >= 0.",
			func(s *settings, n int64) { s.traced("log_frequency", strconv.FormatInt(n, 10)) })},
	}
}

func deprecated() []option {
	return []option{
		{long: "data-directory", arg: "DIR", help: "as --input-data", set: old("--data-directory", "--input-data",
			text(func(s *settings, v string) { s.data = append(s.data, v) }))},
		{short: 'z', help: "as --input-data zero", set: old("-z", "--input-data=zero", toggle(func(s *settings) { s.zero = true }))},
		{short: 'd', help: "no effect", set: old("-d", "--concurrency-range", toggle(func(s *settings) { s.oldOptions = true }))},
		{short: 't', arg: "N", help: "the start of --concurrency-range", set: old("-t", "--concurrency-range",
			atLeast(-1<<31, "", func(s *settings, n int64) { s.oldOptions, s.oldStart = true, int(n) }))},
		{short: 'c', arg: "N", help: "its end", set: old("-c", "--concurrency-range", atLeast(0, "The value must be >= 0.",
			func(s *settings, n int64) { s.oldOptions, s.oldEnd = true, int(n) }))},
	}
}

func own() []option {
	return []option{
		{long: "faithful", own: true, help: "the original's arithmetic: windows of 1.2 times the interval, counted windows looked at once a second",
			set: toggle(func(s *settings) { s.faithful = true })},
		{long: "strict", own: true, help: "exit with 1 where the verdict on the measurement is INVALID", set: toggle(func(s *settings) { s.action.Strict = true })},
		{long: "out", own: true, arg: "DIR", help: "directory for records and reports of inferometer's own", set: text(func(s *settings, v string) { s.out = v })},
		{long: "dry-run", own: true, help: "print the plan that this command line compiles to, and stop", set: toggle(func(s *settings) { s.action.DryRun = true })},
	}
}
