package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/abort"
)

// WrapPrepareError says that an error was met before the first request.
func WrapPrepareError(err error) error { return &run.PrepareError{Err: err} }

// ExitCode is the exit code of a run without a result: bad usage if met before the first request.
func ExitCode(err error) int {
	var early *run.PrepareError
	var faults plan.Faults
	if errors.As(err, &early) || errors.As(err, &faults) {
		return ExitUsage
	}
	return ExitRun
}

// BesideResult says what an error that comes with a result means for it.
func BesideResult(err error) error {
	var early *abort.Error
	if errors.As(err, &early) {
		return fmt.Errorf("the run ended early: %w", err)
	}
	return fmt.Errorf("the result is complete, but not all of it was saved: %w", err)
}

// PrintVerdict says whether a result can be trusted, in a few lines.
func PrintVerdict(w io.Writer, res *result.Result) {
	if res.Interrupted {
		fmt.Fprintln(w, "The run was stopped early: the figures cover the requests that had ended by then.")
	}
	if res.Verdict.Valid {
		fmt.Fprintln(w, "Verdict: valid.")
		return
	}
	fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("Verdict: %s. %s", strings.ToUpper(cmp.Or(res.Verdict.Status, result.Invalid)), res.Verdict.Summary)))
	for _, reason := range res.Verdict.Reasons {
		fmt.Fprintln(w, "  "+strings.ReplaceAll(reason, "\n", " "))
	}
	for _, why := range res.Verdict.Undecided {
		fmt.Fprintln(w, "  Undecided: "+strings.ReplaceAll(why, "\n", " "))
	}
}

// PrintFailures says why requests of a stage failed, where any did.
func PrintFailures(w io.Writer, where string, s *result.Stage) {
	for _, f := range s.Failures {
		fmt.Fprintf(w, "%s%d failed: %s %s\n", where, f.Count, f.Class, strings.ReplaceAll(f.Example, "\n", " "))
	}
}

// Answered reports whether any request was answered.
func Answered(res *result.Result) bool {
	return slices.ContainsFunc(res.Stages, func(s result.Stage) bool { return s.Counts.OK > 0 })
}

// Subject says what was measured.
func Subject(p *plan.Plan) string {
	var urls []string
	for _, u := range p.Target.URLs {
		urls = append(urls, plan.SafeURL(u))
	}
	what := strings.TrimSpace(p.Target.Model + " " + p.Target.Endpoint)
	if len(urls) == 0 { // what another tool measured, whose files do not say where
		return what
	}
	return what + " at " + strings.Join(urls, ", ")
}

// DrawSeed gives a plan without a seed one of its own: no two runs send the same prompts, which a
// server's prefix cache would remember. It reports whether it did.
func DrawSeed(p *plan.Plan) bool {
	if !p.DrawSeed {
		return false
	}
	// Half as long a number is easier to type again.
	p.Seed, p.DrawSeed = uint64(rand.Uint32()), false
	return true
}
