package args

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"inferometer/internal/lib/nearest"
	"inferometer/internal/plan"
)

// Formats are the reports that `inferometer report` can make again.
func Formats() []string { return []string{"console", "json", "csv"} }

// ReportAction is what a `report` command line asks for.
type ReportAction struct {
	Dir     string   // output directory of a run
	Formats []string // of Formats, in the order asked for, none twice
	// Tokenizer counts the tokens of a run that GenAI-Perf measured; empty: the run's own.
	Tokenizer string
	All       bool // print every metric and check
	Schema    bool // print the JSON Schema of result.json and stop
	Help      bool // print ReportHelp and stop
}

func reportGroups() []group {
	return []group{{"Flags", []option{
		{name: "format", arg: "LIST", help: "reports to make, comma-separated: " + strings.Join(Formats(), ", ") + " (default console)"},
		{name: "tokenizer", arg: "NAME", help: "for a directory written by GenAI-Perf: tokenizer to count tokens with"},
		{name: "all", help: "print every metric and check, and the table of the steady window"},
		{name: "schema", help: "print the JSON Schema of result.json and exit"},
		{name: "help", short: "h", help: "print this help"},
	}}}
}

// Report reads the arguments of `inferometer report`. The error is a plan.Faults.
func Report(args []string) (*ReportAction, error) {
	v, faults := parse(reportGroups(), args)
	if v.is("help") {
		return &ReportAction{Help: true}, nil
	}
	a := &ReportAction{All: v.is("all"), Schema: v.is("schema")}
	if list := v.flags["tokenizer"]; len(list) > 0 {
		a.Tokenizer = list[len(list)-1]
	}
	switch {
	case len(v.args) == 0 && a.Schema:
	case len(v.args) == 0:
		faults = append(faults, plan.Fault{Text: "no directory given", Hint: "name the output directory of a run: inferometer report DIR"})
	case len(v.args) == 1:
		a.Dir = v.args[0]
	default:
		faults = append(faults, plan.Fault{Text: fmt.Sprintf("%d directories given", len(v.args)), Hint: "give one"})
	}
	for _, list := range v.flags["format"] {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			if !slices.Contains(Formats(), name) {
				faults = append(faults, unknownWord("--format", "format", name, Formats()))
				continue
			}
			if !slices.Contains(a.Formats, name) {
				a.Formats = append(a.Formats, name)
			}
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if len(a.Formats) == 0 {
		a.Formats = []string{"console"}
	}
	return a, nil
}

// PlanAction is what a `plan` command line asks for.
type PlanAction struct {
	Verb     string     // "check", "print" or "schema"
	Plan     *plan.Plan // of check and print
	Warnings []string
	Help     bool // print PlanHelp and stop
}

// Plan reads the arguments of `inferometer plan`: a verb, then what `run` takes.
// The error is a plan.Faults.
func Plan(args []string, known plan.Known, readFile func(name string) ([]byte, error)) (*PlanAction, error) {
	if len(args) == 0 {
		return &PlanAction{Help: true}, nil
	}
	verb, rest := args[0], args[1:]
	switch verb {
	case "-h", "--help", "help":
		return &PlanAction{Help: true}, nil
	case "schema":
		v, faults := parse([]group{{"Flags", []option{{name: "help", short: "h", help: "print this help"}}}}, rest)
		if len(v.args) > 0 {
			faults = append(faults, plan.Fault{Text: "plan schema takes no arguments"})
		}
		if len(faults) > 0 {
			return nil, faults
		}
		return &PlanAction{Verb: verb, Help: v.is("help")}, nil
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
	hint := "one of " + strings.Join(known, ", ")
	if n := nearest.Name(word, known); n != "" {
		hint = "did you mean " + n + "?"
	}
	return plan.Fault{Where: where, Text: "unknown " + kind + " " + strconv.Quote(shorten(word)), Hint: hint}
}
