package args

import (
	"errors"
	"strings"
	"testing"
)

// Of several faults the one is told that the original looks for first.
func TestOrderOfFaults(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-m m --percentile 0 --grpc-compression-algorithm gzip", "Using compression algorithm is only allowed with gRPC protocol."},
		{"-m m --percentile x -i ftp", "Failed to parse -i (protocol)."},
		{"-m m --sequence-length-variation -1 --streaming", "Streaming is only allowed with gRPC protocol"},
		{"--request-rate-range 0 --percentile 0", "Failed to parse -m (model name)."},
		{"-m m --concurrency-range 2:0 --request-count 1", "can not be both 0"},
		{"-m m --request-count 1 --concurrency-range 2:3", "--request-count can not be less than concurrency"},
		{"-m m --session-concurrency 2 --metrics-url x", "Must specify --collect-metrics when using the --metrics-url option."},
		{"-m m --sequence-id-range 10:12 --concurrency-range 3 --binary-search", "The --latency-threshold cannot be 0 for binary search mode."},
		{"-m m --percentile 0 --fixed-schedule --input-data sessions.json --warmup-request-count 2", "The warmup request count must be less than the total number of payloads in the dataset."},
		{"-m m --percentile 0 --fixed-schedule --input-data sessions.json --warmup-request-count 1", "Failed to parse --percentile."},
		{"-m m --percentile 0 --fixed-schedule --input-data sessions.json --input-data nested.json --warmup-request-count 3", "Failed to parse --percentile."},
		{"-m m --percentile 0 --fixed-schedule --input-data data", "'data' is not a file."},
		{"-m m --percentile 0 --fixed-schedule --input-data before.json", "must contain an object with a 'data' member"},
		{"-m m --percentile 0 --fixed-schedule --input-data none.json", "The dataset provided is empty."},
		{"-m m --fixed-schedule -i ftp", "you must provide a dataset using `--input-data`"},
	} {
		if _, err := Parse(split(c.args), files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.args, err, c.want)
		}
	}
}

// What the original finds only once it has read the model's metadata ends with another code.
func TestLateFaults(t *testing.T) {
	for line, late := range map[string]bool{
		"-m m --sequence-id-range 10:12 --concurrency-range 3":  true,
		"-m m --sequence-id-range 10:12 --request-rate-range 9": true,
		"-m m -i grpc --streaming --sync":                       true,
		"-m m --fixed-schedule":                                 true,
		"-m m --concurrency-range 0":                            false,
	} {
		_, err := Parse(split(line), files)
		var u *UsageError
		if !errors.As(err, &u) || u.Generic != late {
			t.Errorf("%s: %v, late %v", line, err, u != nil && u.Generic)
		}
	}
}

// The options of old set what they name, until another load does.
func TestLoadsOfOld(t *testing.T) {
	for _, c := range []struct {
		args       string
		start, end float64
	}{
		{"-m m -t 3", 3, 1}, {"-m m -c 4", 1, 4}, {"-m m -t 3 --concurrency-range 2", 2, 1}, {"-m m -c 5 --concurrency-range 2", 2, 5}, {"-m m -t 2 --request-rate-range 9", 2, 1},
	} {
		a, err := Parse(split(c.args), files)
		if err != nil || a.Load != LoadConcurrency || a.Concurrency.Start != c.start || a.Concurrency.End != c.end {
			t.Errorf("%s: %v, %+v", c.args, err, a)
		}
	}
	a, err := Parse(split("-m m -z -b x"), files)
	if err == nil || len(a.Warnings) != 1 {
		t.Errorf("the warnings ahead of a fault: %v, %q", err, a.Warnings)
	}
}
