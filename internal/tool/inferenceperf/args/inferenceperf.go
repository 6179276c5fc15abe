// Package args is the command line and the config file of inference-perf. It
// turns them into a plan and the settings of a run in that tool's dialect, or into all
// the faults that they have, and runs nothing itself.
//
// The schema stands in tables: reading, flags, the effective config and docs/inference-perf-config.md
// come from them.
package args

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// The things that a command line can ask for.
const (
	Run     = "run"
	Analyze = "analyze"
	Help    = "help"
	Version = "version"
)

// UsualFile is the config file that is read where there are no arguments.
const UsualFile = "config.yml"

// Action is what a command line asks for.
type Action struct {
	Command  string // one of the above
	Plan     *plan.Plan
	Options  Options
	Warnings []string
	DryRun   bool   // print the plan and stop
	Strict   bool   // a result that cannot be trusted is a failure
	LogLevel string // DEBUG, INFO, WARNING, ERROR or CRITICAL
	File     string // the config file; empty: there was none
	Config   []byte // the config that is in force, as YAML, without secrets

	Dirs        []string // of Analyze
	Unified     string   // directory of overlaid charts; empty: none
	Percentiles []string // of the charts; none: means

	origin func(path string) (where, at string) // the place of the config that a path of the plan comes from
}

// Options are what a config says beyond the plan.
type Options struct {
	Lifecycle  LifecycleReports
	Prometheus PrometheusReports
	Sessions   SessionReports
	// Goodput holds the longest times in seconds by ttft, tpot, itl, ntpot and
	// request_latency; nil means no goodput is reported.
	Goodput     map[string]float64
	Constraints map[string]float64 // those of the config alone, or nil
	Dir         string             // where reports go; empty: nowhere but the screen
	Prefix      string             // of the reports' names
	HubToken    string             // access token of the hub; empty: that of the environment
	// TokenizerGiven: a tokenizer stands in the config, so answers are counted with it.
	TokenizerGiven   bool
	TokenizerTimeout time.Duration // of loading it; 0: none
	Server           string        // "vllm", "sglang", "tgi" or "mock"
	Configured       int           // stages of the config; those that send nothing are not in the plan
	Stages           []int         // number of each of the plan's stages among those of the config
	TraceRates       []float64     // rates of stages that go by a trace, which only reports have a use for
	UserSessions     bool          // sessions are those of users
	Faithful         bool          // where the original has its own ways, those
}

// StageNumber is the number in the config of one of the plan's stages. Steps of a search for the
// saturation, which are below 0, and stages that it makes keep their own.
func (o *Options) StageNumber(i int) int {
	if i >= 0 && i < len(o.Stages) {
		return o.Stages[i]
	}
	return i
}

// LifecycleReports say which reports of requests are written.
type LifecycleReports struct {
	Summary, PerStage, PerRequest, PerAdapter, PerAdapterStage bool
	Fields                                                     RequestFields
	Percentiles                                                []float64
	ServerTokens                                               bool // count responses by what the server says
	MaxErrorMessages                                           int
}

// RequestFields are what an entry of the report of single requests has.
type RequestFields struct{ Request, Response, Info, Chunks, Metrics bool }

// PrometheusReports say which reports of the server's own metrics are written.
type PrometheusReports struct{ Summary, PerStage bool }

// SessionReports say which reports of sessions are written.
type SessionReports struct{ Summary, PerStage, PerSession bool }

// World is what Parse sees of the world.
type World struct {
	ReadFile func(string) ([]byte, error)
	Now      time.Time
}

// RecordsDir is the directory within that of the reports in which inferometer keeps its
// own files.
const RecordsDir = "inferometer"

// Parse reads the arguments of `inference-perf` and the config file that they name.
// The error is a plan.Faults with everything that is wrong.
func Parse(args []string, w World) (*Action, error) {
	a := &Action{Command: Run, LogLevel: "INFO"}
	c := &command{Action: a}
	c.scan(args)
	switch {
	case c.help:
		return &Action{Command: Help}, nil
	case c.version:
		return &Action{Command: Version}, nil
	case a.Command == Analyze:
		return a, faultsOf(c.faults)
	case len(args) == 0:
		a.File = UsualFile
	}
	schema := root()
	tree := &value{kind: object}
	faults := c.faults
	if a.File != "" {
		text, err := w.ReadFile(a.File)
		if err != nil {
			return nil, append(faults, fileFault(a.File, err, len(args) == 0))
		}
		r := &reader{file: a.File}
		switch node, fault := document.Parse(a.File, text); {
		case fault != nil:
			r.faults = append(r.faults, *fault)
		case node != nil:
			tree = r.read(&schema, node, "", tree)
		}
		a.Warnings = append(a.Warnings, r.passed...)
		r.faults = slices.DeleteFunc(r.faults, c.replaces)
		faults = append(faults, r.faults...)
		if len(r.faults) > 0 && tree.where == "" {
			return nil, faults // nothing of it could be read
		}
	}
	for _, o := range c.overrides {
		r := &reader{file: o.flag.name}
		tree = r.read(&schema, o.node(r), "", tree)
		a.Warnings = append(a.Warnings, r.passed...)
		faults = append(faults, r.faults...)
	}
	complete(&schema, tree, "", func(v *value, path string) {
		faults = append(faults, plan.Fault{Where: v.where, Path: path, Text: "is missing"})
	})
	b := &builder{tree: tree, action: a, faults: faults, now: w.Now}
	a.origin = b.locate
	b.build()
	if err := faultsOf(b.faults); err != nil {
		return nil, err
	}
	a.Config = b.echo(&schema)
	return a, nil
}

func faultsOf(f plan.Faults) error {
	if len(f) == 0 {
		return nil
	}
	for i := range f {
		f[i].Where, f[i].Path = flagged(f[i].Where, f[i].Path)
	}
	return f
}

// flagged names the key that is wrong where a flag of another name has brought it about. What
// a flag says nothing of is missing elsewhere.
func flagged(where, path string) (string, string) {
	flag, ok := strings.CutPrefix(where, "--")
	if !ok || path == "" || path == flag {
		return where, path
	}
	section, _, _ := strings.Cut(flag, ".")
	if !within(path, section) {
		return "", path
	}
	return where + ": " + path, ""
}

func fileFault(name string, err error, usual bool) plan.Fault {
	f := plan.Fault{Where: name, Text: "cannot be read: " + err.Error()}
	if errors.Is(err, fs.ErrNotExist) {
		f.Text = "there is no such file"
		f.Hint = "pass one with --config_file"
		if usual {
			f.Text = "without arguments the config is read from this file, which does not exist"
		}
	}
	return f
}

// seconds is a time in a plan's form. What does not fit is longer than a plan allows.
func seconds(v float64) plan.Duration { return plan.Duration(min(v*float64(time.Second), 1<<62)) }

func (b *builder) warn(format string, args ...any) {
	b.action.Warnings = append(b.action.Warnings, fmt.Sprintf(format, args...))
}
