package internal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goInstead stands in for go: its n-th call prints the n-th file of a directory, and fails where that has a FAIL.
const goInstead = `#!/bin/sh
cd "$(dirname "$0")"
n=$(($(cat calls 2>/dev/null || echo 0) + 1))
echo $n > calls
echo "$*" >> args
[ -f "$n" ] || exit 0
cat "$n"
! grep -q FAIL "$n"
`

// TestFlaky holds scripts/test.sh against runs of go test that fail once, always, and in other ways.
func TestFlaky(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	const (
		good   = "ok  \ta/good\t0.1s\n"
		slow   = "--- FAIL: TestSlow (0.00s)\n    --- FAIL: TestSlow/part (0.00s)\n        x_test.go:1: late\n--- FAIL: TestOther (0.00s)\nFAIL\nFAIL\ta/slow\t0.1s\n"
		wrong  = "--- FAIL: TestWrong (0.00s)\nFAIL\nFAIL\ta/wrong\t0.1s\n"
		panics = "--- FAIL: TestPanic (0.00s)\npanic: no\n\ngoroutine 1:\nFAIL\ta/panics\t0.1s\n"
	)
	one := []string{"./..."}
	for _, tc := range []struct {
		name     string
		runs     []string // of go test, one after another
		code     int
		says     string   // at the end
		args     string   // of the last run
		packages []string // none: those of all modules
	}{
		{"all modules pass", []string{good, good}, 0, "", "./...", nil},
		{"flaky in bench", []string{good, slow, good}, 3, "attempt 1)\n", "test -C bench -toolexec env GOGC=off GOMEMLIMIT=1GiB -race -vet=off -timeout 30m -count=1 -run ^(TestSlow|TestOther)$ a/slow", nil},
		{"broken in one, flaky in the other", []string{wrong, slow, wrong, wrong, good}, 1, "attempt 1)\n", "a/slow", nil},
		{"flaky", []string{good + slow, "ok  \ta/slow\t0.1s\n"}, 3, "== flaky, which is a failure too:\n  a/slow TestSlow TestOther (passed when run again, attempt 1)\n", "-run ^(TestSlow|TestOther)$ a/slow", one},
		{"flaky twice", []string{slow, slow, good}, 3, "attempt 2)\n", "a/slow", one},
		{"broken", []string{wrong, wrong, wrong}, 1, "== failed every time:\n  a/wrong TestWrong\n", "-run ^(TestWrong)$ a/wrong", one},
		{"both", []string{wrong + good + slow, wrong, wrong, good}, 1, "== failed every time:\n  a/wrong TestWrong\n== flaky, which is a failure too:\n  a/slow TestSlow TestOther (passed when run again, attempt 1)\n", "a/slow", one},
		{"a panic hides other tests", []string{panics, good}, 3, "  a/panics all tests (passed when run again, attempt 1)\n", "-run . a/panics", one},
		{"a data race", []string{"WARNING: DATA RACE\n" + slow}, 1, "", "./...", one},
		{"no tests", []string{"FAIL\ta/b [build failed]\n"}, 1, "", "./...", one},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "go"), []byte(goInstead), 0o700); err != nil {
				t.Fatal(err)
			}
			for i, text := range tc.runs {
				if err := os.WriteFile(filepath.Join(dir, string(rune('1'+i))), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run := exec.Command("bash", append([]string{"../scripts/test.sh"}, tc.packages...)...)
			run.Env = append(os.Environ(), "GO="+filepath.Join(dir, "go"), "AGAIN=2")
			out, err := run.CombinedOutput()
			if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
			if code := run.ProcessState.ExitCode(); code != tc.code || !strings.HasSuffix(string(out), tc.says) {
				t.Errorf("exit status %d; it should be %d and the end %q:\n%s", code, tc.code, tc.says, out)
			}
			args, _ := os.ReadFile(filepath.Join(dir, "args"))
			if !strings.HasSuffix(string(args), tc.args+"\n") || strings.Count(string(args), "\n") != len(tc.runs) {
				t.Errorf("%d runs of go test, of which the last should end with %q:\n%s", strings.Count(string(args), "\n"), tc.args, args)
			}
		})
	}
}
