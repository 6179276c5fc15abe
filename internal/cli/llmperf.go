package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"inferometer/internal/report/progress"
	"inferometer/internal/result"
	"inferometer/internal/run"
	"inferometer/internal/run/kit"
	tool "inferometer/internal/tool/llmperf"
	frontend "inferometer/internal/tool/llmperf/args"
)

// llmPerfCommand is the command line of llm_perf. Its exit codes are 0 and 1, and 2 for
// bad usage.
func llmPerfCommand(env Env, args []string) int {
	const name = "llm_perf"
	action, err := frontend.Parse(args, readFile, func(name string) bool { _, err := os.Stat(name); return err == nil })
	if err != nil {
		return fail(env, name, err, exitUsage)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, frontend.Help())
		return exitOK
	}
	for _, w := range action.Warnings {
		fmt.Fprintln(env.Stderr, "warning: "+w)
	}
	if action.DryRun {
		return printPlan(env, name, action.Plan)
	}
	defer giveHeapRoom(env)()
	screen := terminalOf(env.Stderr, env.Getenv)
	mode := progress.Plain
	if screen.is {
		mode = progress.Terminal
	}
	display := progress.New(beneath(env.Stderr), progress.Options{Mode: mode, Color: screen.color, Width: screen.width})
	ctx, abort := context.WithCancel(context.Background())
	defer abort()
	stop, done := make(chan struct{}), make(chan struct{})
	defer close(done)
	go watchInterrupts(env, display, stop, abort, done)
	res, err := tool.Run(ctx, action, tool.Env{
		Kit: kit.Default(), Version: version(), Out: besideView{env.Stdout, display}, Log: env.Stderr, Stop: stop,
		Watch: func(state func() run.Progress) { display.Start((&gauge{state: state}).snapshot) },
	})
	display.Stop()
	if res == nil {
		code := exitRun
		var early *run.PrepareError
		if errors.As(err, &early) {
			code = exitUsage
		}
		return fail(env, name, frontend.Explain(err, &action.Plan.Target), code)
	}
	for i := range res.Stages {
		printFailures(env.Stderr, fmt.Sprintf("Concurrency %d: ", action.Plan.Stages[i].Concurrency), &res.Stages[i])
	}
	printVerdict(env.Stderr, res)
	if err != nil {
		return fail(env, name, besideResult(err), exitRun)
	}
	if !answered(res) || res.Failing() || res.Interrupted || action.Strict && !res.Verdict.Valid {
		return exitRun
	}
	return exitOK
}

// printFailures says why requests of a stage failed, where any did.
func printFailures(w io.Writer, where string, s *result.Stage) {
	for _, f := range s.Failures {
		fmt.Fprintf(w, "%s%d failed: %s %s\n", where, f.Count, f.Class, strings.ReplaceAll(f.Example, "\n", " "))
	}
}

// besideView writes a report while a run is shown: both may be on one terminal.
type besideView struct {
	io.Writer
	display *progress.Display
}

// Write implements io.Writer.
func (b besideView) Write(text []byte) (n int, err error) {
	b.display.Aside(func() { n, err = b.Writer.Write(text) })
	return n, err
}
