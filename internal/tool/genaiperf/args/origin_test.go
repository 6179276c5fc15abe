package args

import (
	"errors"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// Parse reads a command line that names no files and hands nothing to Perf Analyzer.
func Parse(args []string) (*Action, error) { return Parser{}.Parse(args) }

// Every key of the table is of a plan, and comes from a flag.
func TestOrigins(t *testing.T) {
	keys := map[string]bool{}
	for _, f := range flags() {
		keys[f.key] = true
	}
	for i, o := range origins() {
		if !keys[o[1]] {
			t.Errorf("%s: there is no flag for %s", o[0], o[1])
		}
		for _, before := range origins()[:i] {
			if strings.HasPrefix(o[0], before[0]+".") {
				t.Errorf("%s is never found, since %s stands in front of it", o[0], before[0])
			}
		}
	}
}

// Faults name flags, those of the command line as they were written.
func TestFaultsNameFlags(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"-u http://h:99999", "-u: port 99999 is not from 1 to 65535"},
		{"-H bad_,header:x", `-H: "bad_,header" is not a header name`},
		{"--server-metrics-url http:///x", "--server-metrics-url: names no host"},
	} {
		_, err := Parse(append(strings.Fields("profile -m m --endpoint-type chat"), strings.Fields(tt.line)...))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.line, err, tt.want)
		}
	}
	a, err := Parse(strings.Fields("profile -m m --endpoint-type chat --isl 7 --input-file x.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for want, fault := range map[string]plan.Fault{
		"--isl: wrong":                {Path: "data.input.mean", Text: "wrong"},
		"--output-tokens-mean: wrong": {Path: "data.output", Text: "wrong"},
		"--input-file: wrong":         {Path: "data.file", Text: "wrong"},
		"x.jsonl: --num-dataset-entries: too few (leave --num-dataset-entries out to use all)": {
			Where: "x.jsonl", Path: "data.prompts", Text: "too few", Hint: "leave %v out to use all", Args: []any{message.Prompts},
		},
		"x.jsonl:3: text: wrong": {Where: "x.jsonl:3", Path: "text", Text: "wrong"},
		"budgets.lag: wrong":     {Path: "budgets.lag", Text: "wrong"},
	} {
		if got := a.Names().Error(errors.Join(plan.Faults{fault})); got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if got := new(Action).Names().Error(plan.Faults{{Path: "data.file", Text: "wrong"}}); got.Error() != "data.file: wrong" {
		t.Error(got)
	}
}
