// Package args is Perf Analyzer's command line: its options in getopt style,
// its defaults and its checks, compiled to a plan. It runs nothing itself.
package args

import (
	"errors"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

// The exit codes of the tool.
const (
	ExitOK       = 0
	ExitUnstable = 2  // the only level was not stable
	ExitOption   = 3  // a bad option, or a window in which nothing ended
	ExitGeneric  = 99 // anything else
)

// Service kinds, as the option names them.
const (
	Triton     = "triton"
	OpenAI     = "openai"
	TFServing  = "tfserving"
	TorchServe = "torchserve"
	TritonCAPI = "triton_c_api"
)

// Kinds of load.
const (
	LoadConcurrency = "concurrency"
	LoadRate        = "rate"
	LoadIntervals   = "intervals"
	LoadSchedule    = "schedule"
	LoadSessions    = "sessions"
	LoadPeriodic    = "periodic" // concurrency that grows as responses come
)

// Action is what a command line asks for.
type Action struct {
	Plan     *plan.Plan
	Warnings []string
	Help     bool // print Help and stop; there is no plan
	Version  bool // print the version and stop; there is no plan
	DryRun   bool // print the plan and stop
	Strict   bool // an INVALID verdict changes the exit code

	Verbose        int // how often -v was given
	Service        string
	Load           string
	Async          bool
	Sync           bool // --sync: not even a model with sequences is asked asynchronously
	Streaming      bool
	GRPC           bool
	Batch          int
	ShowBatch      bool    // the settings name the batch size
	CountWindows   bool    // --measurement-mode count_windows
	WindowMS       int64   // --measurement-interval
	WindowRequests int64   // --measurement-request-count
	RequestCount   int64   // --request-count; 0: none
	Warmup         int64   // --warmup-request-count
	Percentile     int     // 0: the average
	Threshold      int64   // --latency-threshold, in ms; 0: none
	Concurrency    Range   // as given
	Rate           Range   // as given
	Periodic       Range   // --periodic-concurrency-range
	Period         int64   // --request-period
	Poisson        bool    //
	Binary         bool    // --binary-search
	Endpoint       string  // --endpoint
	CSV            string  // -f
	VerboseCSV     bool    //
	Export         string  // --profile-export-file
	Metrics        bool    // --collect-metrics
	Single         bool    // one level alone
	MaxTrials      int     //
	Threads        int     // --max-threads: those of synchronous calls
	Stability      float64 // as a share
}

// Range is start:end:step. Perf Analyzer's defaults are 1:1:1: a single value leaves an end of 1.
type Range struct{ Start, End, Step float64 }

// Files is how the command line looks at files.
type Files struct {
	Read func(name string) ([]byte, error)
	// Kind is "file", "dir" or "" for what is not there.
	Kind func(name string) string
}

// Parse reads a command line, without the program's name. The error is a *UsageError,
// or a plan.Faults; beside it the action has the warnings so far, and no plan.
func Parse(args []string, files Files) (*Action, error) {
	s := defaults(files)
	opts, rest, wrong := getopt(s.options(), args)
	for _, o := range opts {
		if err := s.oneLoad(o.name()); err != nil {
			return s.refuse(err)
		}
		if err := o.set(o.value); err != nil {
			return s.refuse(failed(o, err))
		}
		if s.version { // what follows is not looked at
			return &Action{Version: true, Warnings: s.warnings}, nil
		}
		s.given[o.name()] = true
	}
	switch {
	case wrong != nil:
		return s.refuse(wrong)
	case s.help:
		return &Action{Help: true}, nil
	}
	for _, r := range rest {
		s.warn("%s is not an option and has no effect", strconv.Quote(shorten(r)))
	}
	s.resolve()
	if err := s.verify(); err != nil {
		return s.refuse(err)
	}
	s.endSearch()
	p, err := s.plan()
	if err != nil {
		return s.refuse(err)
	}
	a := s.action
	a.Plan, a.Warnings = p, s.warnings
	return &a, nil
}

// refuse is the outcome of a command line that says nothing to be done.
func (s *settings) refuse(err error) (*Action, error) {
	return &Action{Warnings: s.warnings}, err
}

// failed is the message about a value that an option does not take.
func failed(o given, err error) error {
	var u *UsageError
	if errors.As(err, &u) {
		return u
	}
	var none *invalidValue
	if errors.As(err, &none) {
		return usage("Failed to parse %s. %s", o.called(), none)
	}
	name := o.name()
	if o.long != "" && o.short != 0 {
		name += " (-" + string(o.short) + ")"
	}
	return usage("Failed to parse %s. %s", name, err)
}

// unknown is the message about an option that does not exist.
func unknown(table []option, name string) error {
	var names []string
	for i := range table {
		if table[i].long != "" {
			names = append(names, table[i].long)
		}
	}
	hint := ""
	if n := suggest.Name(name, names); n != "" {
		hint = "; did you mean '--" + n + "'?"
	}
	return usage("Invalid long option '--%s'%s", printable(name), hint)
}

// printable is a piece of a command line that fits a line of text.
func printable(s string) string {
	quoted := strconv.Quote(shorten(s))
	return quoted[1 : len(quoted)-1]
}

func shorten(s string) string { return truncate.Text(s, 60) }
