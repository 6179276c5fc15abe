package args

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// settings are what the options say, before they are made a plan.
type settings struct {
	action   Action
	files    Files
	warnings []string
	help     bool
	version  bool

	url, metricsURL             string
	urlGiven, metricsURLGiven   bool
	metricsMS                   int64
	metricsMSGiven              bool
	model, modelVersion, out    string
	protocol                    string // "http", "grpc" or what was given
	zero                        bool
	data                        []string
	shapes                      []string
	stringLength                int
	stringData                  string
	sharedMemory                string
	outputSharedMemory          int64
	compression                 string
	compressionGiven            bool
	inputFormat, outputFormat   string
	headers                     map[string]string
	parameters                  map[string]any
	composing                   []string
	signature                   string
	intervals                   []plan.Duration
	intervalsFile               string
	schedule, oldOptions        bool
	oldStart, oldEnd            int
	concurrencyGiven, rateGiven bool
	periodic                    bool
	sessions                    int64
	sequences                   int // --num-of-sequences
	sequencesGiven              bool
	sequenceLength              int
	sequenceLengthGiven         bool
	variation                   float64
	firstID, ids                int64
	idsGiven                    bool
	serial, mpi, batchGiven     bool
	threadsGiven                bool
	tls                         plan.TLS
	grpcTLS                     plan.TLS
	useTLS                      bool
	trace                       map[string]string
	serverDirectory, repository string
	faithful                    bool
	grpcMethod                  string
}

// defaults are the settings of an empty command line.
func defaults(files Files) *settings {
	return &settings{
		files: files, url: "localhost:8000", protocol: "http", metricsMS: 1000, stringLength: 128,
		sharedMemory: "none", outputSharedMemory: 102400, headers: map[string]string{}, parameters: map[string]any{},
		sequences: 4, sequenceLength: 20, variation: 20, firstID: 1, oldStart: 1, oldEnd: 1,
		signature: "serving_default", inputFormat: plan.FormatBinary, outputFormat: plan.FormatBinary,
		action: Action{
			Service: Triton, Load: LoadConcurrency, Batch: 1, WindowMS: 5000, WindowRequests: 50, MaxTrials: 10, Stability: 0.1,
			Concurrency: Range{1, 1, 1}, Rate: Range{1, 1, 1}, Periodic: Range{1, 1, 1}, Period: 10,
		},
	}
}

func (s *settings) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// invalid is what is said about a value that is no number.
func invalid(value string) error {
	return sentence("Invalid value provided: %s", printable(value))
}

// whole reads a whole number.
func whole(value string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		return 0, invalid(value)
	}
	return n, nil
}

// decimal reads a number.
func decimal(value string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, invalid(value)
	}
	return f, nil
}

// atLeast is an option whose value is a whole number from a least one on; otherwise
// says what is wrong.
func atLeast(least int64, otherwise string, put func(s *settings, n int64)) func(*settings, string) error {
	return func(s *settings, value string) error {
		n, err := whole(value)
		if err != nil {
			return err
		}
		if n < least {
			return sentence("%s", otherwise)
		}
		put(s, n)
		return nil
	}
}

// toggle is an option without a value.
func toggle(put func(s *settings)) func(*settings, string) error {
	return func(s *settings, _ string) error {
		put(s)
		return nil
	}
}

// text is an option whose value is taken as it is.
func text(put func(s *settings, value string)) func(*settings, string) error {
	return func(s *settings, value string) error {
		put(s, value)
		return nil
	}
}

// old is an option that has another in its place by now.
func old(name, instead string, set func(*settings, string) error) func(*settings, string) error {
	return func(s *settings, value string) error {
		s.warn("%s is deprecated and will be removed in an upcoming version. Use %s instead.", name, instead)
		return set(s, value)
	}
}

// oneOf is an option whose value is one of a few words.
func oneOf(list string, put func(s *settings, value string), words ...string) func(*settings, string) error {
	return func(s *settings, value string) error {
		for _, w := range words {
			if value == w {
				put(s, value)
				return nil
			}
		}
		return sentence("Unsupported type provided: '%s'. The available options are %s.", printable(value), list)
	}
}

// file is an option whose value names a file.
func file(put func(s *settings, name string)) func(*settings, string) error {
	return func(s *settings, value string) error {
		if s.files.Kind(value) != "file" {
			return sentence("The value must be a valid file path.")
		}
		put(s, value)
		return nil
	}
}

// split3 reads start:end:step into a range that holds the defaults.
func split3(value string, r *Range, read func(string) (float64, error)) error {
	parts := strings.Split(value, ":")
	if len(parts) > 3 {
		return sentence("The value does not match <start:end:step>.")
	}
	for i, p := range parts {
		v, err := read(p)
		if err != nil {
			return invalid(value)
		}
		*[]*float64{&r.Start, &r.End, &r.Step}[i] = v
	}
	return nil
}

// natural reads a whole number from 0 on as a float.
func natural(value string) (float64, error) {
	n, err := whole(value)
	if err != nil || n < 0 {
		return 0, invalid(value)
	}
	return float64(n), nil
}
