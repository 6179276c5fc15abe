package study

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

const name = "study"

// Tool measures a model with prompts of several lengths. Its exit codes are 0 and 1, and 2
// for bad usage.
func Tool() tool.Tool {
	return tool.Tool{Name: name, Summary: "measure latency over prompt length", Manual: args.StudyManual, Run: runLine, Rebuild: again}
}

func runLine(env tool.Env, line []string) int {
	action, err := args.Study(line, registry.Known())
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	if action.Help != args.NoHelp {
		return env.PrintHelp(args.StudyManual(), action.Help == args.FullHelp)
	}
	env.Warn("warning", action.Warnings)
	if action.DryRun {
		var plans []*plan.Plan
		for _, r := range action.Runs {
			plans = append(plans, r.Plan)
		}
		return env.PrintPlan(name, plans...)
	}
	first := action.Runs[0].Plan
	if tool.DrawSeed(first) {
		fmt.Fprintf(env.Stderr, "seed %d\n", first.Seed)
	}
	for i, r := range action.Runs {
		if r.Plan.DrawSeed {
			r.Plan.Seed, r.Plan.DrawSeed = first.Seed+uint64(i), false
		}
	}
	env.Gates.Several()
	ctx, session, err := env.Begin(progress.Plain)
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	defer session.End()
	session.NoView()
	session.Width = min(env.Terminal(env.Stdout).Width(), widestChart)
	out, err := Run(ctx, action, session)
	if err != nil {
		code := tool.ExitRun
		if len(out.Rows) == 0 {
			code = tool.ExitCode(err)
		}
		return env.Fail(name, err, code)
	}
	return studyCode(env, action, out)
}

// widestChart is how many columns a chart in text takes at most.
const widestChart = 100

// studyCode says of each length whether it can be trusted, and gives the exit code.
func studyCode(env tool.Env, action *args.StudyAction, out *Outcome) int {
	code := tool.ExitOK
	for i, res := range out.Results {
		if !res.Verdict.Valid || res.Interrupted {
			fmt.Fprintf(env.Stderr, "Prompts of %d tokens. ", out.Rows[i].Requested)
			tool.PrintVerdict(env.Stderr, res)
		}
		tool.PrintFailures(env.Stderr, fmt.Sprintf("Prompts of %d tokens: ", out.Rows[i].Requested), &res.Stages[0])
		if action.Strict && !res.Verdict.Valid || res.Interrupted || out.Rows[i].Requests == 0 {
			code = tool.ExitRun
		}
	}
	if len(out.Left) > 0 {
		fmt.Fprintf(env.Stderr, "Not measured: prompts of %s tokens.\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(out.Left), " ", ", "), "[]"))
	}
	return code
}

// again prints the averages of a profile export, which is what a study of another tool's
// leaves behind.
func again(env tool.Env, from tool.From) (code int, mine bool) {
	if head, err := importer.ReadHead(from.Path); err != nil || !head.Has("experiments") {
		return 0, false
	}
	switch answered, err := Export(env.Stdout, from.Path); {
	case err != nil:
		return env.Fail("report", err, tool.ExitUsage), true
	case !answered:
		return tool.ExitRun, true
	}
	return tool.ExitOK, true
}
