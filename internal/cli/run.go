package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"inferometer/internal/plan"
	"inferometer/internal/record"
	"inferometer/internal/report/console"
	jsonreport "inferometer/internal/report/json"
	"inferometer/internal/report/progress"
	"inferometer/internal/result"
	"inferometer/internal/run"
	"inferometer/internal/run/kit"
	native "inferometer/internal/tool/native/args"
)

func runCommand(env Env, args []string) int {
	action, err := native.Run(args, readFile)
	if err != nil {
		return fail(env, "run", err, exitUsage)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, native.RunHelp())
		return exitOK
	}
	for _, w := range action.Warnings {
		fmt.Fprintln(env.Stderr, "warning: "+w)
	}
	if action.DryRun {
		return printPlan(env, "run", action.Plan)
	}
	defer giveHeapRoom(env)()
	return measure(env, action)
}

// drawSeed gives a plan without a seed one of its own, so that no two runs send the same
// prompts: a server's prefix cache would remember those of the first. It reports whether
// it did.
func drawSeed(p *plan.Plan) bool {
	if !p.DrawSeed {
		return false
	}
	// Half as long a number is easier to type again.
	p.Seed, p.DrawSeed = uint64(rand.Uint32()), false
	return true
}

// measure runs a plan and prints what came of it.
func measure(env Env, action *native.Action) int {
	p := action.Plan
	drawn := drawSeed(p)
	screen := terminalOf(env.Stderr, env.Getenv)
	mode := progress.Plain
	switch {
	case action.Quiet || action.JSON:
		mode = progress.Quiet
	case screen.is:
		mode = progress.Terminal
	}
	display := progress.New(beneath(env.Stderr), progress.Options{Mode: mode, Color: screen.color, Width: screen.width})
	var log io.Writer = env.Stderr
	if mode == progress.Quiet {
		log = io.Discard
	}
	if drawn {
		fmt.Fprintf(log, "seed %d\n", p.Seed)
	}
	ctx, abort := context.WithCancel(context.Background())
	defer abort()
	stop := make(chan struct{})
	done := make(chan struct{})
	defer close(done)
	go watchInterrupts(env, display, stop, abort, done)
	var bars *record.Calibration
	if action.Calibrate {
		var err error
		if bars, err = calibrate(ctx, env, p, log, stop); err != nil {
			return fail(env, "run", err, exitRun)
		}
	}
	if err := checkOutput(ctx, env, &p.Output); err != nil {
		return fail(env, "run", err, exitRun)
	}
	res, err := run.Run(ctx, p, run.Options{
		Kit: kit.Default(), Version: version(), Log: log, Stop: stop, Calibration: bars,
		Warn: func(text string) { warn(env, display, mode, text) },
		Watch: func(state func() run.Progress) {
			display.Start((&gauge{state: state}).snapshot)
		},
	})
	display.Stop()
	if res == nil {
		code := exitRun
		var early *run.PrepareError
		if errors.As(err, &early) {
			code = exitUsage
		}
		return fail(env, "run", err, code)
	}
	err = errors.Join(err, copyOutput(ctx, env, &p.Output, log))
	if err := printResult(env, action, res); err != nil {
		return fail(env, "run", err, exitRun)
	}
	if err != nil {
		return fail(env, "run", besideResult(err), exitRun)
	}
	return resultCode(res)
}

// warn tells of something that went wrong during a run, also where nothing else is told.
func warn(env Env, display *progress.Display, mode progress.Mode, text string) {
	text = "warning: " + text
	if mode == progress.Quiet {
		fmt.Fprintln(env.Stderr, text)
		return
	}
	display.Print(text)
}

// besideResult says what an error that comes with a result means for it.
func besideResult(err error) error {
	var early *run.BreakError
	if errors.As(err, &early) {
		return fmt.Errorf("the run ended before its time: %w", err)
	}
	return fmt.Errorf("the result is complete, but not all of it was kept: %w", err)
}

// printResult prints the result as the command line asked for.
func printResult(env Env, action *native.Action, res *result.Result) error {
	p := action.Plan
	if action.JSON {
		return jsonreport.Write(env.Stdout, res)
	}
	screen := terminalOf(env.Stdout, env.Getenv)
	o := console.Options{Width: min(screen.width(), 140), Color: screen.color, All: action.All, Subject: subject(p), Dir: p.Output.Dir}
	if o.Dir != "" {
		o.Files = filesIn(o.Dir)
	}
	return console.Write(env.Stdout, res, o)
}

// subject says what was measured.
func subject(p *plan.Plan) string {
	var urls []string
	for _, u := range p.Target.URLs {
		urls = append(urls, plan.SafeURL(u))
	}
	return fmt.Sprintf("%s %s at %s", p.Target.Model, p.Target.Endpoint, strings.Join(urls, ", "))
}

// watchInterrupts stops sending at the first Ctrl-C and aborts at the second; a
// third one kills. A terminal that goes away is a first one and never a second: the
// system and the shell both tell of it.
func watchInterrupts(env Env, display *progress.Display, stop chan<- struct{}, abort func(), done <-chan struct{}) {
	for stopping := false; ; {
		var signal os.Signal
		select {
		case <-done:
			return
		case signal = <-env.Interrupts:
		}
		if hungUp(signal) && stopping {
			continue
		}
		if !stopping {
			stopping = true
			display.Print("Stopping: no more is sent, what is in flight may end. Ctrl-C again stops at once.")
			close(stop)
			continue
		}
		display.Print("Stopping at once.")
		env.Restore()
		abort()
		return
	}
}
