package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/ci"
	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
)

// The flags of gates, on every command that measures or reports.
const (
	failIfFlag     = "--fail-if"
	failUnlessFlag = "--fail-unless"
	junitFlag      = "--junit"
)

// gateFlags are they, on the command line of a tool that others made.
func gateFlags() clidoc.Group {
	return clidoc.Group{Title: "Gates of inferometer", Flags: []clidoc.Flag{
		{Name: strings.TrimPrefix(failIfFlag, "--"), Arg: "CONDITION", Help: "exit with code 3 if this holds, repeatable: 'ttft.p99 > 200ms', 'at concurrency 8: rps < 40' (docs/gates.md)"},
		{Name: strings.TrimPrefix(failUnlessFlag, "--"), Arg: "CONDITION", Help: "exit with code 3 unless this is shown to hold, repeatable: 'ttft.p99 < 200ms'"},
		{Name: strings.TrimPrefix(junitFlag, "--"), Arg: "FILE", Help: "also write the verdict and the gates as JUnit XML"},
	}}
}

// Gates are the conditions under which the runs of a command fail, and what came of them.
type Gates struct {
	name       string          // of the command
	conditions plan.Conditions // those of the command line, where the plan does not have them
	junit      string          // file; empty: none
	some       bool            // each run has some of the levels
	wrong      bool            // one of them cannot be judged
	silent     bool            // the report has said what came of them
	suites     []ci.Suite
}

// NewGates reads the conditions of a command line and makes sure that the file can be written.
func NewGates(name string, conditions plan.Conditions, junit string) (*Gates, error) {
	var faults plan.Faults
	for _, c := range conditions.All() {
		if _, err := gate.Read(c); err != nil {
			faults = append(faults, gateFault(c, err))
		}
	}
	if junit != "" {
		faults = append(faults, cannotWrite(junitFlag, junit)...)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return &Gates{name: name, conditions: conditions, junit: junit}, nil
}

// gateFault is what is wrong with a gate, as a fault of the command line.
func gateFault(c plan.Condition, err error) plan.Fault {
	f := plan.Fault{Where: c.Flag(), Text: err.Error()}
	var wrong *gate.Error
	if errors.As(err, &wrong) {
		f.Text, f.Hint = wrong.Text, wrong.Hint
	}
	return f
}

// Several says that the command's levels are runs of their own.
func (g *Gates) Several() {
	if g != nil {
		g.some = true
	}
}

// Silent says that the command's own report says what came of the gates.
func (g *Gates) Silent() { g.silent = true }

func (g *Gates) gating() run.GateOptions {
	if g == nil {
		return run.GateOptions{}
	}
	return run.GateOptions{Conditions: g.conditions, Some: g.some, Refused: func() { g.wrong = true }, Judged: g.Add}
}

// Add takes down what came of a run.
func (g *Gates) Add(res *result.Result) {
	name := cmp.Or(res.Name, "inferometer")
	if n := len(g.suites); n > 0 {
		name += " " + strconv.Itoa(n+1)
	}
	g.AddSuite(ci.SuiteOf(name, res))
}

// AddSuite takes down what came of something else than a run.
func (g *Gates) AddSuite(s ci.Suite) { g.suites = append(g.suites, s) }

// AddForeign is Add without a verdict, for another program, whose client was not monitored.
func (g *Gates) AddForeign(res *result.Result) {
	g.Add(res)
	g.suites[len(g.suites)-1].Verdict = nil
}

// Close says what came of the gates, to the user and to the system that the command runs under,
// and gives the exit code, which is that of a missed gate where the command ended well.
func (g *Gates) Close(env Env, code int) int {
	if g == nil {
		return code
	}
	if g.wrong { // whatever the tool itself says to bad usage
		code = ExitUsage
	}
	switch {
	case code == ExitOK:
		g.unseen()
	case len(g.suites) == 0:
		g.suites = []ci.Suite{{Name: "inferometer", Broken: "there is no result: exit code " + strconv.Itoa(code)}}
	}
	if len(g.suites) == 0 {
		if !g.conditions.None() {
			env.Warn("note", []string{"nothing was measured: the gates were not judged"})
		}
		return code
	}
	if !g.silent {
		g.print(env.Stderr)
	}
	if g.junit != "" {
		if err := atomicfile.Write(g.junit, func(w io.Writer) error { return ci.JUnit(w, g.suites) }); err != nil {
			return env.Fail(g.name, fmt.Errorf("writing the gates: %w", err), ExitRun)
		}
	}
	if err := g.annotate(env); err != nil {
		env.Warn("warning", []string{err.Error()})
	}
	if code == ExitOK && ci.Missed(g.suites) {
		return ExitMissed
	}
	return code
}

// unseen counts gates at levels that none of several runs had as missed.
func (g *Gates) unseen() {
	if !g.some {
		return
	}
	if len(g.suites) == 0 {
		g.suites = []ci.Suite{{Name: "inferometer"}}
	}
	for _, c := range g.conditions.All() {
		judged := slices.ContainsFunc(g.suites, func(s ci.Suite) bool {
			return slices.ContainsFunc(s.Gates, func(o result.Gate) bool { return o.Gate == c.Text && o.Unless == c.Unless })
		})
		if !judged {
			last := &g.suites[len(g.suites)-1]
			last.Gates = append(last.Gates, result.Gate{Gate: c.Text, Unless: c.Unless, Stage: -1, Failed: true, Absent: true, Why: "no run of this command had such a level"})
		}
	}
}

// print says what came of the gates, in a few lines.
func (g *Gates) print(w io.Writer) {
	var all []result.Gate
	for i := range g.suites {
		all = append(all, g.suites[i].Gates...)
	}
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s.\n", result.Headline(all))
	for i := range all {
		o := &all[i]
		text, notes := o.Found(), o.Notes()
		if o.Where != "" && !o.Absent {
			text += ", " + o.Where
		}
		if o.Absent && len(notes) > 0 {
			text, notes = notes[0], notes[1:]
		}
		fmt.Fprintf(w, "  %-11s%s   %s\n", o.Word(), o.Condition(), strings.ReplaceAll(text, "\n", " "))
		for _, n := range notes {
			fmt.Fprintf(w, "  %-11s%s\n", "", strings.ReplaceAll(n, "\n", " "))
		}
	}
}

// annotate tells the system for continuous integration that the command runs under.
func (g *Gates) annotate(env Env) error {
	gated := slices.ContainsFunc(g.suites, func(s ci.Suite) bool { return len(s.Gates) > 0 })
	switch {
	case env.Getenv == nil || !gated && g.junit == "":
		return nil
	case env.Getenv("GITHUB_ACTIONS") == "true":
		return errors.Join(ci.GitHub(env.Stderr, g.suites), g.summarize(env.Getenv("GITHUB_STEP_SUMMARY")))
	case env.Getenv("GITLAB_CI") == "true":
		return ci.GitLab(env.Stderr, g.suites)
	}
	return nil
}

// summarize adds the gates to the summary of a step.
func (g *Gates) summarize(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("adding the gates to the summary of the step: %w", err)
	}
	for i := range g.suites {
		s, word := &g.suites[i], ""
		if s.Verdict != nil {
			word = s.Verdict.Status
		}
		err = errors.Join(err, md.Gates(f, s.Name, word, s.Gates))
	}
	return errors.Join(err, f.Close())
}

// Gated is a tool that others made whose command line takes our flags of gates too.
func Gated(t Tool) Tool {
	if t.Foreign { // our own have them among their flags
		t = with(t, gateFlags)
	}
	inner := t.Run
	t.Run = func(env Env, line []string) int {
		rest, conditions, junit, err := takeGates(line)
		if err == nil {
			env.Gates, err = NewGates(t.Name, conditions, junit)
		}
		if err != nil {
			return env.Fail(t.Name, err, ExitUsage)
		}
		code := inner(env, rest)
		if code == ExitOK && t.Foreign && asksHelp(rest) {
			fmt.Fprint(env.Stdout, gateFlags().Help(env.HelpWidth()))
		}
		return env.Gates.Close(env, code)
	}
	return t
}

// takeGates takes the flags of gates out of a command line.
func takeGates(line []string) (rest []string, conditions plan.Conditions, junit string, err error) {
	mine := ownArgs(line)
	for i := 0; i < len(mine); i++ {
		name, value, given := strings.Cut(mine[i], "=")
		if name != failIfFlag && name != failUnlessFlag && name != junitFlag {
			rest = append(rest, mine[i])
			continue
		}
		if !given && i+1 < len(mine) {
			i++
			value = mine[i]
		}
		switch {
		case name == failIfFlag || name == failUnlessFlag:
			conditions.Add(plan.Condition{Text: value, Unless: name == failUnlessFlag})
		case value == "" || strings.HasPrefix(value, "-"):
			return nil, plan.Conditions{}, "", plan.Faults{{Where: junitFlag, Text: "needs the name of a file"}}
		default:
			junit = value
		}
	}
	return append(rest, line[len(mine):]...), conditions, junit, nil
}
