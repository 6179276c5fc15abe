package cli

import (
	"errors"
	"fmt"
	"strings"

	"inferometer/internal/plan"
	"inferometer/internal/run"
	"inferometer/internal/run/kit"
	native "inferometer/internal/tool/native/args"
	tool "inferometer/internal/tool/study"
)

// studyCommand measures a model with prompts of several lengths. Its exit codes are 0 and
// 1, and 2 for bad usage.
func studyCommand(env Env, args []string) int {
	const name = "study"
	action, err := native.Study(args)
	if err != nil {
		return fail(env, name, err, exitUsage)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, native.StudyHelp())
		return exitOK
	}
	for _, w := range action.Warnings {
		fmt.Fprintln(env.Stderr, "warning: "+w)
	}
	if action.DryRun {
		for i, r := range action.Runs {
			if i > 0 {
				fmt.Fprintln(env.Stdout, "---")
			}
			if code := printPlan(env, name, r.Plan); code != exitOK {
				return code
			}
		}
		return exitOK
	}
	defer giveHeapRoom(env)()
	first := action.Runs[0].Plan
	if drawSeed(first) {
		fmt.Fprintf(env.Stderr, "seed %d\n", first.Seed)
	}
	for i, r := range action.Runs {
		if r.Plan.DrawSeed {
			r.Plan.Seed, r.Plan.DrawSeed = first.Seed+uint64(i), false
		}
	}
	ctx, stop, done := interruptible(env)
	defer done()
	screen := terminalOf(env.Stdout, env.Getenv)
	out, err := tool.Run(ctx, action, tool.Env{
		Kit: kit.Default(), Version: version(), Out: env.Stdout, Log: env.Stderr, Width: min(screen.width(), widestChart), Stop: stop,
	})
	if err != nil {
		code := exitRun
		var early *run.PrepareError
		var faults plan.Faults
		if (errors.As(err, &early) || errors.As(err, &faults)) && len(out.Rows) == 0 {
			code = exitUsage
		}
		return fail(env, name, err, code)
	}
	return studyCode(env, action, out)
}

// widestChart is how many columns a chart in text takes at most.
const widestChart = 100

// studyCode says of each length whether it can be trusted, and gives the exit code.
func studyCode(env Env, action *native.StudyAction, out *tool.Outcome) int {
	code := exitOK
	for i, res := range out.Results {
		if !res.Verdict.Valid || res.Interrupted {
			fmt.Fprintf(env.Stderr, "Prompts of %d tokens. ", out.Rows[i].Asked)
			printVerdict(env.Stderr, res)
		}
		printFailures(env.Stderr, fmt.Sprintf("Prompts of %d tokens: ", out.Rows[i].Asked), &res.Stages[0])
		if action.Strict && !res.Verdict.Valid || res.Interrupted || out.Rows[i].Requests == 0 {
			code = exitRun
		}
	}
	if len(out.Left) > 0 {
		fmt.Fprintf(env.Stderr, "Not measured: prompts of %s tokens.\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(out.Left), " ", ", "), "[]"))
	}
	return code
}

// profileExportReport prints the averages of a file of Perf Analyzer's.
func profileExportReport(env Env, name string) int {
	answered, err := tool.Export(env.Stdout, name)
	if err != nil {
		return fail(env, "report", err, exitUsage)
	}
	if !answered {
		return exitRun
	}
	return exitOK
}
