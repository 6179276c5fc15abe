package perfanalyzer

import (
	"errors"
	"fmt"
	"os"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

const name = "perf_analyzer"

// Tool is Perf Analyzer, with its exit codes.
func Tool() tool.Tool {
	return tool.Tool{Name: name, Summary: "drop-in replacement for Triton's Perf Analyzer", Manual: args.Manual, Run: runLine, Report: as, Names: args.Names}
}

// Disk is how a command line of Perf Analyzer looks at files.
func Disk() args.Files {
	return args.Files{
		Read: tool.ReadFile,
		Kind: func(name string) string {
			info, err := os.Stat(name)
			switch {
			case err != nil:
				return ""
			case info.IsDir():
				return "dir"
			}
			return "file"
		},
	}
}

// refuse says what is wrong with a command line.
func refuse(env tool.Env, err error) int {
	var wrong *args.UsageError
	if !errors.As(err, &wrong) {
		return env.Fail(name, err, args.ExitOption)
	}
	code := args.ExitOption
	if wrong.Generic {
		code = args.ExitGeneric
	}
	code = env.Fail(name, err, code)
	fmt.Fprintln(env.Stderr, "perf_analyzer --help lists the options.")
	return code
}

func runLine(env tool.Env, line []string) int {
	action, err := args.Parse(line, Disk())
	env.Warn("WARNING", action.Warnings)
	if err != nil {
		return refuse(env, err)
	}
	switch {
	case action.Help:
		fmt.Fprint(env.Stdout, args.Help())
		return args.ExitOK
	case action.Version:
		fmt.Fprintf(env.Stderr, "Perf Analyzer Version %s (inferometer)\n", env.Version)
		return args.ExitOK
	}
	if action.DryRun {
		return env.PrintPlan(name, action.Plan)
	}
	ctx, session, err := env.Begin(progress.Plain)
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	defer session.End()
	session.NoView() // its levels are printed as they end
	out, err := Run(ctx, action, session)
	if out.Result != nil {
		tool.PrintVerdict(env.Stderr, out.Result)
	}
	if err != nil {
		var faults plan.Faults
		if out.Code == args.ExitOK || errors.As(err, &faults) {
			out.Code = args.ExitGeneric
		}
		return env.Fail(name, args.Names(action.Plan).Error(err), out.Code)
	}
	if out.Code == args.ExitOK && action.Strict && !out.Result.Verdict.Valid {
		return tool.ExitRun
	}
	return out.Code
}
