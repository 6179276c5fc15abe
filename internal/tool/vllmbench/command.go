package vllmbench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/vllmbench/args"
)

// name is what errors call it.
const name = "vllm bench serve"

// Tools are vllm bench serve under its names. Only one of them reads and writes files of other runs.
func Tools() []tool.Tool {
	vllm, script := Tool("vllm"), Tool("benchmark_serving.py")
	for _, t := range []*tool.Tool{&vllm, &script} {
		t.Report, t.Import, t.Figures = nil, nil, nil
	}
	script.Summary = "drop-in replacement for vLLM's benchmark_serving.py"
	script.Manual = args.ScriptManual
	script.Run = func(env tool.Env, line []string) int { return runLine(env, args.Script, line) }
	return []tool.Tool{vllm, Tool("vllm-bench"), script}
}

// Tool is vllm bench serve under one of its names. Its exit codes are the original's: 2 where the command
// line has no such form, 1 for all else that stands in the way.
func Tool(called string) tool.Tool {
	return tool.Tool{
		Name: called, Summary: "drop-in replacement for vllm bench serve", Report: as, Names: args.Names, Import: importRun, Figures: figures,
		Manual: args.ServeManual,
		Reads:  "the result file of vllm bench serve (--save-result, single requests with --save-detailed)",
		Run: func(env tool.Env, line []string) int {
			line, err := words(line)
			if err != nil {
				return env.Fail("vllm", err, tool.ExitUsage)
			}
			return runLine(env, args.Serve, line)
		},
	}
}

// words are what stands in front of the flags.
func words(line []string) (rest []string, err error) {
	at := slices.IndexFunc(line, func(arg string) bool { return arg == "" || arg[0] == '-' })
	if at < 0 {
		at = len(line)
	}
	command := line[:at]
	switch {
	case len(command) == 0, len(command) >= 2 && command[0] == "bench" && command[1] == "serve":
		return line[min(len(command), 2):], nil
	case command[0] == "bench" && len(command) > 1:
		return nil, fmt.Errorf("bench %s is not supported, only bench serve is", command[1])
	case command[0] == "bench":
		return nil, errors.New("bench needs serve behind it: only bench serve is supported")
	}
	return nil, fmt.Errorf("%s is not supported, only bench serve is: this stands in for the benchmark, not for the server", command[0])
}

func runLine(env tool.Env, program args.Program, line []string) int {
	name := name
	if program == args.Script {
		name = "benchmark_serving.py"
	}
	action, err := args.Parse(line, program, args.World{Getenv: env.Getenv, ReadFile: tool.ReadFile, FirstModel: firstModel(env)})
	if err != nil {
		code := tool.ExitRun
		var malformed *args.UsageError
		if errors.As(err, &malformed) {
			code = tool.ExitUsage
		}
		return env.Fail(name, args.Names(nil).Error(err), code)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, args.Help(program))
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
	fmt.Fprintln(session.Out, action.Namespace)
	res, err := serve(ctx, action, session)
	session.Hide()
	if res == nil {
		return env.Fail(name, args.Names(action.Plan).Error(err), tool.ExitRun)
	}
	measured := &res.Stages[len(res.Stages)-1]
	tool.PrintFailures(env.Stderr, "", measured)
	tool.PrintVerdict(env.Stderr, res)
	if err != nil {
		return env.Fail(name, tool.BesideResult(err), tool.ExitRun)
	}
	return exitCode(action, res, measured)
}

// exitCode is that of a run that came to an end. Where nothing was answered, the original's is 0; its fork wants
// nearly all requests to succeed.
func exitCode(action *args.Action, res *result.Result, measured *result.Stage) int {
	unanswered := measured.Counts.OK == 0 && !action.Settings.Faithful
	if action.Settings.Release == plan.VLLMFork {
		unanswered = float64(measured.Counts.OK) < 0.95*float64(action.Settings.Prompts)
	}
	if unanswered || res.Interrupted || action.Strict && !res.Verdict.Valid {
		return tool.ExitRun
	}
	return tool.ExitOK
}
