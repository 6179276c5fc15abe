package args

import (
	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// Help is which help a command line asks for.
type Help int

// The two helps of a command with many flags.
const (
	NoHelp Help = iota
	ShortHelp
	FullHelp
)

// help is which help the flags ask for.
func (v values) help() Help {
	switch {
	case v.is("help-all"):
		return FullHelp
	case v.is("help"):
		return ShortHelp
	}
	return NoHelp
}

// described are flags as a manual has them.
func described(groups []group) []clidoc.Group {
	choices := planfile.Choices()
	var list []clidoc.Group
	for _, g := range groups {
		to := clidoc.Group{Title: g.title}
		for _, o := range g.options {
			f := clidoc.Flag{Name: o.name, Short: o.short, Arg: o.arg, Help: o.help, Values: o.values}
			if o.path != "" && o.arg != "" && f.Values == nil {
				f.Values = choices(o.path)
			}
			f.Takes = filesOf(o.name)
			to.Flags = append(to.Flags, f)
		}
		list = append(list, to)
	}
	return list
}

// filesOf is what files a flag names whose value may be something else.
func filesOf(name string) clidoc.Files {
	switch name {
	case "tokenizer", "input-data":
		return clidoc.AnyFile
	}
	return ""
}

// aliasNote is what the help says of the flags of other tools.
const aliasNote = "Flags of other tools that mean the same work too, such as --request-rate, --num-prompts, --isl and --osl: inferometer help command-line"

// RunManual describes `inferometer run`.
func RunManual() clidoc.Command {
	return clidoc.Command{
		Name:  "run",
		About: "Measure an inference server.",
		Usage: []clidoc.Usage{{Line: "inferometer run [URL...|plan.yaml] [flags]"}},
		Text: `Without a URL or plan file, the built-in mock is measured. Several URLs take requests in turn. ` +
			`Flags override the plan file; docs/plan.md describes it.`,
		Examples: []string{
			"inferometer run",
			"inferometer run http://host:8000 --model M --concurrency 32 --duration 30s --out results",
			"inferometer run http://host:8000 --model M --rate 50 --arrival poisson --max-in-flight 500 --requests 2000 --goodput ttft:200ms,itl:30ms",
			"inferometer run http://host:8000 --input-tokens normal:mean=550,stddev=50 --output-tokens 128 --ignore-eos --stage concurrency=8,duration=30s --stage concurrency=16,duration=30s,gap=5s",
			"inferometer run grpc://host:8001 --model ensemble --concurrency 8 --output-tokens 128",
			"inferometer run plan.yaml --seed 7",
		},
		Groups: described(runGroups()),
		Common: []string{"concurrency", "rate", "arrival", "max-in-flight", "duration", "requests", "warmup", "stage", "levels", "repeat",
			"model", "endpoint", "api-key-env", "input-tokens", "output-tokens", "input-file", "tokenizer",
			"goodput", "fail-if", "out", "html", "live", "dry-run", "help", "help-all"},
		After: aliasNote, Page: "load", Takes: clidoc.PlanFiles,
	}
}

// ReportManual describes `inferometer report`.
func ReportManual() clidoc.Command {
	return clidoc.Command{
		Name:  "report",
		About: "Rebuild the reports of a saved run from its records.",
		Usage: []clidoc.Usage{
			{Line: "inferometer report DIR [flags]"},
			{Line: "inferometer report DIR DIR...", Help: "what the workers of one run kept, as one report"},
			{Line: "inferometer report FILE", Help: "averages of Perf Analyzer's profile_export.json"},
		},
		Text:     "To compare runs with one another: inferometer compare A B",
		Examples: []string{"inferometer report results --format console,csv"},
		Groups:   described(reportGroups()),
		Page:     "report", Takes: clidoc.AnyFile,
	}
}

// PlanManual describes `inferometer plan`. Its flags are those of run.
func PlanManual() clidoc.Command {
	return clidoc.Command{
		Name:  "plan",
		About: "Check or print a plan without running it.",
		Usage: []clidoc.Usage{
			{Line: "inferometer plan check [URL...|plan.yaml] [flags of run]", Help: "find errors in it and its files"},
			{Line: "inferometer plan print [URL...|plan.yaml] [flags of run]", Help: "print it in full, without secrets"},
			{Line: "inferometer plan schema [plan|result|comparison|repeats]", Help: "print the JSON Schema of plan files, or of result.json and so on"},
		},
		Examples: []string{"inferometer plan check plan.yaml", "inferometer plan print http://host:8000 --concurrency 32 > plan.yaml"},
		Groups:   described(runGroups()),
		Common:   []string{"help", "help-all"},
		Page:     "plan", Takes: clidoc.PlanFiles,
		Verbs: []clidoc.Verb{{Name: "check", Help: "find errors in a plan and its files"}, {Name: "print", Help: "print a plan in full"}, {Name: "schema", Help: "print the JSON Schema of plan files and results"}},
	}
}
