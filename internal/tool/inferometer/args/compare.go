package args

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// CompareFormats are the forms that a comparison is printed in.
func CompareFormats() []string { return []string{"console", "json", "md"} }

// CompareAction is what a `compare` command line asks for.
type CompareAction struct {
	Sides      []string
	Formats    []string // of CompareFormats, in the order asked for, none twice
	All        bool     // every metric and statistic
	Size       float64  // of a difference that is looked for, as a share; 0: the default
	Confidence float64  // 0: the default
	Anyway     bool     // also where plans measure different things
	HTML       string   // file for the page; empty: none
	Out        string   // directory for comparison.json and comparison.md; empty: none
	Tokenizer  string   // to count with what GenAI-Perf wrote; empty: the counts that were kept
	plan.Conditions
	JUnit string // file for them; empty: none
	Help  bool   // print the help and stop
}

func compareGroups() []group { return []group{{"Flags", flagsOf("Compare")}} }

// Compare reads the arguments of `inferometer compare`. The error is a plan.Faults.
func Compare(line []string) (*CompareAction, error) {
	v, faults := parse(compareGroups(), line)
	if v.is("help") {
		return &CompareAction{Help: true}, nil
	}
	a := &CompareAction{Sides: v.args, All: v.is("all"), Anyway: v.is("anyway"), HTML: v.last("html"), Out: v.last("out"), Tokenizer: v.last("tokenizer"), Conditions: v.conditions(), JUnit: v.last("junit")}
	switch {
	case len(a.Sides) == 0:
		faults = append(faults, plan.Fault{Text: "nothing to compare", Hint: "name two or more runs: inferometer compare A B"})
	case slices.Contains(a.Sides, ""):
		faults = append(faults, plan.Fault{Text: "a side is empty", Hint: "name the output directory of a run"})
	}
	var fault *plan.Fault
	if a.Size, fault = v.percent("size", 0, 1000); fault != nil {
		faults = append(faults, *fault)
	}
	if a.Confidence, fault = v.percent("confidence", 50, 99.99); fault != nil {
		faults = append(faults, *fault)
	}
	for _, list := range v.flags["format"] {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			switch {
			case !slices.Contains(CompareFormats(), name):
				faults = append(faults, unknownWord("--format", "format", name, CompareFormats()))
			case !slices.Contains(a.Formats, name):
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

// percent is a flag's value as a share: "5%" and "5" are 0.05. It must be over least and at
// most most, in per cent. 0: the flag is not given.
func (v values) percent(name string, least, most float64) (float64, *plan.Fault) {
	if !v.given(name) {
		return 0, nil
	}
	text := strings.TrimSpace(v.last(name))
	n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err != nil || !(n > least && n <= most) {
		return 0, &plan.Fault{Where: "--" + name, Text: strconv.Quote(shorten(text)) + " is not a percentage over " + strconv.FormatFloat(least, 'f', -1, 64) + " and up to " + fmt.Sprint(most), Hint: "such as --" + name + " " + map[string]string{"size": "5%", "confidence": "95%"}[name]}
	}
	return n / 100, nil
}
