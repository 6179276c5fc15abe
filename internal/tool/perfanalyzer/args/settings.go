package args

import (
	"fmt"
	"math"
	"slices"
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

	given map[string]bool // options, by their names
	mode  string          // of the load, if an option says it

	url, metricsURL             string
	metricsMS                   int64
	model, modelVersion, out    string
	protocol                    string // "http", "grpc" or what was given
	windows                     string // --measurement-mode
	zero                        bool
	data                        []string
	shapes                      []string
	stringLength                int
	stringData                  string
	sharedMemory                string
	outputSharedMemory          int64
	compression                 string
	inputFormat, outputFormat   string
	headers                     map[string]string
	parameters                  map[string]any
	parametersGiven             bool   // --request-parameter, of whatever type
	badParameter                string // what is wrong with one
	percentile                  int    // --percentile; 0 for what is not a number
	composing                   []string
	signature                   string
	intervals                   []plan.Duration
	schedule                    bool
	sessions                    int64
	sequences                   int // --num-of-sequences
	sequenceLength              int
	variation                   float64 // in per cent
	firstID, ids                int64
	idsGiven                    bool
	serial, mpi                 bool
	tls, grpcTLS                plan.TLS
	useTLS                      bool
	trace                       map[string]string
	serverDirectory, repository string
	faithful                    bool
	grpcMethod                  string
}

func defaults(files Files) *settings {
	return &settings{
		files: files, given: map[string]bool{}, url: "localhost:8000", protocol: "http", metricsMS: 1000, stringLength: 128,
		sharedMemory: "none", outputSharedMemory: 102400, headers: map[string]string{}, parameters: map[string]any{},
		sequences: 4, sequenceLength: 20, variation: 20, firstID: 1, percentile: -1,
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

type invalidValue struct{ value string }

// Error is what the original reports of it.
func (v *invalidValue) Error() string { return "Invalid value provided: " + printable(v.value) }

func invalid(value string) error { return &invalidValue{value} }

func parseInteger(value string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		return 0, invalid(value)
	}
	return n, nil
}

func decimal(value string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, invalid(value)
	}
	return f, nil
}

// atLeast is an option whose value is an integer, least or more; otherwise says what is wrong.
func atLeast[T int | int64](to *T, least T, otherwise string) func(string) error {
	return func(value string) error {
		n, err := parseInteger(value)
		if err == nil && T(n) < least {
			err = sentence("%s", otherwise)
		}
		*to = T(n)
		return err
	}
}

// percent is an option whose value is a share in per cent.
func percent(to *float64) func(string) error {
	return func(value string) error {
		f, err := decimal(value)
		if err == nil && f < 0 || strings.EqualFold(strings.TrimSpace(value), "nan") {
			err = sentence("The value must be >= 0.0.")
		}
		*to = f / 100
		return err
	}
}

// toggle is an option without a value.
func toggle(to *bool) func(string) error {
	return func(string) error {
		*to = true
		return nil
	}
}

// text is an option whose value is taken as it is.
func text(to *string) func(string) error {
	return func(value string) error {
		*to = value
		return nil
	}
}

// old is an option that has another in its place by now.
func (s *settings) old(name, instead string, set func(string) error) func(string) error {
	return func(value string) error {
		s.warn("%s is deprecated and will be removed in an upcoming version. Use %s instead.", name, instead)
		return set(value)
	}
}

// oneOf is an option whose value is one of a few words.
func oneOf(to *string, list string, words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return sentence("Unsupported type provided: '%s'. The available options are %s.", printable(value), list)
		}
		*to = value
		return nil
	}
}

// file is an option whose value names a file.
func (s *settings) file(to *string) func(string) error {
	return func(value string) error {
		if s.files.Kind(value) != "file" {
			return sentence("The value must be a valid file path.")
		}
		*to = value
		return nil
	}
}

// span is an option whose value is start:end:step; what is left out stays what it was.
func span(r *Range, read func(string) (float64, error)) func(string) error {
	return func(value string) error {
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
}

// natural reads an integer from 0 on as a float.
func natural(value string) (float64, error) {
	n, err := parseInteger(value)
	if err != nil || n < 0 {
		return 0, invalid(value)
	}
	return float64(n), nil
}
