// Package args is the command line of vllm bench serve, compiled to a plan. It runs nothing itself.
//
// The flags stand in flags.yaml: reading, the help, the namespace that is printed and the table of
// docs/vllm-bench.md come from there.
package args

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// Program is one of the programs whose command lines these are.
type Program int

// The programs.
const (
	Serve  Program = iota // vllm bench serve
	Script                // benchmark_serving.py of 0.10, and its descendant at InferenceX
)

// Action is what a command line asks for.
type Action struct {
	Plan      *plan.Plan
	Settings  Settings
	Namespace string // what the original prints first
	Warnings  []string
	Help      bool // print Help and stop
	DryRun    bool // print the plan and stop
	Strict    bool // an INVALID verdict changes the exit code
}

// Settings are what a command line says of what is beside the plan, and of the report.
type Settings struct {
	Release        string // of plan.VLLM
	BestOf         int    // of the fork
	Backend, Label string
	Model          string // as results name it
	Tokenizer      string
	Prompts        int // as given
	Metadata       [][2]string
	Rate           float64 // +Inf: none
	Burstiness     float64
	MaxConcurrency int // 0: none
	Ramp           string
	RampFrom       int
	RampTo         int
	SelfTimed      bool
	Metrics        []string
	Percentiles    []float64
	Goodput        map[string]float64 // milliseconds
	Temperature    bool               // one was given
	Warmups        int
	Ready          int  // seconds that the server may take to answer
	Test           bool // the first request is sent once before the run, and must succeed
	Profile        bool
	Base           string // the server's URL
	Main           int    // the stage that is measured
	Save           bool
	Detailed       bool
	Append         bool
	Dir, File      string
	Faithful       bool
}

// World is what Parse sees of the world.
type World struct {
	Getenv   func(string) string
	ReadFile func(string) ([]byte, error)
	// FirstModel asks a server for its first model: its name, and what it was made of.
	FirstModel func(base string, headers map[string]string, insecure bool) (name, root string, err error)
}

// Parse reads a command line, without the program's name and the words bench serve. The error is a
// *UsageError where it has no such form, else a plan.Faults.
func Parse(line []string, p Program, w World) (*Action, error) {
	v, err := read(line, p)
	if err != nil {
		return nil, err
	}
	if v.wanted {
		return &Action{Help: true}, nil
	}
	release := ""
	if p == Script {
		release = plan.VLLMScript
		if v.forked() {
			release = plan.VLLMFork
		}
	}
	for _, f := range v.flags {
		if release == plan.VLLMFork && f.Forked != nil && !v.given[f.Name] {
			v.of[f.Name] = f.Forked
		}
	}
	a := &Action{Namespace: v.namespace(), DryRun: v.bool("dry-run"), Strict: v.bool("strict")}
	if len(v.twice) > 0 {
		a.Warnings = append(a.Warnings, "Found duplicate keys "+strings.Join(v.twice, ", "))
	}
	b := &builder{values: v, world: w, set: &a.Settings, release: release}
	b.refuse()
	b.settings()
	if err := b.faults.Err(); err != nil {
		return nil, err
	}
	a.Plan, err = b.plan()
	return a, err
}

type builder struct {
	*values
	world   World
	set     *Settings
	headers map[string]string
	release string
	faults  plan.Faults
}

func (b *builder) fault(flag, text, hint string) {
	b.faults = append(b.faults, plan.Fault{Where: "--" + flag, Text: text, Hint: hint})
}

// refuse finds what is not supported.
func (b *builder) refuse() {
	for _, f := range b.flags {
		if f.Is == Refused && b.given[f.Name] {
			b.fault(f.Name, "is not supported", f.Why)
		}
	}
	switch set := b.text("dataset-name"); set {
	case "sonnet", "random-mm", "hf", "custom_audio", "custom_image", "spec_bench", "speed_bench", "random-rerank":
		b.fault("dataset-name", set+" is not supported", "")
	}
	if endpoints[b.text("backend")] == "" {
		b.fault("backend", b.text("backend")+" is not supported", "")
	}
}

// endpoints are those of the backends that are supported.
var endpoints = map[string]string{
	"vllm": plan.EndpointCompletions, "openai": plan.EndpointCompletions, "openai-chat": plan.EndpointChat,
	"lmdeploy": plan.EndpointCompletions, "scalellm": plan.EndpointCompletions, "sglang": plan.EndpointCompletions, "llama.cpp": plan.EndpointCompletions,
}

// settings reads what is beside the plan, and checks what the original checks.
func (b *builder) settings() {
	s := b.set
	*s = Settings{
		Release: b.release, Test: b.release == plan.VLLMScript, BestOf: b.int("best-of"),
		Backend: b.text("backend"), Label: b.text("label"), Prompts: b.int("num-prompts"), Rate: b.float("request-rate"), Burstiness: b.float("burstiness"),
		MaxConcurrency: b.int("max-concurrency"), Ramp: b.text("ramp-up-strategy"), RampFrom: b.int("ramp-up-start-rps"), RampTo: b.int("ramp-up-end-rps"),
		Temperature: b.has("temperature"), Warmups: max(b.int("num-warmups"), 0), Ready: b.int("ready-check-timeout-sec"), Profile: b.bool("profile"),
		Save: b.bool("save-result") || b.bool("append-result"), Detailed: b.bool("save-detailed"), Append: b.bool("append-result"),
		Dir: b.text("result-dir"), File: b.text("result-filename"), Faithful: b.bool("faithful"),
	}
	if b.has("max-concurrency") && s.MaxConcurrency <= 0 {
		b.fault("max-concurrency", "must be greater than 0", "")
	}
	b.rampRules()
	b.targetRules()
	b.dataRules()
	s.Metrics = strings.Split("ttft,tpot,itl", ",")
	if list := b.text("percentile-metrics"); list != "" {
		s.Metrics = strings.Split(list, ",")
	}
	for text := range strings.SplitSeq(b.text("metric-percentiles"), ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(p >= 0 && p <= 100) {
			b.fault("metric-percentiles", fmt.Sprintf("%q is no percentile", text), "such as 50,99")
		}
		s.Percentiles = append(s.Percentiles, p)
	}
	s.Goodput = map[string]float64{}
	for _, pair := range b.texts("goodput") {
		name, value, ok := strings.Cut(pair, ":")
		limit, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		switch {
		case !ok || err != nil:
			b.fault("goodput", fmt.Sprintf("%q has no form of an objective", pair), "such as ttft:200 tpot:30, in milliseconds")
		case name != "ttft" && name != "tpot" && name != "e2el":
			b.fault("goodput", fmt.Sprintf("%q is none of ttft, tpot and e2el", name), "")
		case !(limit >= 0):
			b.fault("goodput", pair+" is negative", "")
		}
		s.Goodput[name] = limit
	}
	for _, pair := range b.texts("metadata") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			b.fault("metadata", fmt.Sprintf("%q has no =", pair), "such as tp=2")
		}
		s.Metadata = append(s.Metadata, [2]string{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
}

func (b *builder) rampRules() {
	s := b.set
	switch {
	case s.Ramp == "":
		if s.Rate <= 0 || math.IsNaN(s.Rate) {
			b.fault("request-rate", "must be greater than 0", "")
		}
	case !math.IsInf(s.Rate, 1):
		b.fault("request-rate", "cannot be combined with --ramp-up-strategy, which sets the rate", "leave one of them out")
	case !b.has("ramp-up-start-rps") || !b.has("ramp-up-end-rps"):
		b.fault("ramp-up-strategy", "needs --ramp-up-start-rps and --ramp-up-end-rps", "")
	case s.RampFrom <= 0:
		b.fault("ramp-up-start-rps", "must be greater than 0", "")
	case s.RampFrom > s.RampTo:
		b.fault("ramp-up-start-rps", "is more than --ramp-up-end-rps", "")
	}
	if !(s.Burstiness > 0) {
		b.fault("burstiness", "must be greater than 0", "1 is Poisson, inf a constant rate")
	}
}

func (b *builder) targetRules() {
	s := b.set
	if s.Base = b.text("base-url"); s.Base == "" {
		host := b.text("host")
		if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
			host = "[" + host + "]"
		}
		s.Base = "http://" + host + ":" + strconv.Itoa(b.int("port"))
	}
	ends := map[string]string{plan.EndpointCompletions: "completions", plan.EndpointChat: "chat/completions"}[endpoints[s.Backend]]
	if ends != "" && !strings.HasSuffix(s.Base+b.text("endpoint"), ends) {
		b.fault("endpoint", fmt.Sprintf("must end in %s for --backend %s", ends, s.Backend), "such as /v1/"+ends)
	}
	b.headers = map[string]string{}
	for _, pair := range b.texts("header") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			b.fault("header", "one has no =", "such as X-Tenant=me")
			continue
		}
		b.headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
}

func (b *builder) dataRules() {
	s := b.set
	set := b.text("dataset-name")
	made := set == "random" || set == "prefix_repetition"
	switch {
	case made && b.has("dataset-path"):
		b.fault("dataset-path", "cannot be combined with --dataset-name "+set+", which makes its prompts up", "leave one of them out")
	case !made && !b.has("dataset-path"):
		b.fault("dataset-path", "is missing", "give the file of the data set")
	}
	if set != "custom" && s.Prompts < 1 {
		b.fault("num-prompts", "must be greater than 0", "")
	}
	timed := set == "timed_trace"
	switch {
	case timed && endpoints[s.Backend] != plan.EndpointCompletions:
		b.fault("dataset-name", "timed_trace sends tokens, which only completions take", "use --backend openai")
	case !timed && b.has("self-timed"):
		b.fault("self-timed", "is for --dataset-name timed_trace alone", "leave it out")
	case timed:
		s.SelfTimed = !b.has("self-timed") || b.bool("self-timed")
	}
	if b.has("output-len") && b.int("output-len") < 1 {
		b.fault("output-len", "must be greater than 0", "")
	}
	for _, f := range []string{"seed"} {
		if n := b.int(f); n < 0 || n > math.MaxUint32 {
			b.fault(f, fmt.Sprintf("must be from 0 to %d", math.MaxUint32), "")
		}
	}
}

var errNoModel = errors.New("the server lists no model")
