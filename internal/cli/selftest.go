package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"inferometer/internal/plan"
	"inferometer/internal/record"
	"inferometer/internal/run/kit"
	native "inferometer/internal/tool/native/args"
	"inferometer/internal/tool/selftest"
)

// selftestFlags are those of `inferometer selftest`.
type selftestFlags struct {
	like      string
	levels    int
	time      time.Duration
	ttft, itl time.Duration
	json      bool
	quiet     bool
}

func selftestCommand(env Env, args []string) int {
	var f selftestFlags
	flags := pflag.NewFlagSet("inferometer selftest", pflag.ContinueOnError)
	flags.SetOutput(env.Stderr)
	flags.Usage = func() {}
	flags.SortFlags = false
	flags.StringVar(&f.like, "like", "", "plan file whose load, prompts and lengths are taken (standard loads: 8, 32, 128, … in flight)")
	flags.IntVar(&f.levels, "levels", 5, "most loads to try, each heavier than the one before")
	flags.DurationVar(&f.time, "time", 4*time.Second, "how long each load is measured; longer where answers take long")
	flags.DurationVar(&f.ttft, "ttft", 50*time.Millisecond, "time to first token of the mock")
	flags.DurationVar(&f.itl, "itl", 10*time.Millisecond, "time between two tokens of the mock")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON and nothing else")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, only the report")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(env.Stdout, "Measure the built-in mock on this host, compare every figure with what the mock really did, and print the error bars.\n\n"+
			"Usage: inferometer selftest [--like plan.yaml] [flags]\n\n%s\nIt exits with 0 where this host measures the first load honestly, else with 1. docs/selftest.md says more.\n", flags.FlagUsagesWrapped(100))
		return exitOK
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: a plan file goes behind --like", flags.Arg(0))
	case err == nil && (f.levels < 1 || f.time <= 0 || f.ttft <= 0 || f.itl <= 0):
		err = errors.New("--levels, --time, --ttft and --itl must be more than 0")
	}
	if err != nil {
		return fail(env, "selftest", fmt.Errorf("%w%s; inferometer selftest --help lists the flags", err, nearestFlag(flags, err)), exitUsage)
	}
	var like *plan.Plan
	if f.like != "" {
		action, err := native.Run([]string{f.like}, readFile)
		if err != nil {
			return fail(env, "selftest", err, exitUsage)
		}
		like = action.Plan
	}
	return calibrated(env, &f, like)
}

// calibrated runs a self-test and prints what it found.
func calibrated(env Env, f *selftestFlags, like *plan.Plan) int {
	defer giveHeapRoom(env)()
	ctx, abort := context.WithCancel(context.Background())
	defer abort()
	o := selftestOptions(env, like, stopOnce(env, ctx))
	o.Levels, o.Time, o.TTFT, o.ITL = f.levels, f.time, f.ttft, f.itl
	if !f.json && !f.quiet {
		o.Tell = func(text string) { fmt.Fprintln(env.Stderr, text) }
	}
	rep, err := selftest.Run(ctx, o)
	if err != nil {
		return fail(env, "selftest", err, exitRun)
	}
	if f.json {
		out := json.NewEncoder(env.Stdout)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		err = out.Encode(rep)
	} else {
		err = selftest.Write(env.Stdout, rep, min(terminalOf(env.Stdout, env.Getenv).width(), 140))
	}
	if err != nil {
		return fail(env, "selftest", err, exitRun)
	}
	if !rep.Levels[0].Honest {
		return exitRun
	}
	return exitOK
}

// stopOnce gives a channel that is closed at the first Ctrl-C.
func stopOnce(env Env, ctx context.Context) <-chan struct{} {
	stop := make(chan struct{})
	go func() {
		select {
		case <-env.Interrupts:
			close(stop)
		case <-ctx.Done():
		}
	}()
	return stop
}

func selftestOptions(env Env, p *plan.Plan, stop <-chan struct{}) selftest.Options {
	o := selftest.Options{Plan: p, Kit: kit.Default(), Version: version(), Stop: stop, Start: selftest.InProcess()}
	if env.Program != "" {
		o.Start = selftest.Process(env.Program)
	}
	return o
}

// calibrate measures the mock at the load of a plan, ahead of its run.
func calibrate(ctx context.Context, env Env, p *plan.Plan, log io.Writer, stop <-chan struct{}) (*record.Calibration, error) {
	fmt.Fprintln(log, "Calibrating: measuring the built-in mock at this load first.")
	c, err := selftest.Calibrate(ctx, selftestOptions(env, p, stop))
	if err != nil {
		return nil, fmt.Errorf("calibrating: %w", err)
	}
	return c, nil
}
