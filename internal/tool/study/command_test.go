package study

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
	"github.com/inferometer/inferometer/internal/tool/study/report"
)

// What a study tells after its table: failures and their causes, lengths that were cut
// short, and those that were not come to.
func TestEndOfAStudy(t *testing.T) {
	valid := result.Verdict{Valid: true}
	good := &result.Result{Verdict: valid, Stages: []result.Stage{{}}}
	for name, tc := range map[string]struct {
		out  Outcome
		code int
		said string
	}{
		"all well": {Outcome{Rows: []report.Row{{Requested: 16, Requests: 9}}, Results: []*result.Result{good}}, tool.ExitOK, ""},
		"failures": {
			Outcome{Rows: []report.Row{{Requested: 16, Requests: 9}, {Requested: 64, Requests: 1}}, Results: []*result.Result{good, {
				Verdict: valid, Stages: []result.Stage{{Failures: []record.FailureCount{{Class: "http", Status: 500, Count: 2, Example: "out of\nmemory"}}}},
			}}},
			tool.ExitOK, "Prompts of 64 tokens: 2 failed: http out of memory\n",
		},
		"no answer": {Outcome{Rows: []report.Row{{Requested: 16}}, Results: []*result.Result{good}}, tool.ExitRun, ""},
		"stopped": {
			Outcome{Rows: []report.Row{{Requested: 16, Requests: 4}},
				Results: []*result.Result{{Verdict: valid, Interrupted: true, Stages: []result.Stage{{}}}}, Left: []int{64, 256}},
			tool.ExitRun, "Prompts of 16 tokens. The run was stopped early: the figures cover the requests that had ended by then.\nVerdict: valid.\nNot measured: prompts of 64, 256 tokens.\n",
		},
	} {
		var said bytes.Buffer
		if code := studyCode(tool.Env{Stderr: &said}, &args.StudyAction{}, &tc.out); code != tc.code {
			t.Errorf("%s: exit code %d, want %d", name, code, tc.code)
		}
		if diff := cmp.Diff(tc.said, said.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
