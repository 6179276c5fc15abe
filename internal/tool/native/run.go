// Package native are the commands of our own: run and its reports, plans, tokens and the
// mock.
package native

import (
	"errors"
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/console"
	jsonreport "github.com/inferometer/inferometer/internal/report/json"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/kit"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/native/args"
	"github.com/inferometer/inferometer/internal/tool/selftest"
)

// Run measures a server.
func Run() tool.Tool { return tool.Tool{Name: "run", Summary: "measure a server", Run: runCommand} }

func runCommand(env tool.Env, line []string) int {
	action, err := args.Run(line, kit.Known(), tool.ReadFile)
	if err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, args.RunHelp())
		return tool.ExitOK
	}
	env.Warn("warning", action.Warnings)
	if action.DryRun {
		return env.PrintPlan("run", action.Plan)
	}
	return measure(env, action)
}

// measure runs a plan and prints what came of it.
func measure(env tool.Env, action *args.Action) int {
	p := action.Plan
	var err error
	if env.Pages, err = tool.NewPages(action.HTML); err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	place := placed(p)
	drawn := tool.DrawSeed(p)
	mode := env.View()
	if action.Quiet || action.JSON {
		mode = progress.Quiet
	}
	ctx, session, err := env.Begin(mode)
	if err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	defer session.End()
	if mode == progress.Quiet {
		session.Log = io.Discard
	}
	if drawn {
		fmt.Fprintf(session.Log, "seed %d\n", p.Seed)
	}
	var bars *record.Calibration
	if action.Calibrate {
		var err error
		if bars, err = selftest.Ahead(ctx, env, p, session); err != nil {
			return env.Fail("run", err, tool.ExitRun)
		}
	}
	if err := checkOutput(ctx, env, &p.Output); err != nil {
		return env.Fail("run", err, tool.ExitRun)
	}
	if err := checkExport(action.Export); err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	to, err := sendingOf(env, action.SendTo, true)
	if err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	held := holder{dir: p.Output.Dir}
	defer held.remove()
	opt := run.Options{
		Place: place,
		Saved: held.after(to, exporter(env, session.Log, action.Export)),
		Kit:   session.Kit, Version: session.Version, Log: session.Log, Stop: session.Stop, Calibration: bars,
		Warn: func(text string) { session.Warn(env.Stderr, text) }, Watch: session.Watch, Draw: session.Draw,
	}
	if action.Workers > 0 {
		workers, err := newFleet(ctx, env, action, session)
		if err != nil {
			return env.Fail("run", err, tool.ExitRun)
		}
		opt.Fleet, opt.Elsewhere = workers, action.JoinAt != "" || action.NATS != ""
		defer func() {
			if err := workers.close(); err != nil {
				env.Warn("warning", []string{err.Error()})
			}
		}()
	}
	res, err := run.Run(ctx, p, opt)
	session.Hide()
	if !held.own {
		held.dir = p.Output.Dir // with its placeholders filled in
	}
	if res == nil {
		return env.Fail("run", err, tool.CodeOf(err))
	}
	err = errors.Join(err, copyOutput(ctx, env, &p.Output, session.Log))
	if err := printResult(env, action, res); err != nil {
		return env.Fail("run", err, tool.ExitRun)
	}
	if err != nil {
		err = tool.BesideResult(err)
	}
	if err = errors.Join(err, held.send(ctx, env, to, session.Log)); err != nil {
		return env.Fail("run", err, tool.ExitRun)
	}
	return resultCode(res)
}

// printResult prints the result as the command line asked for.
func printResult(env tool.Env, action *args.Action, res *result.Result) error {
	p := action.Plan
	if action.JSON {
		return jsonreport.Write(env.Stdout, res)
	}
	screen := env.Terminal(env.Stdout)
	o := console.Options{Width: min(screen.Width(), 140), Color: screen.Color, All: action.All, Subject: tool.Subject(p), Dir: p.Output.Dir}
	if o.Dir != "" {
		o.Files = filesIn(o.Dir)
	}
	return console.Write(env.Stdout, res, o)
}
