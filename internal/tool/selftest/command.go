package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

type selftestFlags struct {
	like      string
	levels    int
	time      time.Duration
	ttft, itl time.Duration
	json      bool
	quiet     bool
}

// Tool measures the built-in mock.
func Tool() tool.Tool {
	return tool.Tool{Name: "selftest", Summary: "measure the built-in mock to find this host's error bars", Manual: described, Run: runLine}
}

// set are the flags as a command line has them.
func (f *selftestFlags) set() *pflag.FlagSet {
	flags := pflag.NewFlagSet("inferometer selftest", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.SortFlags = false
	flags.StringVar(&f.like, "like", "", "plan `FILE` to take load, prompts and lengths from (default: 8, 32, 128, … in flight)")
	flags.IntVar(&f.levels, "levels", 5, "maximum number of loads to try, each heavier than the last")
	flags.DurationVar(&f.time, "time", 4*time.Second, "time to measure each load; longer if responses are slow")
	flags.DurationVar(&f.ttft, "ttft", 50*time.Millisecond, "time to first token of the mock")
	flags.DurationVar(&f.itl, "itl", 10*time.Millisecond, "inter-token latency of the mock")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON and nothing else")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only the report, no progress")
	return flags
}

func described() clidoc.Command {
	flags := clidoc.OfSet(new(selftestFlags).set())
	flags[0].Takes = clidoc.PlanFiles
	return clidoc.Command{
		Name:   "selftest",
		About:  "Measure the built-in mock on this host, compare each figure with the mock's own log, and print error bars.",
		Usage:  []clidoc.Usage{{Line: "inferometer selftest [--like plan.yaml] [flags]"}},
		Groups: []clidoc.Group{{Title: "Flags", Flags: flags}},
		After:  "Exits with 0 if this host can measure the first load accurately, else with 1.",
		Page:   "selftest",
	}
}

func runLine(env tool.Env, line []string) int {
	var f selftestFlags
	flags := f.set()
	flags.SetOutput(env.Stderr)
	err := flags.Parse(line)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return env.PrintHelp(described(), true)
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: a plan file goes behind --like", flags.Arg(0))
	case err == nil && (f.levels < 1 || f.time <= 0 || f.ttft <= 0 || f.itl <= 0):
		err = errors.New("--levels, --time, --ttft and --itl must be more than 0")
	}
	if err != nil {
		return env.Fail("selftest", fmt.Errorf("%w%s; inferometer selftest --help lists the flags", err, tool.NearestFlag(flags, err)), tool.ExitUsage)
	}
	var like *plan.Plan
	if f.like != "" {
		action, err := args.Run([]string{f.like}, registry.Known(), tool.ReadFile)
		if err != nil {
			return env.Fail("selftest", err, tool.ExitUsage)
		}
		like = action.Plan
	}
	return calibrated(env, &f, like)
}

// calibrated runs a self-test and prints what it found.
func calibrated(env tool.Env, f *selftestFlags, like *plan.Plan) int {
	ctx, session, err := env.Begin(progress.Quiet)
	if err != nil {
		return env.Fail("selftest", err, tool.ExitUsage)
	}
	defer session.End()
	o := optionsOf(env, like, session)
	o.Levels, o.Time, o.TTFT, o.ITL = f.levels, f.time, f.ttft, f.itl
	if !f.json && !f.quiet {
		o.Tell = func(text string) { fmt.Fprintln(env.Stderr, text) }
	}
	rep, err := Run(ctx, o)
	if err != nil {
		return env.Fail("selftest", err, tool.ExitRun)
	}
	if f.json {
		out := json.NewEncoder(env.Stdout)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		err = out.Encode(rep)
	} else {
		err = Write(env.Stdout, rep, min(env.Terminal(env.Stdout).Width(), 140))
	}
	if err != nil {
		return env.Fail("selftest", err, tool.ExitRun)
	}
	if !rep.Levels[0].Honest {
		return tool.ExitRun
	}
	return tool.ExitOK
}

func optionsOf(env tool.Env, p *plan.Plan, s *tool.Session) Options {
	o := Options{Plan: p, Kit: s.Kit, Version: s.Version, Stop: s.Stop, Start: InProcess()}
	if env.Program != "" {
		o.Start = Process(env.Program)
	}
	return o
}

// Ahead measures the mock at the load of a plan, ahead of its run in a session.
func Ahead(ctx context.Context, env tool.Env, p *plan.Plan, s *tool.Session) (*record.Calibration, error) {
	fmt.Fprintln(s.Log, "Calibrating: measuring the built-in mock at this load first.")
	c, err := Calibrate(ctx, optionsOf(env, p, s))
	if err != nil {
		return nil, fmt.Errorf("calibrating: %w", err)
	}
	return c, nil
}
