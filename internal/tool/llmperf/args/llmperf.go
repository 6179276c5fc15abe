// Package args is llm_perf's command line, compiled to a plan. It runs nothing
// itself.
package args

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// Action is what a command line asks for.
type Action struct {
	Plan     *plan.Plan
	Warnings []string
	Help     bool // print Help and stop; there is no plan
	DryRun   bool // print the plan and stop
	Strict   bool // an INVALID verdict changes the exit code

	URI      string // as given
	Protocol string
	Model    string
	Results  string // --profile-export-file
	Prompts  int    // in the file; each is sent once per level
	Faithful bool   // the original's figures where they are wrong
}

type flags struct {
	uri, protocol, model, data, tokenizer, export, out string
	concurrency                                        levelTexts
	interval, timeout                                  float64
	output                                             int
	streaming, whole, dryRun, strict, faithful, help   bool
}

func (f *flags) set() *pflag.FlagSet {
	s := pflag.NewFlagSet("llm_perf", pflag.ContinueOnError)
	s.SortFlags = false
	s.StringVarP(&f.uri, "uri", "u", "localhost:8001", "server address")
	s.StringVarP(&f.protocol, "protocol", "i", "grpc", "grpc or http")
	s.StringVarP(&f.model, "triton-model", "m", "ensemble", "model name")
	f.concurrency = levelTexts{"1,4,8"}
	s.Var(&f.concurrency, "concurrency", "concurrency levels, such as 1,4,8")
	s.StringVar(&f.data, "input-data", "", "prompts: JSON lines with an \"input\" each; required")
	s.StringVar(&f.tokenizer, "tokenizer-path", "", "model tokenizer: file or directory; default: GPT-2's")
	s.Float64Var(&f.interval, "measurement-interval", 0, "seconds between levels")
	s.StringVar(&f.export, "profile-export-file", DefaultResults, "JSON file for the figures and every request; earlier results are overwritten")
	s.IntVar(&f.output, "output-len", 300, "maximum output tokens, unless the prompt's line sets its own")
	s.Float64Var(&f.timeout, "timeout", 120, "seconds without a byte of the response after which a request fails")
	s.BoolVar(&f.streaming, "streaming", true, "stream responses")
	s.BoolVar(&f.whole, "no-streaming", false, "request whole responses")
	s.StringVar(&f.out, "out", "", "directory for inferometer's own records and reports")
	s.BoolVar(&f.faithful, "faithful", false, "reproduce the original: its sampling inputs, no time to first response over HTTP (-1), and 30 seconds between levels")
	s.BoolVar(&f.strict, "strict", false, "exit with 1 if the measurement is INVALID")
	s.BoolVar(&f.dryRun, "dry-run", false, "print the equivalent plan file and exit")
	s.BoolVarP(&f.help, "help", "h", false, "print this help")
	return s
}

// DefaultResults is the file that the original writes.
const DefaultResults = "profiling_results.json"

// Help is the text of --help.
func Help() string {
	return "Measure a language model on Triton with your own prompts, each sent once per concurrency level.\n\nUsage: llm_perf --input-data FILE [flags]\n\n" +
		new(flags).set().FlagUsagesWrapped(100)
}

// Manual describes the command, for man pages and completion.
func Manual() clidoc.Command {
	flags := clidoc.OfSet(new(flags).set())
	for i := range flags {
		switch f := &flags[i]; f.Name {
		case "input-data", "tokenizer-path", "profile-export-file":
			f.Takes = clidoc.AnyFile
		case "out":
			f.Takes = clidoc.Directories
		case "protocol":
			f.Values = []string{"grpc", "http"}
		}
	}
	return clidoc.Command{
		Name:   "llm_perf",
		About:  "Measure a language model on Triton with your own prompts, each sent once per concurrency level.",
		Usage:  []clidoc.Usage{{Line: "llm_perf --input-data FILE [flags]"}},
		Groups: []clidoc.Group{{Title: "Flags", Flags: flags}},
		Page:   "llm_perf",
	}
}

// Parse reads a command line, without the program's name. readFile reads the prompts,
// exists says whether there is a file of a name. The error is a plan.Faults.
func Parse(args []string, readFile func(name string) ([]byte, error), exists func(name string) bool) (*Action, error) {
	var f flags
	set := f.set()
	p := &parser{flags: &f}
	rest, err := scan(set, args)
	if f.help {
		return &Action{Help: true}, nil
	}
	if err != nil {
		p.fault("", err.Error(), "see --help")
		return nil, p.faults
	}
	for _, arg := range rest {
		p.fault("", strconv.Quote(shorten(arg))+" is not a flag", "see --help")
	}
	n := p.count(readFile)
	p.results(readFile, exists)
	if f.faithful && !set.Changed("measurement-interval") {
		f.interval = originalInterval
	}
	draft := p.draft(n, set.Changed("streaming"))
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	made, err := draft.Finish()
	if err != nil {
		return nil, err
	}
	a := &Action{Plan: made, DryRun: f.dryRun, Strict: f.strict, URI: f.uri, Protocol: strings.ToLower(f.protocol), Model: f.model,
		Results: f.export, Prompts: n, Faithful: f.faithful}
	if f.tokenizer == "" {
		a.Warnings = append(a.Warnings, "tokens are counted with GPT-2's tokenizer, not the model's: pass --tokenizer-path")
	}
	return a, nil
}

type parser struct {
	*flags
	faults plan.Faults
}

func (p *parser) fault(where, text, hint string) {
	p.faults = append(p.faults, plan.Fault{Where: where, Text: text, Hint: hint})
}

func (p *parser) count(readFile func(string) ([]byte, error)) int {
	if p.data == "" {
		p.fault("--input-data", "is missing", "give a file of JSON lines, each with an \"input\"")
		return 0
	}
	data, err := readFile(p.data)
	if err != nil {
		p.fault("--input-data", "cannot be read: "+strings.ReplaceAll(err.Error(), "\n", " "), "")
		return 0
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	if n == 0 {
		p.fault("--input-data", p.data+" holds no prompts", "give one on each line")
	}
	return n
}

const (
	mostInterval     = 86400 // a day
	originalInterval = 30
)

// draft puts the plan together. n is the number of prompts.
func (p *parser) draft(n int, streamingGiven bool) *planfile.Draft {
	d := planfile.NewDraft()
	q := &d.Plan
	q.Data = plan.Data{Source: plan.SourceFile, File: p.data}
	if p.output < 1 {
		p.fault("--output-len", "must be 1 or more, is "+strconv.Itoa(p.output), "")
	} else {
		q.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: float64(p.output)}
	}
	if p.tokenizer != "" {
		q.Tokenizer = plan.Tokenizer{Name: p.tokenizer}
	}
	q.Budgets.ShortOutput = 1 // prompts of the world end when they end
	if !(p.interval >= 0 && p.interval <= mostInterval) {
		p.fault("--measurement-interval", fmt.Sprintf("must be from 0 to %d seconds, is %v", mostInterval, p.interval), "")
	}
	if !(p.timeout > 0 && p.timeout <= mostInterval) {
		p.fault("--timeout", fmt.Sprintf("must be more than 0 and at most %d seconds, is %v", mostInterval, p.timeout), "")
	}
	gap := plan.Duration(math.Round(p.interval * float64(time.Second)))
	q.Stages = nil
	for c := range p.levels() {
		st := plan.Stage{Concurrency: c, Requests: int64(n)}
		if len(q.Stages) > 0 {
			st.Gap = gap
		}
		q.Stages = append(q.Stages, st)
	}
	if p.streaming && streamingGiven && p.whole {
		p.fault("--no-streaming", "cannot be combined with --streaming", "use one of them")
	}
	p.target(&q.Target)
	silence := plan.Duration(math.Round(p.timeout * float64(time.Second)))
	q.Target.Timeouts.FirstByte, q.Target.Timeouts.Stall = silence, silence
	q.Target.Timeouts.Request = max(q.Target.Timeouts.Request, silence)
	q.Output = plan.Output{Dir: p.out}
	return d
}

func (p *parser) target(t *plan.Target) {
	t.Protocol, t.Model = plan.ProtocolTriton, p.model
	t.Streaming = p.streaming && !p.whole
	if p.faithful {
		t.Body = map[string]any{"temperature": 1.0, "top_k": int64(1), "top_p": 0.0, "beam_width": int64(1), "repetition_penalty": 1.0, "length_penalty": 1.0, "random_seed": int64(0)}
	}
	switch strings.ToLower(p.protocol) {
	case "grpc":
		t.Transport, t.Endpoint = plan.TransportGRPC, plan.EndpointStream
		t.URLs = []string{withScheme(p.uri, "grpc")}
	case "http":
		t.Transport, t.Endpoint = plan.TransportHTTP, plan.EndpointGenerate
		t.URLs = []string{withScheme(p.uri, "http")}
	default:
		p.fault("--protocol", strconv.Quote(shorten(p.protocol))+" is neither grpc nor http", "")
	}
}

// results looks whether the file can be written: results of before are replaced, as the
// original does, and anything else is kept.
func (p *parser) results(readFile func(string) ([]byte, error), exists func(string) bool) {
	const flag = "--profile-export-file"
	switch dir := filepath.Dir(p.export); {
	case p.export == "":
		p.fault(flag, "is empty", "name a file, or leave it out for "+DefaultResults)
	case exists(p.export):
		var levels map[string]struct {
			Metrics json.RawMessage `json:"metrics"`
		}
		data, err := readFile(p.export)
		if err == nil && len(data) == 0 {
			return
		}
		if err == nil {
			err = json.Unmarshal(data, &levels)
		}
		for _, l := range levels {
			if l.Metrics == nil {
				err = errors.New("no results")
			}
		}
		if err != nil {
			p.fault(flag, p.export+" exists and does not hold llm_perf results", "choose another name, or remove it")
		}
	case dir != "." && !exists(dir):
		p.fault(flag, "there is no directory "+dir, "create it, or choose another file")
	}
}

func withScheme(address, scheme string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return scheme + "://" + address
}

func shorten(s string) string { return truncate.Text(s, 40) }
