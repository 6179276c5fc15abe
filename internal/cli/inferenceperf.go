package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"inferometer/internal/report/console"
	"inferometer/internal/report/progress"
	"inferometer/internal/result"
	"inferometer/internal/run"
	"inferometer/internal/run/kit"
	tool "inferometer/internal/tool/inferenceperf"
	frontend "inferometer/internal/tool/inferenceperf/args"
)

// inferencePerfCommand is the command line of inference-perf. Its exit codes are 0 where
// there is something to report, 1 where there is not or where the run was ended early,
// and 2 for a bad config.
func inferencePerfCommand(env Env, args []string) int {
	const name = "inference-perf"
	action, err := frontend.Parse(args, frontend.World{ReadFile: readFile, Now: time.Now()})
	if err != nil {
		return fail(env, name, err, exitUsage)
	}
	switch action.Command {
	case frontend.Help:
		fmt.Fprint(env.Stdout, frontend.HelpText())
		return exitOK
	case frontend.Version:
		fmt.Fprintf(env.Stdout, "inference-perf of inferometer %s\n", version())
		return exitOK
	}
	log := levelled(env.Stderr, action.LogLevel)
	if action.Command == frontend.Analyze {
		files, err := tool.Analyze(action, log.info)
		if err != nil {
			return fail(env, name, err, exitRun)
		}
		if len(files) == 0 {
			return fail(env, name, errors.New("there is nothing to draw"), exitRun)
		}
		return exitOK
	}
	if action.File != "" {
		fmt.Fprintf(log.info, "INFO - Using configuration from: %s\n", action.File)
	}
	for _, w := range action.Warnings {
		fmt.Fprintf(log.warning, "WARNING - %s\n", w)
	}
	if action.DryRun {
		return printPlan(env, name, action.Plan)
	}
	fmt.Fprintf(log.info, "INFO - Benchmarking with the following config:\n\n%s\n", action.Config)
	defer giveHeapRoom(env)()
	return inferencePerfRun(env, action, log)
}

// inferencePerfRun carries out a run and prints its reports.
func inferencePerfRun(env Env, action *frontend.Action, log logs) int {
	const name = "inference-perf"
	screen := terminalOf(env.Stderr, env.Getenv)
	mode := progress.Quiet
	switch {
	case log.info == io.Discard:
	case screen.is:
		mode = progress.Terminal
	default:
		mode = progress.Plain
	}
	display := progress.New(beneath(env.Stderr), progress.Options{Mode: mode, Color: screen.color, Width: screen.width})
	ctx, abort := context.WithCancel(context.Background())
	defer abort()
	stop, done := make(chan struct{}), make(chan struct{})
	defer close(done)
	go watchInterrupts(env, display, stop, abort, done)
	quiet := sync.OnceFunc(display.Stop)
	out, err := tool.Run(ctx, action, tool.Env{
		Kit: kit.Default(), Version: version(), Getenv: env.Getenv, Out: &afterwards{env.Stdout, quiet}, Log: log.info, Stop: stop,
		Watch: func(state func() run.Progress) { display.Start((&gauge{state: state}).snapshot) },
	})
	quiet()
	if out == nil {
		code := exitRun
		var early *tool.PrepareError
		var refused *run.PrepareError
		if errors.As(err, &early) || errors.As(err, &refused) {
			code = exitUsage
		}
		return fail(env, name, action.Located(err), code)
	}
	res := out.Result
	for _, name := range out.Files {
		fmt.Fprintf(log.info, "INFO - Report saved to: %s\n", name)
	}
	screen = terminalOf(env.Stdout, env.Getenv)
	if err := console.Write(env.Stdout, res, console.Options{
		Width: min(screen.width(), 140), Color: screen.color, Subject: subject(action.Plan), Dir: action.Options.Dir, Named: true,
	}); err != nil {
		return fail(env, name, err, exitRun)
	}
	printVerdict(log.warning, res)
	if err != nil {
		return fail(env, name, action.Located(besideResult(err)), exitRun)
	}
	if !answered(res) || res.Interrupted || action.Strict && !res.Verdict.Valid {
		return exitRun
	}
	return exitOK
}

// afterwards is a writer whose first use is made room for.
type afterwards struct {
	io.Writer
	first func()
}

// Write makes room and writes.
func (a *afterwards) Write(p []byte) (int, error) {
	a.first()
	return a.Writer.Write(p)
}

// answered reports whether any request was answered.
func answered(res *result.Result) bool {
	for i := range res.Stages {
		if res.Stages[i].Counts.OK > 0 {
			return true
		}
	}
	return false
}

// logs are where messages go by their weight.
type logs struct{ info, warning io.Writer }

// levelled keeps messages that weigh less than the level from w.
func levelled(w io.Writer, level string) logs {
	l := logs{info: io.Discard, warning: io.Discard}
	switch level {
	case "DEBUG", "INFO":
		l.info, l.warning = w, w
	case "WARNING":
		l.warning = w
	}
	return l
}
