package args

// settle works out what follows from the options together.
func (s *settings) settle() {
	a := &s.action
	a.GRPC = s.protocol == "grpc"
	if !s.urlGiven && a.GRPC && a.Service == Triton {
		s.url = "localhost:8001"
	}
	if !s.urlGiven && a.Service == TFServing {
		s.url = "localhost:8501"
	}
	if s.oldOptions && !s.concurrencyGiven {
		a.Concurrency.Start, a.Concurrency.End = float64(s.oldStart), float64(s.oldEnd)
	}
	switch {
	case s.intervals != nil:
		a.Load = LoadIntervals
	case s.schedule:
		a.Load = LoadSchedule
	case s.sessions > 0:
		a.Load = LoadSessions
	case s.rateGiven:
		a.Load = LoadRate
	case s.periodic:
		a.Load = LoadPeriodic
	}
	a.ShowBatch = a.Service == Triton || s.batchGiven
	if a.Streaming {
		a.Async = a.Async || !a.Sync
	}
	if !s.threadsGiven {
		a.Threads = threadsOfRate
		if a.Load == LoadConcurrency {
			a.Threads = threadsOfConcurrency
		}
	}
}

// What --max-threads is where it is not given.
const (
	threadsOfRate        = 4
	threadsOfConcurrency = 16
)

// endSearch gives a search without an end the one that it has where each thread waits for its
// answer: as many requests as there are threads.
func (s *settings) endSearch() {
	a := &s.action
	if a.Load == LoadConcurrency && !a.Async && a.Concurrency.End == 0 {
		s.warn("The maximum attainable concurrency will be limited by max_threads specification.")
		a.Concurrency.End = float64(a.Threads)
	}
	a.Single = !s.ranged()
}

// ranged reports whether there is more than one level.
func (s *settings) ranged() bool {
	switch s.action.Load {
	case LoadConcurrency:
		return s.action.Concurrency.Start < s.action.Concurrency.End || s.action.Concurrency.End == 0
	case LoadRate:
		return s.action.Rate.Start < s.action.Rate.End || s.action.Rate.End == 0
	}
	return false
}

// verify says what is wrong with the options together: the first fault.
func (s *settings) verify() error {
	for _, check := range []func() error{s.verifyBasics, s.verifyLoad, s.verifySearch, s.verifyCounts, s.verifyService, s.verifyMetrics, s.refuse} {
		if err := check(); err != nil {
			return err
		}
	}
	s.advise()
	return nil
}

func (s *settings) verifyBasics() error {
	a := &s.action
	switch {
	case s.model == "":
		return usage("Failed to parse -m (model name). The value must be specified.")
	case a.Concurrency.Start <= 0:
		return usage("The start of the search range must be > 0")
	case a.Rate.Start <= 0:
		return usage("Failed to parse --request-rate-range. The start of the search range must be > 0.")
	case a.Concurrency.Step <= 0 && s.ranged() || a.Rate.Step <= 0 && s.ranged():
		return usage("The step of the search range must be > 0")
	case a.Streaming && !a.GRPC && a.Service == Triton:
		return usage("Streaming is only allowed with gRPC protocol and Triton C API.")
	case s.compressionGiven && !a.GRPC:
		return usage("Using compression algorithm is only allowed with gRPC protocol.")
	case s.zero && len(s.data) > 0:
		return usage("The -z flag cannot be set when --data-directory is provided.")
	case a.Async && a.Sync:
		return usage("Cannot specify --async and --sync simultaneously.")
	case a.Streaming && a.Sync:
		return usage("can not use streaming with synchronous API")
	case len(s.parameters) > 0 && !a.GRPC:
		return usage("The --request-parameter option is currently only supported by gRPC protocol.")
	}
	return nil
}

func (s *settings) verifyLoad() error {
	modes := 0
	for _, on := range []bool{s.periodic, s.concurrencyGiven, s.rateGiven, s.intervals != nil, s.schedule, s.sessions > 0} {
		if on {
			modes++
		}
	}
	switch {
	case s.concurrencyGiven && s.oldOptions:
		return usage("Cannot use deprecated options with --concurrency-range.")
	case s.rateGiven && s.oldOptions:
		return usage("Cannot use concurrency options with --request-rate-range.")
	case s.intervals != nil && s.oldOptions:
		return usage("Cannot use deprecated options with --request-intervals.")
	case modes > 1:
		return usage("Cannot specify more then one inference load mode. Please choose only one of the following modes: --concurrency-range, --periodic-concurrency-range, --request-rate-range, --request-intervals, --fixed-schedule, or --session-concurrency.")
	case s.schedule && len(s.data) == 0:
		return usage("When using `--fixed-schedule`, you must provide a dataset using `--input-data`.")
	case s.schedule && s.action.RequestCount > 0:
		return usage("Cannot specify `--request-count` when using `--fixed-schedule`. The request count will be equal to the number of requests in the input data minus the warmup request count.")
	case s.periodic && !s.action.Streaming:
		return usage("The --periodic-concurrency-range option requires bi-directional gRPC streaming.")
	case s.periodic && s.action.Export == "":
		return usage("Must provide --profile-export-file when using the --periodic-concurrency-range option.")
	}
	return s.verifyIDs()
}

// verifyIDs holds the range of sequences' ids against how many may be under way.
func (s *settings) verifyIDs() error {
	a := &s.action
	switch {
	case !s.idsGiven:
	case a.Load == LoadConcurrency && float64(s.ids) < max(a.Concurrency.Start, a.Concurrency.End):
		return usage("sequence id range specified is smaller than the maximum possible concurrency, sequence id collision may occur.")
	case a.Load == LoadRate && s.ids < int64(s.sequences):
		return usage("sequence id range specified is smaller than the maximum possible number of sequences, sequence id collision may occur.")
	}
	return nil
}

func (s *settings) verifySearch() error {
	a := &s.action
	endless := a.Concurrency.End == 0 || a.Rate.End == 0
	switch {
	case endless && a.Threshold == 0:
		return usage("The end of the search range and the latency limit can not be both 0 (or 0.0) simultaneously")
	case endless && a.Binary:
		return usage("The end of the range can not be 0 (or 0.0) for binary search mode.")
	case a.Binary && a.Threshold == 0:
		return usage("The --latency-threshold cannot be 0 for binary search mode.")
	case a.Binary && (a.Concurrency.End < a.Concurrency.Start || a.Rate.End < a.Rate.Start):
		return usage("The end of the range can not be less than start of the range for binary search mode.")
	}
	return nil
}

func (s *settings) verifyCounts() error {
	a := &s.action
	kind := map[string]string{LoadConcurrency: "concurrency", LoadRate: "request rate"}[a.Load]
	several := kind != "" && s.ranged()
	switch {
	case a.Warmup > 0 && several:
		return usage("--warmup-request-count not supported with multiple %s values in one run", kind)
	case a.RequestCount > 0 && s.concurrencyGiven && float64(a.RequestCount) < a.Concurrency.Start:
		return usage("--request-count can not be less than concurrency")
	case a.RequestCount > 0 && s.rateGiven && a.RequestCount < int64(a.Rate.Start):
		return usage("--request-count can not be less than request rate")
	case a.RequestCount > 0 && several:
		return usage("--request-count not supported with multiple %s values in one run", kind)
	}
	return nil
}

func (s *settings) verifyService() error {
	a := &s.action
	if a.Service == OpenAI {
		switch {
		case len(s.data) == 0:
			return usage("Must supply --input-data for OpenAI service kind.")
		case a.Endpoint == "":
			return usage("Must supply --endpoint for OpenAI service kind. For example, \"v1/chat/completions\".")
		case !a.Async:
			return usage("Only async mode is currently supported for OpenAI service-kind")
		case a.Batch != 1:
			return usage("Batching is not currently supported with OpenAI service-kind")
		case a.GRPC:
			return usage("OpenAI service-kind speaks HTTP: leave out -i grpc")
		}
	}
	if a.Service == TFServing || a.Service == TorchServe {
		switch {
		case a.GRPC:
			return usage("--service-kind %s is spoken to over its HTTP API here: leave out -i grpc, and give that port with -u (%s)", a.Service, map[string]string{TFServing: "8501", TorchServe: "8080"}[a.Service])
		case a.Streaming:
			return usage("--streaming is of no use with --service-kind %s: it gives one answer", a.Service)
		case a.Service == TorchServe && len(s.data) == 0:
			return usage("Must supply --input-data with TORCHSERVE_INPUT for TorchServe service kind.")
		case a.Service == TorchServe && a.Batch != 1:
			return usage("Batching is not supported with TorchServe service-kind")
		case s.sharedMemory != "none":
			return usage("Shared memory is not supported with --service-kind %s", a.Service)
		}
	}
	if s.sessions > 0 && a.Service != OpenAI {
		return usage("The --session-concurrency option is only supported for the OpenAI service-kind.")
	}
	if s.sessions > 0 && (a.RequestCount > 0 || a.Warmup > 0) {
		return usage("--request-count and --warmup-request-count have no place beside --session-concurrency: every session is gone through once")
	}
	if n := s.conversations(); s.sessions > 0 && n > 0 && n < s.sessions {
		return usage("The input data file contains %d unique session IDs, which is fewer than the required session concurrency level of %d. Please add more unique session IDs to the file or lower the session concurrency level.", n, s.sessions)
	}
	return nil
}

func (s *settings) verifyMetrics() error {
	a := &s.action
	switch {
	case a.Metrics && a.Service != Triton:
		return usage("Server-side metric collection is only supported with Triton client backend.")
	case s.metricsURLGiven && !a.Metrics:
		return usage("Must specify --collect-metrics when using the --metrics-url option.")
	case s.metricsMSGiven && !a.Metrics:
		return usage("Must specify --collect-metrics when using the --metrics-interval option.")
	}
	return nil
}

// refuse names what this program does not do, and what to do instead.
func (s *settings) refuse() error {
	switch {
	case s.action.Service == TritonCAPI:
		return usage("--service-kind triton_c_api loads the server into this process, which is not served: start tritonserver and use --service-kind triton")
	case s.action.Service == "dynamic_grpc":
		return usage("--service-kind dynamic_grpc is not served: use triton, openai, tfserving or torchserve")
	case s.sharedMemory == "cuda":
		return usage("--shared-memory cuda needs CUDA in this process, which is not served: use system, where the server is on this machine, or none")
	case s.grpcMethod != "":
		return usage("--grpc-method belongs to --service-kind dynamic_grpc, which is not served")
	}
	return nil
}

// advise warns about options that have no effect.
func (s *settings) advise() {
	a := &s.action
	if a.Endpoint != "" && a.Service == Triton {
		s.warn("--endpoint has no effect with --service-kind triton")
	}
	if len(s.trace) > 0 && a.Service != Triton {
		s.warn("the options about traces have no effect with --service-kind %s", a.Service)
	}
	if s.threadsGiven && !a.Async && a.Load == LoadConcurrency && a.Concurrency.End > 0 {
		s.warn("Overriding max_threads specification to ensure requested concurrency range.")
	}
	if s.mpi {
		s.warn("--enable-mpi has no effect here")
	}
	if s.periodic && (a.RequestCount > 0 || a.Warmup > 0) {
		s.warn("--request-count and --warmup-request-count have no effect with --periodic-concurrency-range: its end says how many requests there are")
	}
	if s.serverDirectory != "" || s.repository != "" {
		s.warn("--triton-server-directory and --model-repository have no effect with --service-kind %s", a.Service)
	}
}
