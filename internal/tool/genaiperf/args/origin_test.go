package args

import (
	"errors"
	"strings"
	"testing"

	"inferometer/internal/plan"
)

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
	for fault, want := range map[plan.Fault]string{
		{Path: "data.input.mean", Text: "wrong"}: "--isl: wrong",
		{Path: "data.output", Text: "wrong"}:     "--output-tokens-mean: wrong",
		{Path: "data.file", Text: "wrong"}:       "--input-file: wrong",
		{Where: "x.jsonl", Path: "data.prompts", Text: "too few", Hint: "leave data.prompts out to use all"}: "x.jsonl: --num-dataset-entries: too few (leave --num-dataset-entries out to use all)",
		{Where: "x.jsonl:3", Path: "text", Text: "wrong"}:                                                    "x.jsonl:3: text: wrong",
		{Path: "budgets.lag", Text: "wrong"}:                                                                 "budgets.lag: wrong",
	} {
		if got := a.Located(errors.Join(plan.Faults{fault})); got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if got := new(Action).Located(plan.Faults{{Path: "data.file", Text: "wrong"}}); got.Error() != "data.file: wrong" {
		t.Error(got)
	}
}
