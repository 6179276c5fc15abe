package args

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// The studies.
const (
	StudyPrefill    = "prefill"
	StudyGeneration = "generation"
)

// StudyAction is what a `study` command line asks for: one run for each length of prompt.
type StudyAction struct {
	Kind     string // StudyPrefill or StudyGeneration
	Runs     []StudyRun
	Warnings []string
	Out      string // directory of charts and runs; empty: charts go to the current one
	NoChart  bool   // write no picture
	DryRun   bool   // print the plans and stop
	Strict   bool   // an INVALID verdict changes the exit code
	Help     Help   // print it and stop
}

// StudyRun is one length.
type StudyRun struct {
	Length int // of its prompts, in tokens
	Plan   *plan.Plan
}

// What a study does where the command line does not say.
const (
	studyLengths    = "16,64,256,1024,4096"
	studyRequests   = "10"
	studyWarmup     = "1"
	prefillTokens   = "1"
	generatedTokens = "256"
)

// studyGroups are the flags of `inferometer study`: its own, and `run`'s about the server and
// tokens.
func studyGroups() []group {
	groups := groupsOf("Study")
	mine := map[string]bool{}
	for _, o := range groups[0].options {
		mine[o.name] = true
	}
	// What says how much is asked, or what, is the study's own.
	for _, name := range []string{"input-tokens", "input-file", "prompts", "ignore-eos", "no-stream", "input-data", "shape", "batch-size", "string-length", "string-data", "sequences", "sequence-length", "goodput", "json", "all", "quiet", "name", "keep", "html", "export"} {
		mine[name] = true
	}
	for _, g := range runGroups() {
		if slices.Contains([]string{"Load", "Levels and windows", "Several runs", "Workers", "Telemetry"}, g.title) {
			continue
		}
		kept := group{title: g.title}
		for _, o := range g.options {
			if !mine[o.name] {
				kept.options = append(kept.options, o)
			}
		}
		if len(kept.options) > 0 {
			groups = append(groups, kept)
		}
	}
	return append(groups, groupsOf("Seed")...)
}

// Study reads the arguments of `inferometer study`. The error is a plan.Faults.
func Study(args []string, known planfile.Known) (*StudyAction, error) {
	v, faults := parse(studyGroups(), args)
	if h := v.help(); h != NoHelp {
		return &StudyAction{Help: h}, nil
	}
	kinds := []string{StudyPrefill, StudyGeneration}
	a := &StudyAction{Out: v.last("out"), NoChart: v.is("no-chart"), DryRun: v.is("dry-run"), Strict: v.is("strict")}
	if len(v.args) > 0 {
		a.Kind, v.args = v.args[0], v.args[1:]
	}
	if !slices.Contains(kinds, a.Kind) {
		if a.Kind == "" {
			return nil, append(faults, plan.Fault{Text: "no study given", Hint: "choose prefill or generation"})
		}
		return nil, append(faults, unknownWord("", "study", a.Kind, kinds))
	}
	if len(v.args) > 1 {
		faults = append(faults, plan.Fault{Text: fmt.Sprintf("%d URLs given", len(v.args)), Hint: "a study has one request in flight: give one"})
	}
	lengths, bad := studyList(v)
	faults = append(faults, bad...)
	if len(faults) > 0 {
		return nil, faults
	}
	for i, n := range lengths {
		p, err := studyPlan(v, a, n, known)
		if err != nil {
			return nil, err
		}
		// With one seed, long prompts begin as short ones do, and a server's prefix cache knows
		// that.
		p.Seed += uint64(i)
		a.Runs = append(a.Runs, StudyRun{Length: n, Plan: p})
	}
	a.Warnings = warnings(a.Runs[0].Plan)
	if a.Runs[0].Plan.Tokenizer.StandIn() {
		a.Warnings = append(a.Warnings, "no --tokenizer: prompt lengths are in GPT-2 tokens, and only approximate for the model")
	}
	return a, nil
}

// mostPrompt bounds the length of a prompt: ten million tokens.
const mostPrompt = 10_000_000

// studyList reads the lengths, each once and in order.
func studyList(v values) (lengths []int, faults plan.Faults) {
	for part := range strings.SplitSeq(cmp.Or(v.last("prompt-lengths"), studyLengths), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > mostPrompt {
			faults = append(faults, plan.Fault{Where: "--prompt-lengths", Text: strconv.Quote(shorten(part)) + " is not a number of tokens", Hint: "such as " + studyLengths})
			continue
		}
		lengths = append(lengths, n)
	}
	slices.Sort(lengths)
	return slices.Compact(lengths), faults
}

func studyPlan(v values, a *StudyAction, length int, known planfile.Known) (*plan.Plan, error) {
	flags := maps.Clone(v.flags)
	usual := func(name, value string) {
		if len(flags[name]) == 0 {
			flags[name] = []string{value}
		}
	}
	usual("requests", studyRequests)
	usual("warmup", studyWarmup)
	flags["concurrency"] = []string{"1"}
	flags["input-tokens"] = []string{strconv.Itoa(length)}
	if a.Kind == StudyPrefill {
		usual("output-tokens", prefillTokens)
	} else {
		usual("output-tokens", generatedTokens)
		flags["ignore-eos"] = []string{"true"}
	}
	delete(flags, "out")
	if a.Out != "" {
		flags["out"] = []string{filepath.Join(a.Out, fmt.Sprintf("prompts-of-%d", length))}
	}
	none := func(string) ([]byte, error) { return nil, errors.New("a study takes no plan file") }
	b := &builder{values: values{flags: flags, args: v.args}, draft: planfile.NewDraft(), readFile: none}
	b.draft.Known = known
	b.arguments()
	b.stages()
	b.plain(runGroups())
	b.special()
	p, err := b.draft.Finish()
	if err != nil {
		return nil, names(runGroups()).Error(err)
	}
	p.DrawSeed = !b.draft.Given("seed")
	return p, nil
}
