package args

import (
	"encoding/json"
	"fmt"
	"slices"
)

// resolve works out what follows from the options together.
func (s *settings) resolve() {
	a := &s.action
	a.GRPC, a.CountWindows = s.protocol == "grpc", s.windows == "count_windows"
	if !s.given["-u"] && a.GRPC && a.Service == Triton {
		s.url = "localhost:8001"
	}
	if !s.given["-u"] && a.Service == TFServing {
		s.url = "localhost:8501"
	}
	switch {
	case s.deprecatedLoad(): // whatever load follows
	case s.intervals != nil:
		a.Load = LoadIntervals
	case s.schedule:
		a.Load = LoadSchedule
	case s.sessions > 0:
		a.Load = LoadSessions
	case s.given["--request-rate-range"]:
		a.Load = LoadRate
	case s.periodic():
		a.Load = LoadPeriodic
	}
	a.ShowBatch = a.Service == Triton || s.given["-b"]
	a.Async = a.Async || a.Streaming && !a.Sync
	if !s.given["--max-threads"] {
		a.Threads = threadsOfRate
		if a.Load == LoadConcurrency {
			a.Threads = threadsOfConcurrency
		}
	}
}

// deprecatedLoad reports whether the load is given by the options of old.
func (s *settings) deprecatedLoad() bool { return s.given["-d"] || s.given["-t"] || s.given["-c"] }

func (s *settings) periodic() bool { return s.given["--periodic-concurrency-range"] }

// modes are the options that say what the load is, with the names that messages have for it.
func modes() map[string]string {
	return map[string]string{
		"--concurrency-range": "Concurrency", "--request-rate-range": "RequestRate", "--request-intervals": "CustomIntervals",
		"--periodic-concurrency-range": "PeriodicConcurrency", "--session-concurrency": "SessionConcurrency", "--fixed-schedule": "FixedSchedule",
	}
}

// oneLoad takes note of an option that says what the load is. There is one, once.
func (s *settings) oneLoad(option string) error {
	mode := modes()[option]
	switch {
	case mode == "":
	case s.mode != "":
		return usage("Cannot use both %s and %s inference load modes.", s.mode, mode)
	default:
		s.mode = mode
	}
	return nil
}

// oldLoad sets a part of the load by an option of old, ahead of the option that took its place.
func (s *settings) oldLoad(set func(string) error) func(string) error {
	return func(value string) error {
		if s.mode != "" {
			return usage("Cannot use both %s and DeprecatedConcurrency inference load modes.", s.mode)
		}
		return set(value)
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

func (s *settings) ranged() bool {
	switch s.action.Load {
	case LoadConcurrency:
		return s.action.Concurrency.Start < s.action.Concurrency.End || s.action.Concurrency.End == 0
	case LoadRate:
		return s.action.Rate.Start < s.action.Rate.End || s.action.Rate.End == 0
	}
	return false
}

// rule is a fault that options can have together, in the original's words where it has any.
type rule struct {
	broken bool
	text   string
}

// verify says what is wrong with the options together: the first fault, in the original's order.
func (s *settings) verify() error {
	for _, g := range []struct {
		generic bool
		rules   []rule
	}{
		{true, s.schedules()},
		{false, slices.Concat(s.basics(), s.periods(), s.searches(), s.counts(), s.services(), s.metrics())},
		{true, s.late()},
		{false, s.refused()},
	} {
		for _, r := range g.rules {
			if r.broken {
				return &UsageError{r.text, g.generic}
			}
		}
	}
	s.advise()
	return nil
}

func (s *settings) schedules() []rule {
	unscheduled := ""
	if s.schedule {
		unscheduled = s.unscheduled()
	}
	return []rule{
		{s.schedule && s.action.RequestCount > 0, "Cannot specify `--request-count` when using `--fixed-schedule`. The request count will be equal to the number of requests in the input data minus the warmup request count."},
		{s.schedule && len(s.data) == 0, "When using `--fixed-schedule`, you must provide a dataset using `--input-data`."},
		{unscheduled != "", unscheduled},
	}
}

// unscheduled says why the data are no schedule, if they are none. A file that cannot be read
// is told of when it is read for good.
func (s *settings) unscheduled() string {
	n := 0
	for _, name := range s.data {
		if s.files.Kind(name) == "dir" {
			return fmt.Sprintf("'%s' is not a file. When using `--fixed-schedule`, all paths passed to --input-data must be files.", printable(name))
		}
		text, err := s.files.Read(name)
		if err != nil {
			return ""
		}
		var file struct{ Data *[]json.RawMessage }
		if err := json.Unmarshal(text, &file); err != nil || file.Data == nil {
			return fmt.Sprintf("Input data JSON file must contain an object with a 'data' member that is an array. Review JSON file: '%s'", printable(name))
		}
		n += len(*file.Data)
	}
	switch {
	case n == 0:
		return "The dataset provided is empty. When using `--fixed-schedule`, the dataset must contain at least one payload."
	case s.action.Warmup >= int64(n):
		return "The warmup request count must be less than the total number of payloads in the dataset."
	}
	return ""
}

func (s *settings) basics() []rule {
	a := &s.action
	return []rule{
		{s.model == "", "Failed to parse -m (model name). The value must be specified."},
		{a.Concurrency.Start <= 0, "The start of the search range must be > 0"},
		{a.Rate.Start <= 0, "Failed to parse --request-rate-range. The start of the search range must be > 0."},
		{s.protocol != "http" && s.protocol != "grpc", "Failed to parse -i (protocol). The value should be either HTTP or gRPC."},
		{a.Streaming && !a.GRPC && a.Service == Triton, "Streaming is only allowed with gRPC protocol and Triton C API."},
		{s.given["--grpc-compression-algorithm"] && !a.GRPC, "Using compression algorithm is only allowed with gRPC protocol."},
		{s.variation < 0, "Failed to parse --sequence-length-variation. The value must be >= 0.0."},
		{s.percentile != -1 && (s.percentile < 1 || s.percentile > 99), "Failed to parse --percentile. The value must be -1 for not reporting or in range (0, 100)."},
		{s.zero && len(s.data) > 0, "The -z flag cannot be set when --data-directory is provided."},
		{a.Async && a.Sync, "Cannot specify --async and --sync simultaneously."},
	}
}

func (s *settings) periods() []rule {
	a := &s.action
	return []rule{
		{a.Load == LoadPeriodic && !a.Streaming, "The --periodic-concurrency-range option requires bi-directional gRPC streaming."},
		{a.Load == LoadPeriodic && a.Export == "", "Must provide --profile-export-file when using the --periodic-concurrency-range option."},
		{s.parametersGiven && !a.GRPC, "The --request-parameter option is currently only supported by gRPC protocol."},
		{s.badParameter != "", s.badParameter},
	}
}

func (s *settings) searches() []rule {
	a := &s.action
	endless := a.Concurrency.End == 0 || a.Rate.End == 0
	return []rule{
		{endless && a.Threshold == 0, "The end of the search range and the latency limit can not be both 0 (or 0.0) simultaneously"},
		{endless && a.Binary, "The end of the range can not be 0 (or 0.0) for binary search mode."},
		{a.Binary && a.Threshold == 0, "The --latency-threshold cannot be 0 for binary search mode."},
		{a.Binary && (a.Concurrency.End < a.Concurrency.Start || a.Rate.End < a.Rate.Start), "The end of the range can not be less than start of the range for binary search mode."},
	}
}

func (s *settings) counts() []rule {
	a := &s.action
	kind, start := "concurrency", a.Concurrency.Start
	if a.Load == LoadRate {
		kind, start = "request rate", a.Rate.Start
	}
	few := a.Load == LoadConcurrency || a.Load == LoadRate
	return []rule{
		{a.Warmup > 0 && s.ranged(), fmt.Sprintf("--warmup-request-count not supported with multiple %s values in one run", kind)},
		{few && a.RequestCount > 0 && a.RequestCount < int64(start), fmt.Sprintf("--request-count can not be less than %s", kind)},
		{a.RequestCount > 0 && s.ranged(), fmt.Sprintf("--request-count not supported with multiple %s values in one run", kind)},
	}
}

func (s *settings) services() []rule {
	a := &s.action
	openAI, torch := a.Service == OpenAI, a.Service == TorchServe
	return []rule{
		{torch && len(s.data) == 0, "--input-data should be provided with a json file with input data for torchserve."},
		{openAI && len(s.data) == 0, "Must supply --input-data for OpenAI service kind."},
		{openAI && a.Endpoint == "", "Must supply --endpoint for OpenAI service kind. For example, \"v1/chat/completions\"."},
		{openAI && !a.Async, "Only async mode is currently supported for OpenAI service-kind"},
		{openAI && a.Batch != 1, "Batching is not currently supported with OpenAI service-kind"},
	}
}

func (s *settings) metrics() []rule {
	on := s.action.Metrics
	return []rule{
		{on && s.action.Service != Triton, "Server-side metric collection is only supported with Triton client backend."},
		{s.given["--metrics-url"] && !on, "Must specify --collect-metrics when using the --metrics-url option."},
		{s.given["--metrics-interval"] && !on, "Must specify --collect-metrics when using the --metrics-interval option."},
		{s.sessions > 0 && s.action.Service != OpenAI, "Session concurrency mode is only supported with OpenAI service kind."},
	}
}

// late is what the original finds once it has read the model's metadata.
func (s *settings) late() []rule {
	a := &s.action
	rate := a.Load == LoadRate || a.Load == LoadIntervals || a.Load == LoadSchedule
	return []rule{
		{a.Streaming && a.Sync, "can not use streaming with synchronous API"},
		{s.idsGiven && a.Load == LoadConcurrency && s.ids > 0 && float64(s.ids) < max(a.Concurrency.Start, a.Concurrency.End), "sequence id range specified is smaller than the maximum possible concurrency, sequence id collision may occur."},
		{s.idsGiven && rate && s.ids > 0 && s.ids < int64(s.sequences), "sequence id range specified is smaller than the maximum possible number of sequences, sequence id collision may occur."},
	}
}

// refused names what this program does not do, and what to do instead.
func (s *settings) refused() []rule {
	a := &s.action
	openAI, torch := a.Service == OpenAI, a.Service == TorchServe
	predicts := torch || a.Service == TFServing
	port := map[string]string{TFServing: "8501", TorchServe: "8080"}[a.Service]
	held := int64(0) // sessions of the data
	if s.sessions > 0 {
		held = s.conversations()
	}
	return []rule{
		{a.Load == LoadPeriodic && a.Periodic.Start == 0, "Failed to parse --periodic-concurrency-range. The <start> value must be > 0."},
		{s.ranged() && (a.Concurrency.Step <= 0 || a.Rate.Step <= 0), "The step of the search range must be > 0"},
		{openAI && a.GRPC, "OpenAI service-kind speaks HTTP: leave out -i grpc"},
		{predicts && a.GRPC, fmt.Sprintf("--service-kind %s is measured over its HTTP API: leave out -i grpc, and give its HTTP port with -u (%s)", a.Service, port)},
		{predicts && a.Streaming, fmt.Sprintf("--streaming cannot be combined with --service-kind %s, which sends one response per request", a.Service)},
		{torch && a.Batch != 1, "Batching is not supported with TorchServe service-kind"},
		{predicts && s.sharedMemory != "none", fmt.Sprintf("Shared memory is not supported with --service-kind %s", a.Service)},
		{s.sessions > 0 && (a.RequestCount > 0 || a.Warmup > 0), "--request-count and --warmup-request-count cannot be combined with --session-concurrency, which runs every session once"},
		{s.sessions > held && held > 0, fmt.Sprintf("The input data file contains %d unique session IDs, which is fewer than the required session concurrency level of %d. Please add more unique session IDs to the file or lower the session concurrency level.", held, s.sessions)},
		{s.action.Service == TritonCAPI, "--service-kind triton_c_api, which loads the server into this process, is not supported: start tritonserver and use --service-kind triton"},
		{s.action.Service == "dynamic_grpc", "--service-kind dynamic_grpc is not supported: use triton, openai, tfserving or torchserve"},
		{s.sharedMemory == "cuda", "--shared-memory cuda, which needs CUDA in this process, is not supported: use system if the server is on this machine, else none"},
		{s.grpcMethod != "", "--grpc-method is only for --service-kind dynamic_grpc, which is not supported"},
	}
}

// advise warns about options that have no effect.
func (s *settings) advise() {
	a := &s.action
	for _, r := range []rule{
		{a.Endpoint != "" && a.Service == Triton, "--endpoint has no effect with --service-kind triton"},
		{len(s.trace) > 0 && a.Service != Triton, "the trace options have no effect with --service-kind " + a.Service},
		{s.given["--max-threads"] && (s.periodic() || !a.Async && a.Load == LoadConcurrency && a.Concurrency.End > 0), "Overriding max_threads specification to ensure requested concurrency range."},
		{a.Warmup > 0 && a.Load == LoadConcurrency && a.Concurrency.Start > float64(a.Warmup), "The number of concurrent requests exceeds the warmup request count. Adjusting warmup concurrency to match the warmup request count."},
		{s.given["--output-tensor-format"] && s.outputFormat != s.inputFormat && !a.GRPC && a.Service == Triton, "--output-tensor-format has no effect: as with the original, outputs have the format of --input-tensor-format"},
		{s.mpi, "--enable-mpi has no effect here"},
		{s.periodic() && (a.RequestCount > 0 || a.Warmup > 0), "--request-count and --warmup-request-count have no effect with --periodic-concurrency-range: its end is the number of requests"},
		{s.serverDirectory != "" || s.repository != "", "--triton-server-directory and --model-repository have no effect with --service-kind " + a.Service},
	} {
		if r.broken {
			s.warnings = append(s.warnings, r.text)
		}
	}
}
