package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"inferometer/internal/plan"
	"inferometer/internal/report/progress"
	"inferometer/internal/run/kit"
	tool "inferometer/internal/tool/perfanalyzer"
	frontend "inferometer/internal/tool/perfanalyzer/args"
)

// disk is how Perf Analyzer's and llm_perf's command lines look at files.
func disk() frontend.Files {
	return frontend.Files{
		Read: readFile,
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

// perfAnalyzerCommand is the command line of Perf Analyzer, with its exit codes.
func perfAnalyzerCommand(env Env, args []string) int {
	const name = "perf_analyzer"
	action, err := frontend.Parse(args, disk())
	if err != nil {
		code := fail(env, name, err, frontend.ExitOption)
		var wrong *frontend.UsageError
		if errors.As(err, &wrong) {
			fmt.Fprintln(env.Stderr, "perf_analyzer --help lists the options.")
		}
		return code
	}
	switch {
	case action.Help:
		fmt.Fprint(env.Stdout, frontend.Help())
		return frontend.ExitOK
	case action.Version:
		fmt.Fprintf(env.Stdout, "Perf Analyzer of inferometer %s\n", version())
		return frontend.ExitOK
	}
	for _, w := range action.Warnings {
		fmt.Fprintln(env.Stderr, "WARNING: "+w)
	}
	if action.DryRun {
		return printPlan(env, name, action.Plan)
	}
	defer giveHeapRoom(env)()
	ctx, stop, done := interruptible(env)
	defer done()
	out, err := tool.Run(ctx, action, tool.Env{Kit: kit.Default(), Version: version(), Out: env.Stdout, Log: env.Stderr, Stop: stop})
	if out.Result != nil {
		printVerdict(env.Stderr, out.Result)
	}
	if err != nil {
		err = frontend.Explain(err, &action.Plan.Target)
		var faults plan.Faults
		if out.Code == frontend.ExitOK || errors.As(err, &faults) {
			out.Code = frontend.ExitGeneric
		}
		return fail(env, name, err, out.Code)
	}
	if out.Code == frontend.ExitOK && action.Strict && !out.Result.Verdict.Valid {
		return exitRun
	}
	return out.Code
}

// interruptible is a context that the second Ctrl-C ends, and a channel that the first
// one closes.
func interruptible(env Env) (ctx context.Context, stop <-chan struct{}, done func()) {
	ctx, abort := context.WithCancel(context.Background())
	first, over := make(chan struct{}), make(chan struct{})
	display := progress.New(beneath(env.Stderr), progress.Options{Mode: progress.Plain})
	go watchInterrupts(env, display, first, abort, over)
	return ctx, first, func() {
		close(over)
		abort()
	}
}
