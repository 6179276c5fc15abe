package args

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// Formats are the reports that `inferometer report` can make again.
func Formats() []string { return []string{"console", "json", "csv", "md", HTML} }

// Originals are the tools whose tables and files are formats too.
func Originals() []string {
	return []string{"genai-perf", "perf_analyzer", "llm_perf", "inference-perf", "vllm-bench"}
}

// HTML is the format of the report page.
const HTML = "html"

// ReportAction is what a `report` command line asks for.
type ReportAction struct {
	Dir     string   // output directory of a run
	Dirs    []string // those of workers of one run, where there are several
	Formats []string // of Formats and Originals, in the order given, none twice
	// Tokenizer counts the tokens of a run that GenAI-Perf measured; empty: the run's own.
	Tokenizer string
	As        string // the format of another tool; empty: ours
	Out       string // the directory for those files; empty: one of its name beside the records
	HTML      string // file for the report page; empty: none
	plan.Conditions
	JUnit  string // file for the verdict and the gates; empty: none
	All    bool   // print every metric and check
	SendTo SendTo
	Schema bool // print the JSON Schema of result.json and stop
	Help   bool // print the help and stop
}

func reportGroups() []group {
	return []group{{"Flags", flagsOf("Report")}, {"Telemetry", flagsOf("Telemetry")}}
}

// Report reads the arguments of `inferometer report`. The error is a plan.Faults.
func Report(args []string) (*ReportAction, error) {
	v, faults := parse(reportGroups(), args)
	if v.is("help") {
		return &ReportAction{Help: true}, nil
	}
	a := &ReportAction{Tokenizer: v.last("tokenizer"), Out: v.last("out"), HTML: v.last("html"), Conditions: v.conditions(), JUnit: v.last("junit"), All: v.is("all"), Schema: v.is("schema"), SendTo: v.sendTo()}
	for _, list := range v.flags["format"] {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			switch known := append(Formats(), Originals()...); {
			case !slices.Contains(known, name):
				faults = append(faults, unknownWord("--format", "format", name, known))
			case !slices.Contains(a.Formats, name):
				a.Formats = append(a.Formats, name)
			}
		}
	}
	if i := slices.IndexFunc(a.Formats, func(name string) bool { return slices.Contains(Originals(), name) }); i >= 0 {
		a.As = a.Formats[i]
	}
	if (a.As != "" || len(v.args) > 1) && a.SendTo != (SendTo{}) {
		faults = append(faults, plan.Fault{Where: "--otlp, --remote-write", Text: "need one run and cannot be combined with the format of another tool", Hint: "send it with a command of its own: inferometer report DIR --otlp URL"})
	}
	switch {
	case a.As == "" && a.Out != "":
		faults = append(faults, plan.Fault{Where: "--out", Text: "needs the format of another tool", Hint: "such as --format genai-perf"})
	case a.As != "" && (a.All || a.HTML != "" || len(a.Formats) > 1):
		faults = append(faults, plan.Fault{Where: "--format", Text: a.As + " cannot be combined with other formats, --html or --all", Hint: "it writes all of the tool's own reports"})
	}
	switch {
	case len(v.args) == 0 && a.Schema:
	case len(v.args) == 0:
		faults = append(faults, plan.Fault{Text: "no directory given", Hint: "name the output directory of a run: inferometer report DIR"})
	case len(v.args) == 1:
		a.Dir = v.args[0]
	case a.As != "":
		faults = append(faults, plan.Fault{Where: "--format", Text: fmt.Sprintf("%s takes one directory, not %d", a.As, len(v.args)), Hint: "give one"})
	default:
		a.Dirs = v.args
	}
	if a.As == "" && len(a.Formats) > 1 && slices.Contains(a.Formats, HTML) {
		faults = append(faults, plan.Fault{Where: "--format", Text: "html cannot be printed with other formats", Hint: "write it to a file with --html FILE"})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if len(a.Formats) == 0 {
		a.Formats = []string{"console"}
	}
	return a, nil
}

// The documents that have a JSON Schema.
const (
	PlanDocument       = "plan"
	ResultDocument     = "result"
	ComparisonDocument = "comparison"
	RepeatsDocument    = "repeats"
)

// Documents are those whose JSON Schema `inferometer plan schema` prints.
func Documents() []string {
	return []string{PlanDocument, ResultDocument, ComparisonDocument, RepeatsDocument}
}

// PlanAction is what a `plan` command line asks for.
type PlanAction struct {
	Verb     string     // "check", "print" or "schema"
	Document string     // of schema: whose
	Plan     *plan.Plan // of check and print
	Warnings []string
	Help     Help // print it and stop
}

// Plan reads the arguments of `inferometer plan`: a verb, then `run`'s. The error is a plan.Faults.
func Plan(args []string, known planfile.Known, readFile func(name string) ([]byte, error)) (*PlanAction, error) {
	if len(args) == 0 {
		return &PlanAction{Help: ShortHelp}, nil
	}
	verb, rest := args[0], args[1:]
	switch verb {
	case "-h", "--help", "help":
		return &PlanAction{Help: ShortHelp}, nil
	case "--help-all":
		return &PlanAction{Help: FullHelp}, nil
	case "schema":
		v, faults := parse([]group{{"Flags", flagsOf("Help")}}, rest)
		a := &PlanAction{Verb: verb, Document: PlanDocument, Help: v.help()}
		if len(v.args) > 0 {
			a.Document = v.args[0]
		}
		known := Documents()
		if len(v.args) > 1 {
			faults = append(faults, plan.Fault{Text: "plan schema prints one schema", Hint: "run it once for each document"})
		} else if !slices.Contains(known, a.Document) {
			faults = append(faults, unknownWord("", "document", a.Document, known))
		}
		if len(faults) > 0 {
			return nil, faults
		}
		return a, nil
	case "check", "print":
		a, err := Run(rest, known, readFile)
		if err != nil {
			return nil, err
		}
		return &PlanAction{Verb: verb, Plan: a.Plan, Warnings: a.Warnings, Help: a.Help}, nil
	}
	return nil, plan.Faults{unknownWord("", "command", verb, []string{"check", "print", "schema"})}
}

// unknownWord is the fault of a word that is none of known.
func unknownWord(where, kind, word string, known []string) plan.Fault {
	return plan.Fault{Where: where, Text: "unknown " + kind + " " + strconv.Quote(shorten(word)), Hint: suggest.Hint(word, known)}
}

// flagTable are the flags of all commands.
//
//go:embed flags.yaml
var flagTable []byte

var flagRows = sync.OnceValue(func() []clidoc.Row { return clidoc.Rows(flagTable) })

func flagsOf(title string) []option {
	var all []option
	for _, r := range flagRows() {
		if r.Title == title {
			all = append(all, option{name: r.Name, short: r.Short, arg: r.Arg, help: r.Help, path: r.Path, values: slices.Clone(r.Values)})
		}
	}
	return all
}

func groupsOf(titles ...string) []group {
	groups := make([]group, len(titles))
	for i, title := range titles {
		groups[i] = group{title, flagsOf(title)}
	}
	return groups
}

func runGroups() []group {
	return groupsOf("Load", "Several runs", "Levels and windows", "Server", "Prompts", "Workload", "Server metrics", "Cost and energy", "Triton",
		"Goals and validity", "Workers", "Telemetry", "Output")
}

// kept is what records may hold of responses.
func kept() []string { return []string{"none", "text", "raw"} }
