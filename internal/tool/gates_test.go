package tool

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
)

func TestTakeGates(t *testing.T) {
	for _, c := range []struct{ line, rest, failIf, unless, junit, err string }{
		{line: "a --b", rest: "a --b"},
		{line: "a --fail-if x>1 --b --junit j.xml", rest: "a --b", failIf: "x>1", junit: "j.xml"},
		{line: "--fail-if=x>=1 --fail-if y<2 --junit=k.xml", failIf: "x>=1|y<2", junit: "k.xml"},
		{line: "--fail-unless=x<1 a --fail-unless y<2 --fail-if z>1", rest: "a", failIf: "z>1", unless: "x<1|y<2"},
		{line: "a -- --fail-if x --junit j", rest: "a -- --fail-if x --junit j"},
		{line: "a --fail-if", rest: "a", failIf: ""},
		{line: "a --junit", err: "--junit: needs the name of a file"},
		{line: "a --junit --b", err: "--junit: needs the name of a file"},
	} {
		rest, conditions, junit, err := takeGates(strings.Fields(c.line))
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v", c.line, err)
			}
			continue
		}
		if err != nil || !slices.Equal(rest, strings.Fields(c.rest)) || strings.Join(conditions.FailIf, "|") != c.failIf || strings.Join(conditions.FailUnless, "|") != c.unless || junit != c.junit {
			t.Errorf("%s: %v, %q, %q, %v", c.line, rest, conditions, junit, err)
		}
	}
}

// gatedTool is a tool of others whose run has a result, with a gate that is missed or not.
func gatedTool(code int, gates ...result.Gate) Tool {
	return Gated(Tool{Name: "x", Foreign: true, Run: func(env Env, _ []string) int {
		if len(gates) > 0 {
			env.Unwatched().Gating.Judged(&result.Result{Verdict: result.Verdict{Status: result.Valid, Valid: true}, Gates: gates})
		}
		return code
	}})
}

// TestGatedCodes: a missed gate turns a good exit code into 3 and no other.
func TestGatedCodes(t *testing.T) {
	met, missed := result.Gate{Gate: "rps < 1", Value: 2, Bound: 1}, result.Gate{Gate: "rps < 9", Value: 2, Bound: 9, Failed: true}
	undecided := result.Gate{Gate: "rps < -5%", Value: -0.04, Bound: -0.05, Unit: "share", Difference: true, Interval: &result.ConfidenceInterval{Lo: -0.09, Hi: 0.01}, Undecided: true,
		Sensitivity: &result.Sensitivity{Text: "-10 % would have been noticed 9 times in 10"}}
	unshown := result.Gate{Gate: "rps > 1", Unless: true, Value: 2, Bound: 1, Undecided: true, Failed: true, Why: "not shown"}
	for _, c := range []struct {
		name string
		line string
		tool Tool
		code int
		says string
	}{
		{"met", "", gatedTool(0, met), 0, "1 gate held.\n  held       rps < 1   2\n"},
		{"missed", "", gatedTool(0, met, missed), 3, "1 of 2 gates missed.\n  held       rps < 1   2\n  MISSED     rps < 9   2\n"},
		{"undecided", "", gatedTool(0, met, undecided), 0, "1 of 2 gates undecided, none missed.\n  held       rps < 1   2\n  undecided  rps < -5%   -4 % (-9 % to +1 %)\n             -10 % would have been noticed 9 times in 10\n"},
		{"not shown", "", gatedTool(0, unshown), 3, "1 of 1 gate missed.\n  MISSED     unless rps > 1   2\n             not shown\n"},
		{"missed and failed", "", gatedTool(1, missed), 1, "MISSED"},
		{"missed and the tool's own code", "", gatedTool(99, missed), 99, "MISSED"},
		{"nothing was run", "--fail-if=rps<1", gatedTool(0), 0, "note: nothing was measured"},
		{"nonsense", "--fail-if=rsp<1", gatedTool(0, met), 2, "did you mean rps?"},
		{"no directory", "--junit=no/such/j.xml", gatedTool(0, met), 2, "there is no directory no/such"},
		{"cannot be judged", "", Gated(Tool{Name: "x", Foreign: true, Run: func(env Env, _ []string) int { env.Unwatched().Gating.Refused(); return 99 }}), 2, ""},
		{"a level of none of several", "--fail-if=rps>9", Gated(Tool{Name: "x", Foreign: true, Run: func(env Env, _ []string) int { env.Gates.Several(); return 0 }}), 3, "no run of this command had such a level"},
	} {
		var errs strings.Builder
		env := Env{Stdout: io.Discard, Stderr: &errs, Getenv: func(string) string { return "" }}
		if code := c.tool.Run(env, strings.Fields(c.line)); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: code %d, want %d:\n%s", c.name, code, c.code, errs.String())
		}
	}
	var out strings.Builder
	gatedTool(0).Run(Env{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }}, []string{"--help"})
	if !strings.Contains(out.String(), "--fail-if") || !strings.Contains(out.String(), "--junit") {
		t.Errorf("help: %s", out.String())
	}
}

// TestAnnotated: under GitHub Actions and GitLab the log shows what is missed, and the summary
// of the step gets a table.
func TestAnnotated(t *testing.T) {
	missed := result.Gate{Gate: "rps < 9", Value: 2, Bound: 9, Failed: true}
	dir := t.TempDir()
	summary, junit := filepath.Join(dir, "summary.md"), filepath.Join(dir, "j.xml")
	if err := os.WriteFile(summary, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  map[string]string
		says string
	}{
		{map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary}, "::error title=Gate missed%3A rps < 9::measured 2\n"},
		{map[string]string{"GITLAB_CI": "true"}, "\x1b[1;31mGate missed: rps < 9: measured 2\x1b[0m\n"},
		{map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": dir}, "warning: adding the gates to the summary of the step"},
	} {
		var errs strings.Builder
		env := Env{Stdout: io.Discard, Stderr: &errs, Getenv: func(name string) string { return c.set[name] }}
		if code := gatedTool(0, missed).Run(env, []string{"--junit", junit}); code != ExitMissed || !strings.Contains(errs.String(), c.says) {
			t.Errorf("code %d:\n%s", code, errs.String())
		}
	}
	text, err := os.ReadFile(summary)
	if err != nil || !strings.HasPrefix(string(text), "before\n### inferometer: VALID\n") || !strings.Contains(string(text), "| rps &#60; 9 | 2 | **missed** |") {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := os.ReadFile(junit); err != nil || !strings.Contains(string(text), "<failure") {
		t.Errorf("%v: %s", err, text)
	}
}
