// Package args is the command line of NVIDIA's GenAI-Perf, of all its releases.
// It turns arguments into a plan and the settings of a run in that tool's dialect, or
// into all the faults that they have, and runs nothing itself.
package args

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// The things that a command line can ask for.
const (
	Profile  = "profile"
	Analyze  = "analyze"
	Help     = "help"
	Version  = "version"
	Template = "create-template"
	Compare  = "compare"
	Merge    = "process-export-files"
)

// Action is what a command line asks for.
type Action struct {
	Command  string // one of the above
	Plan     *plan.Plan
	Settings Settings
	Notes    []string // worth telling the user
	DryRun   bool     // print the plan and stop
	Strict   bool     // a result that cannot be trusted is a failure
	InputDir string   // of Merge: the directory of the runs
	File     string   // of Template and Compare: the config that is written; empty: none
	Charts   []Chart  // of Compare: what is drawn

	Levels []*Action // of Analyze: a run for each value

	flags map[string]string // that keys of the plan come from
}

// Settings are what a command line says beyond the plan, and what its reports repeat.
type Settings struct {
	Release  string // whose command line it is: 24.03, 24.04 or the last
	Shape    string // the release whose reports are written
	Faithful bool
	Verbose  bool // -v
	// AnalyzerVerbose is -v of Perf Analyzer: of a config file, or behind "--".
	AnalyzerVerbose bool

	Models       []string
	PickRandom   bool   // the model of a prompt is drawn, not taken in turn
	ServiceKind  string // "triton" or "openai"
	EndpointType string // "chat", "completions", "kserve" and so on
	Backend      string // "tensorrtllm" or "vllm"
	Template     string // file that makes bodies, of the endpoint type template
	Endpoint     string // path without the slash in front
	URL          string // as the user gave it; empty: not given
	GRPCMethod   string // repeated by reports, and nothing else
	Streaming    bool

	Concurrency int // 0: there is a rate
	Rate        float64
	Interval    time.Duration // of one measurement; 0: it is counted
	Requests    int           // measured; 0: it is timed
	// RequestsGiven: the user named that number.
	RequestsGiven bool
	// ToldRequests and ToldInterval are how long sessions and schedules were said to be, which
	// end by themselves; reports repeat it.
	ToldRequests int
	ToldInterval time.Duration
	Warmup       int
	Stability    float64 // percent
	// before is the settings, which reports repeat, ahead of what follows "--"; nil: nothing does.
	before *Settings

	InputMean, InputStddev   int
	OutputMean, OutputStddev int // a mean of 0: the server's choice
	Prefixes, PrefixLength   int // prompts to choose a common beginning from, and their length
	Deterministic            bool
	InWords                  int // ask for this many tokens in the words of the prompt
	Prompts                  int
	Seed                     int
	Dataset                  string // name of a dataset of the hub; empty: none
	InputFile                string
	PayloadFile              string   // of requests with their times, sessions and lengths
	SyntheticFiles           []string // of --input-file synthetic:, such as queries and passages
	FixedSchedule            bool     // each request of the payload file goes at its own time
	Batch                    int      // texts in a request
	Extra                    []Extra
	Headers                  []string
	Goodput                  []Objective
	MetricsURLs              []string

	Sessions, SessionConcurrency   int // conversations, and how many at a time
	TurnsMean, TurnsStddev         float64
	TurnDelayMean, TurnDelayStddev float64 // ms
	DelayRatio                     float64 // factor on delays

	ImageWidthMean, ImageWidthStddev   int // pixels; a mean of 0: no images
	ImageHeightMean, ImageHeightStddev int
	ImageFormat                        string    // "png" or "jpeg"
	BatchImage, BatchAudio             int       // how many in a request
	AudioLengthMean, AudioLengthStddev float64   // seconds; a mean of 0: no audio
	AudioFormat                        string    // "wav" or "mp3"
	AudioDepths                        []int     // bits, to draw from
	AudioRates                         []float64 // kHz, to draw from
	AudioRatesGiven                    bool
	AudioChannels                      int

	Tokenizer         string
	TokenizerRevision string
	TokenizerGiven    bool // the user named it
	TrustRemoteCode   bool // as the user said; no code is ever fetched

	Plots      bool   // charts are drawn
	Checkpoint string // directory of what was measured, which is not measured again; empty: none
	// CheckpointDir is where that would be, were it asked for.
	CheckpointDir string
	Sweep         Sweep // that the run is a level of

	// Dir is where all files go; its parent, "artifacts" or what the user gave, is Artifacts.
	Dir, Artifacts string
	ExportFile     string // name of the file of all requests, within Dir
	InputsFile     string // name of the file of all prompts, within Dir
}

// Typed are the settings as the flags of genai-perf itself have them, without what follows "--".
func (s *Settings) Typed() *Settings {
	if s.before == nil {
		return s
	}
	typed, b := *s, s.before
	typed.AnalyzerVerbose, typed.URL, typed.Headers = b.AnalyzerVerbose, b.URL, b.Headers
	typed.Requests, typed.RequestsGiven, typed.Interval = b.Requests, b.RequestsGiven, b.Interval
	typed.Warmup, typed.Stability = b.Warmup, b.Stability
	return &typed
}

// Analyzed reports whether what Perf Analyzer says is shown.
func (s *Settings) Analyzed() bool { return s.Verbose || s.Typed().AnalyzerVerbose }

// Sweep is what changes from run to run; the zero Sweep is none.
type Sweep struct {
	Kind     string // such as "concurrency"
	Min, Max int    // by powers of two; or
	List     []int
}

// Extra is a field added to every request.
type Extra struct {
	Name  string
	Value any
}

// Objective is a good request's: at most so many ms, or, of a throughput, at least so much per
// second.
type Objective struct {
	Metric string
	Value  float64
}

// Parser reads command lines. What it lacks is refused where a command line asks for it.
type Parser struct {
	// Analyzer reads a command line of Perf Analyzer, for the flags behind "--".
	Analyzer func(args []string) (*Passed, error)
	// ReadFile reads a config file.
	ReadFile func(name string) ([]byte, error)
}

// UsageError is what is wrong with the form of a command line: flags that there are not,
// values that cannot be, and such as exclude each other.
type UsageError struct{ plan.Faults }

// Unwrap gives the faults.
func (e *UsageError) Unwrap() error { return e.Faults }

// Parse reads the arguments of `genai-perf`. The error is a plan.Faults with
// everything that is wrong, in a UsageError where the form is.
func (r Parser) Parse(args []string) (*Action, error) {
	if len(args) == 0 {
		return &Action{Command: Help}, nil
	}
	v := scan(args)
	malformed := len(v.faults) > v.beyond || v.command == "config" && !v.given("file") ||
		v.loads() > 1 || v.says("interval") && v.says("request-count") || v.command == Profile && v.sweeps()
	a, err := r.read(v)
	var faults plan.Faults
	if malformed && errors.As(err, &faults) {
		err = &UsageError{faults}
	}
	return a, err
}

// loads is how many flags there are that exclude each other; a sweep of one wins over it.
func (v *values) loads() int {
	n := 0
	for _, key := range []string{"concurrency", "request-rate", "fixed-schedule"} {
		if v.says(key) && (v.command != Analyze || key == "fixed-schedule") {
			n++
		}
	}
	return n
}

func (v *values) sweeps() bool {
	return v.given("sweep-type") || v.given("sweep-range") || v.given("sweep-list")
}

// read works out what a command line means.
func (r Parser) read(v *values) (*Action, error) {
	switch {
	case v.given("help"):
		return &Action{Command: Help}, nil
	case v.given("version"):
		return &Action{Command: Version}, nil
	}
	switch v.command {
	case Template:
		return v.template()
	case "config":
		v.config(r.ReadFile)
	}
	release := v.recognise()
	if v.given("release") {
		r, err := forced(v.text("release", ""))
		if err != nil {
			v.fault("--genai-perf-release", err.Error(), "")
		} else {
			release = r
		}
	}
	b := &builder{values: v, a: &Action{Command: Profile, flags: v.flagsOf()}, analyzer: r.Analyzer}
	b.a.Settings.Release, b.a.Settings.Shape = release, v.shape(release)
	b.a.Notes = v.foreign(release)
	if shape := b.a.Settings.Shape; release == ReleaseLast && shape != ReleaseLast && !v.given("release") {
		b.warn("reports are written as by %s, the first release with all of these flags; choose another with --genai-perf-release", shape)
	}
	b.a.DryRun, b.a.Strict = v.given("dry-run"), v.given("strict")
	switch v.command {
	case Merge:
		return b.merge()
	case Compare:
		return b.compare(r.ReadFile)
	case Analyze:
		return b.analyze()
	}
	b.refuse()
	if len(v.faults) > 0 && v.command != "" && v.command != Profile {
		return nil, v.faults
	}
	b.settings()
	b.plan()
	return b.done()
}

func (v *values) template() (*Action, error) {
	v.allow(Template, "it takes -f and -v", "file", "verbose")
	if len(v.faults) > 0 {
		return nil, v.faults
	}
	return &Action{Command: Template, File: v.text("file", usualConfig), Settings: Settings{Verbose: v.given("verbose")}}, nil
}

// merge reads the flags of process-export-files.
func (b *builder) merge() (*Action, error) {
	s := &b.a.Settings
	b.a.Command, b.a.InputDir = Merge, b.text("input-directory", "aggregated")
	s.Artifacts, s.ExportFile, s.Verbose = b.text("artifact-dir", "artifacts"), b.text("export-file", "profile_export.json"), b.given("verbose")
	s.Faithful, s.Tokenizer, s.TokenizerGiven = b.given("faithful"), b.text("tokenizer", ""), true
	s.TokenizerRevision = b.text("tokenizer-revision", "")
	s.CheckpointDir, s.Plots = b.text("checkpoint-dir", "checkpoint"), b.given("plots") // said in input_config, and without effect
	if b.given("checkpointing") {
		s.Checkpoint = s.CheckpointDir
	}
	b.allow(Merge, "it takes -d, --artifact-dir and --profile-export-file", "input-directory", "artifact-dir", "export-file", "faithful", "tokenizer", "tokenizer-revision", "verbose", "release",
		"checkpoint-dir", "plots", "checkpointing")
	b.faultIf(filepath.Base(s.ExportFile) != s.ExportFile, "--profile-export-file", "must be a name, not a path", "give the directory with --artifact-dir")
	return b.done()
}

func (b *builder) done() (*Action, error) {
	if len(b.faults) > 0 {
		return nil, b.faults
	}
	return b.a, nil
}
