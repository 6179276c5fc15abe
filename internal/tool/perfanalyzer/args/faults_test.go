package args

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestFaults(t *testing.T) {
	const openai = "-m m --service-kind openai "
	for _, c := range []struct{ args, want string }{
		{"", "Failed to parse -m (model name). The value must be specified."},
		{"-m", "option requires an argument -- 'm'"},
		{"-m m --nosuch", "Invalid long option '--nosuch'"},
		{"-m m --stremaing", "Invalid long option '--stremaing'; did you mean '--streaming'?"},
		{"-m m -q", "Invalid short option '-q'"},
		{"-m m --async=1", "option '--async' doesn't allow an argument"},
		{"-m m --shape", "option '--shape' requires an argument"},
		{"-m m --me x", "option '--me' is ambiguous; possibilities: '--measurement-mode' '--measurement-interval' '--measurement-request-count' '--metrics-url' '--metrics-interval'"},
		{"-m m -p 0", "Failed to parse --measurement-interval (-p). The value must be > 0 msec."},
		{"-m m --request-count 0", "Failed to parse --request-count. The value must be > 0."},
		{"-m m -p x", "Failed to parse -p. Invalid value provided: x"},
		{"-m m --measurement-interval x", "Failed to parse --measurement-interval. Invalid value provided: x"},
		{"-m m --measurement-mode x", "Failed to parse --measurement-mode. Unsupported type provided: 'x'. The available options are 'time_windows' or 'count_windows'."},
		{"-m m --measurement-request-count 0", "Failed to parse --measurement-request-count. The value must be > 0."},
		{"-m m -s -1", "Failed to parse --stability-percentage (-s). The value must be >= 0.0."},
		{"-m m -s nan", "Failed to parse --stability-percentage (-s). The value must be >= 0.0."},
		{"-m m --percentile 100", "Failed to parse --percentile. The value must be -1 for not reporting or in range (0, 100)."},
		{"-m m -r 0", "Failed to parse --max-trials (-r). The value must be > 0."},
		{"-m m -l -1", "Failed to parse --latency-threshold (-l). The value must be >= 0 msecs."},
		{"-m m --concurrency-range 1:2:3:4", "Failed to parse --concurrency-range. The value does not match <start:end:step>."},
		{"-m m --concurrency-range 0", "The start of the search range must be > 0"},
		{"-m m --concurrency-range 1:x", "Failed to parse --concurrency-range. Invalid value provided: 1:x"},
		// differs: pa-step-zero
		{"-m m --concurrency-range 1:4:0", "The step of the search range must be > 0"},
		{"-m m --request-rate-range 0", "Failed to parse --request-rate-range. The start of the search range must be > 0."},
		{"-m m --request-distribution x", "Failed to parse --request-distribution. Unsupported type provided: 'x'. Choices are 'poisson' or 'constant'."},
		{"-m m --request-intervals nosuch", "Failed to parse --request-intervals. The value must be a valid file path"},
		{"-m m --request-intervals bad.txt", `Failed to parse --request-intervals. bad.txt:2: "x" is not a number of microseconds`},
		{"-m m --request-intervals empty.txt", "Failed to parse --request-intervals. empty.txt holds no intervals"},
		{"-m m --concurrency-range 2 --request-rate-range 5", "Cannot use both Concurrency and RequestRate inference load modes."},
		{"-m m --concurrency-range 2 -t 5", "Cannot use both Concurrency and DeprecatedConcurrency inference load modes."},
		{"-m m --request-rate-range 2 -t 5", "Cannot use both RequestRate and DeprecatedConcurrency inference load modes."},
		{"-m m --request-intervals gaps.txt -t 5", "Cannot use both CustomIntervals and DeprecatedConcurrency inference load modes."},
		{"-m m --concurrency-range 1:0", "The end of the search range and the latency limit can not be both 0"},
		{"-m m --request-rate-range 1:0", "The end of the search range and the latency limit can not be both 0"},
		{"-m m --concurrency-range 1:0 -l 5 --binary-search", "The end of the range can not be 0 (or 0.0) for binary search mode."},
		{"-m m --concurrency-range 1:9 --binary-search", "The --latency-threshold cannot be 0 for binary search mode."},
		{"-m m --concurrency-range 9:1 --binary-search -l 5", "The end of the range can not be less than start of the range for binary search mode."},
		{"-m m --warmup-request-count 5 --concurrency-range 1:4", "--warmup-request-count not supported with multiple concurrency values in one run"},
		{"-m m --warmup-request-count 5 --request-rate-range 1:4", "--warmup-request-count not supported with multiple request rate values in one run"},
		{"-m m --request-count 5 --concurrency-range 1:4", "--request-count not supported with multiple concurrency values in one run"},
		{"-m m --request-count 5 --concurrency-range 8", "--request-count can not be less than concurrency"},
		{"-m m --request-count 5 --request-rate-range 8", "--request-count can not be less than request rate"},
		{"-m m --request-count -1", "Failed to parse --request-count. The value must be > 0."},
		{"-m m --streaming", "Streaming is only allowed with gRPC protocol and Triton C API."},
		{"-m m --grpc-compression-algorithm gzip", "Using compression algorithm is only allowed with gRPC protocol."},
		{"-m m -i grpc --grpc-compression-algorithm x", "Unsupported type provided: 'x'. The available options are 'gzip', 'deflate', or 'none'."},
		{"-m m -z --input-data data", "The -z flag cannot be set when --data-directory is provided."},
		{"-m m --async --sync", "Cannot specify --async and --sync simultaneously."},
		{"-m m -i grpc --streaming --sync", "can not use streaming with synchronous API"},
		{"-m m --request-parameter a:1:int", "The --request-parameter option is currently only supported by gRPC protocol."},
		{"-m m -i grpc --request-parameter a:1", "The value does not match <name:value:type>."},
		// differs: pa-parameter-value
		{"-m m -i grpc --request-parameter a:x:int", "'x' is not a value of type int."},
		{"-m m --request-parameter a:x:y", "The --request-parameter option is currently only supported by gRPC protocol."},
		{"-m m -i x", "Failed to parse -i (protocol). The value should be either HTTP or gRPC."},
		{"-m m -b 0", "Failed to parse -b (batch size). The value must be > 0."},
		{"-m m --shape x", "Failed to parse --shape. There must be a colon after input name."},
		{"-m m --shape x:0", "Failed to parse --shape. The dimensions of input tensor must be > 0."},
		{"-m m --shape x:a", "Failed to parse --shape. Invalid value provided: x:a"},
		{"-m m --string-length 0", "Failed to parse --string-length. The value must be > 0"},
		{"-m m --input-data nosuch", "Unsupported type provided: 'nosuch'. The available options are 'zero', 'random', path to a directory, or a json file."},
		{"-m m --profile-export-file there", "Failed to parse --profile-export-file. Path must not already exist."},
		{"-m m --profile-export-file other.json", "Failed to parse --profile-export-file. Path must not already exist."},
		{"-m m --profile-export-file nosuch/export", "Failed to parse --profile-export-file. There is no directory nosuch"},
		{"-m m --profile-export-file=", "Failed to parse --profile-export-file. The value must be a file path."},
		// differs: pa-unwritable-file
		{"-m m -f nosuch/new.csv", "Failed to parse -f. There is no directory nosuch: create it, or choose another path."},
		{"-m m -f data", "Failed to parse -f. data is a directory: name a file."},
		{"-m m --ssl-https-verify-peer 2", "The value must be either 0 or 1."},
		{"-m m --ssl-https-verify-host 3", "The value must be either 0, 1, or 2."},
		{"-m m --ssl-https-ca-certificates-file nosuch", "Failed to parse --ssl-https-ca-certificates-file. The value must be a valid file path."},
		{"-m m --ssl-https-client-certificate-type x", "'PEM' or 'DER'"},
		{"-m m --ssl-https-private-key-type DER", "DER is not supported"},
		{"-m m --sequence-id-range 1:2:3", "The value does not match <start:end>."},
		{"-m m --sequence-id-range 5:2", "The 'end' value must be greater than 'start' value."},
		{"-m m --sequence-length-variation -1", "The value must be >= 0.0."},
		{"-m m --num-of-sequences 0", "The value must be > 0."},
		{"-m m --max-threads 0", "The value must be > 0."},
		{"-m m --trace-count -2", "The value must be >= 0 or set to -1 (default)."},
		{"-m m --metrics-url x", "Must specify --collect-metrics when using the --metrics-url option."},
		{"-m m --metrics-interval 5", "Must specify --collect-metrics when using the --metrics-interval option."},
		{"-m m --collect-metrics --metrics-interval 0", "The value must be > 0 msecs."},
		{openai + "--collect-metrics --async --input-data in.json --endpoint x", "Server-side metric collection is only supported with Triton client backend."},
		{openai, "Must supply --input-data for OpenAI service kind."},
		{openai + "--input-data in.json", "Must supply --endpoint for OpenAI service kind."},
		{openai + "--input-data in.json --endpoint x", "Only async mode is currently supported for OpenAI service-kind"},
		{openai + "--input-data in.json --endpoint x --async -b 2", "Batching is not currently supported with OpenAI service-kind"},
		{openai + "--input-data in.json --endpoint x --async -i grpc", "OpenAI service-kind speaks HTTP"},
		{"-m m --service-kind nosuch", "Failed to parse --service-kind. Unsupported type provided: 'nosuch'."},
		{"-m m --service-kind triton_c_api", "--service-kind triton_c_api, which loads the server into this process, is not supported"},
		{"-m m --service-kind dynamic_grpc", "--service-kind dynamic_grpc is not supported"},
		{"-m m --service-kind tfserving -i grpc", "leave out -i grpc, and give its HTTP port with -u (8501)"},
		{"-m m --service-kind torchserve", "--input-data should be provided with a json file with input data for torchserve."},
		{"-m m --service-kind torchserve --input-data in.json -b 2", "Batching is not supported with TorchServe"},
		{"-m m --service-kind tfserving --shared-memory system", "Shared memory is not supported"},
		{"-m m --service-kind tfserving --streaming", "which sends one response per request"},
		{"-m m --shared-memory cuda", "--shared-memory cuda, which needs CUDA in this process"},
		{"-m m --periodic-concurrency-range 5", "Both <start> and <end> values must be provided."},
		// differs: pa-periodic-zero
		{"-m m -i grpc --streaming --profile-export-file new.json --periodic-concurrency-range 0:10:2", "The <start> value must be > 0."},
		{"-m m --periodic-concurrency-range 4:2", "The <start> must be <= <end>."},
		{"-m m --periodic-concurrency-range 1:10:4", "must be a factor of the range size"},
		{"-m m --periodic-concurrency-range 1:10:3", "The --periodic-concurrency-range option requires bi-directional gRPC streaming."},
		{"-m m -i grpc --streaming --periodic-concurrency-range 1:10:3 --request-period 5", "Must provide --profile-export-file when using the --periodic-concurrency-range option."},
		{"-m m --session-concurrency 5", "Session concurrency mode is only supported with OpenAI service kind."},
		{openai + "--input-data in.json --endpoint x --async --session-concurrency 2 --request-count 5", "which runs every session once"},
		{openai + "--input-data nested.json --endpoint x --async --session-concurrency 3", "The input data file contains 2 unique session IDs, which is fewer than the required session concurrency level of 3."},
		{openai + "--input-data sessions.json --endpoint x --async --session-concurrency 2", "The input data file contains 1 unique session IDs"},
		{"-m m --concurrency-range 2 --concurrency-range 1", "Cannot use both Concurrency and Concurrency inference load modes."},
		{"-m m --request-rate-range 2 --request-rate-range 2", "Cannot use both RequestRate and RequestRate inference load modes."},
		{"-m m --fixed-schedule --fixed-schedule --input-data in.json", "Cannot use both FixedSchedule and FixedSchedule inference load modes."},
		{"-m m -b 0 --version", "The value must be > 0."},
		{"-m m --nosuch --version", "Invalid long option '--nosuch'"},
		{"-m m --fixed-schedule", "you must provide a dataset using `--input-data`"},
		{"-m m --fixed-schedule --input-data in.json --request-count 3", "Cannot specify `--request-count` when using `--fixed-schedule`."},
		{"-m m --sequence-id-range 10:12 --concurrency-range 3", "sequence id range specified is smaller than the maximum possible concurrency"},
		{"-m m --sequence-id-range 10:12 --concurrency-range 1:3", "sequence id range specified is smaller than the maximum possible concurrency"},
		{"-m m --sequence-id-range 10:12 --request-rate-range 9", "sequence id range specified is smaller than the maximum possible number of sequences"},
		{"-m m --grpc-method x", "--grpc-method is only for"},
		{"-m m -u ftp://x", "unknown scheme"},
	} {
		_, err := Parse(split(c.args), files)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.args, err, c.want)
		}
		var u *UsageError
		var f plan.Faults
		if !errors.As(err, &u) && !errors.As(err, &f) {
			t.Errorf("%s: the error is a %T", c.args, err)
		}
	}
}

func TestGetopt(t *testing.T) {
	for _, c := range []struct{ args, want, rest string }{
		{"-m x", "-m=x", ""},
		{"-mx", "-m=x", ""},
		{"-vam x", "-v= --async= -m=x", ""},
		{"-vmx", "-v= -m=x", ""},
		{"--shape a:1 --shape=b:2", "--shape=a:1 --shape=b:2", ""},
		{"--shape=", "--shape=", ""},
		{"--input-data=a=b", "--input-data=a=b", ""},
		{"--stream", "--streaming=", ""},
		{"--sync --sequence-length 5", "--sync= --sequence-length=5", ""}, // exact, though a longer name begins with it
		{"--percent 9", "--percentile=9", ""},
		{"a -m x b", "-m=x", "a b"},
		{"-m x -- -v --async", "-m=x", "-v --async"},
		{"-m -v", "-m=-v", ""},
		{"-", "", "-"},
	} {
		opts, rest, err := getopt(defaults(files).options(), split(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		var got []string
		for _, o := range opts {
			got = append(got, o.name()+"="+o.value)
		}
		if strings.Join(got, " ") != c.want || strings.Join(rest, " ") != c.rest {
			t.Errorf("%s: %q and %q", c.args, got, rest)
		}
	}
}

func TestWarnings(t *testing.T) {
	for args, want := range map[string]string{
		"-m m --endpoint v1/chat/completions":                                   "--endpoint has no effect with --service-kind triton",
		"-m m --trace-level OFF --service-kind torchserve --input-data in.json": "the trace options have no effect with --service-kind torchserve",
		"-m m -i grpc --request-parameter a:1:uint":                             "--request-parameter a:1:uint has no effect",
		"-m m --output-tensor-format json":                                      "--output-tensor-format has no effect",
		"-m m --enable-mpi":                                                     "--enable-mpi has no effect",
		"-m m --max-threads 3 --concurrency-range 6":                            "Overriding max_threads specification to ensure requested concurrency range.",
		"-m m -i grpc --async --streaming --profile-export-file new.json --periodic-concurrency-range 1:3 --max-threads 9": "Overriding max_threads specification to ensure requested concurrency range.",
		"-m m --warmup-request-count 3 --concurrency-range 4":                                                              "The number of concurrent requests exceeds the warmup request count.",
		"-m m --model-repository x":  "have no effect with --service-kind triton",
		"-m m --sequence-id-range 0": "using an invalid start sequence id",
		"-m m -t 2":                  "-t is deprecated and will be removed in an upcoming version. Use --concurrency-range instead.",
	} {
		a, err := Parse(split(args), files)
		if err != nil || !slices.ContainsFunc(a.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("%s: %v, %v", args, a, err)
		}
	}
}
