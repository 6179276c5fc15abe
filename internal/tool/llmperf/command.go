package llmperf

import (
	"fmt"
	"os"

	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/llmperf/args"
)

const name = "llm_perf"

// Tool is llm_perf. Its exit codes are 0 and 1, and 2 for bad usage.
func Tool() tool.Tool {
	return tool.Tool{Name: name, Summary: "drop-in replacement for llm_perf", Manual: args.Manual, Run: runLine, Report: as, Names: args.Names}
}

func runLine(env tool.Env, line []string) int {
	action, err := args.Parse(line, tool.ReadFile, func(name string) bool { _, err := os.Stat(name); return err == nil })
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, args.Help())
		return tool.ExitOK
	}
	env.Warn("warning", action.Warnings)
	if action.DryRun {
		return env.PrintPlan(name, action.Plan)
	}
	ctx, session, err := env.Begin(env.View())
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	defer session.End()
	session.Out = session.Output(env.Stdout)
	res, err := Run(ctx, action, session)
	session.Hide()
	if res == nil {
		return env.Fail(name, args.Names(action.Plan).Error(err), tool.ExitCode(err))
	}
	for i := range res.Stages {
		tool.PrintFailures(env.Stderr, fmt.Sprintf("Concurrency %d: ", action.Plan.Stages[i].Concurrency), &res.Stages[i])
	}
	tool.PrintVerdict(env.Stderr, res)
	if err != nil {
		return env.Fail(name, tool.BesideResult(err), tool.ExitRun)
	}
	if !tool.Answered(res) || res.Failing() || res.Interrupted || action.Strict && !res.Verdict.Valid {
		return tool.ExitRun
	}
	return tool.ExitOK
}
