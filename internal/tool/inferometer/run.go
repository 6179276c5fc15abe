// Package inferometer are the commands of our own: run and its reports, plans, tokens and the
// mock.
package inferometer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/console"
	jsonreport "github.com/inferometer/inferometer/internal/report/jsonreport"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
	"github.com/inferometer/inferometer/internal/tool/selftest"
)

// Run measures a server.
func Run() tool.Tool {
	return tool.Tool{Name: "run", Summary: "measure a server", Manual: args.RunManual, Run: func(env tool.Env, line []string) int {
		action, err := args.Run(line, registry.Known(), tool.ReadFile)
		return carryOut(env, "run", action, err, args.RunManual)
	}}
}

// Capacity finds the highest load that meets objectives.
func Capacity() tool.Tool {
	return tool.Tool{Name: capacityName, Summary: "find the highest load that meets objectives", Manual: args.CapacityManual, Run: func(env tool.Env, line []string) int {
		action, err := args.Capacity(line, registry.Known(), tool.ReadFile)
		if err == nil && action.Help == args.NoHelp {
			err = search.CheckObjectives(action.Plan)
		}
		return carryOut(env, capacityName, action, err, args.CapacityManual)
	}}
}

const capacityName = "capacity"

// carryOut does what a command line asks for, unless it has faults.
func carryOut(env tool.Env, name string, action *args.Action, err error, described func() clidoc.Command) int {
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	if action.Help != args.NoHelp {
		return env.PrintHelp(described(), action.Help == args.FullHelp)
	}
	env.Warn("warning", action.Warnings)
	if !action.Quiet && !action.JSON && !action.DryRun {
		env.Warn("note", action.Notes)
	}
	if action.DryRun {
		return env.PrintPlan(name, plansOf(action)...)
	}
	if env.Gates, err = tool.NewGates(name, plan.Conditions{}, action.JUnit); err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	if !action.Repeat.On() {
		env.Gates.Silent()
	}
	return env.Gates.Close(env, measure(env, action))
}

// job is a command line that is being carried out.
type job struct {
	env     tool.Env
	action  *args.Action
	session *tool.Session
	bars    *record.Calibration // of the built-in mock; nil means it was not measured
	to      *sending            // where runs are sent to; nil means nowhere
}

// measure carries a command line out.
func measure(env tool.Env, action *args.Action) int {
	p := action.Plan
	var err error
	if env.Pages, err = tool.NewPages(action.HTML); err != nil {
		return env.Fail(action.Command, err, tool.ExitUsage)
	}
	if action.Repeat.AB {
		env.Pages = nil // there is one, of the comparison
	}
	began := time.Now()
	place := placed(p, began)
	drawn := tool.DrawSeed(p)
	mode := env.View()
	if action.Quiet || action.JSON {
		mode = progress.Quiet
	}
	ctx, session, err := env.Begin(mode)
	if err != nil {
		return env.Fail(action.Command, err, tool.ExitUsage)
	}
	defer session.End()
	if mode == progress.Quiet {
		session.Log = io.Discard
	}
	if drawn {
		fmt.Fprintf(session.Log, "seed %d\n", p.Seed)
	}
	j := &job{env: env, action: action, session: session}
	if code, err := j.prepare(ctx); err != nil {
		return env.Fail(action.Command, err, code)
	}
	switch {
	case action.Repeat.AB:
		return j.ab(ctx, began)
	case action.Repeat.On():
		return j.repeat(ctx, began)
	}
	return j.once(ctx, place)
}

// prepare does what comes ahead of the first run. The code is that of the error.
func (j *job) prepare(ctx context.Context) (code int, err error) {
	p := j.action.Plan
	if j.action.Calibrate {
		if j.bars, err = selftest.Ahead(ctx, j.env, p, j.session); err != nil {
			return tool.ExitRun, err
		}
	}
	if err := checkOutput(ctx, j.env, &p.Output); err != nil {
		return tool.ExitRun, err
	}
	if err := checkExport(j.action.Export); err != nil {
		return tool.ExitUsage, err
	}
	j.to, err = sendingOf(j.env, j.action.SendTo, true)
	return tool.ExitUsage, err
}

// once runs the plan and prints what came of it.
func (j *job) once(ctx context.Context, place func(*plan.Plan) string) int {
	env, p := j.env, j.action.Plan
	held := holder{dir: p.Output.Dir}
	defer held.remove()
	res, err := j.run(ctx, p, place, held.after(j.to, exporter(env, j.session.Log, j.action.Export)))
	if !held.own {
		held.dir = p.Output.Dir // with its placeholders filled in
	}
	if res == nil {
		return env.Fail(j.action.Command, err, tool.ExitCode(err))
	}
	err = errors.Join(err, copyOutput(ctx, env, &p.Output, j.session.Log))
	if err := printResult(env, j.action, res); err != nil {
		return env.Fail(j.action.Command, err, tool.ExitRun)
	}
	if err != nil {
		err = tool.BesideResult(err)
	}
	if err = errors.Join(err, held.send(ctx, env, j.to, j.session.Log)); err != nil {
		return env.Fail(j.action.Command, err, tool.ExitRun)
	}
	return resultCode(res)
}

// run runs a plan. place gives its output directory; saved is given its records when they are
// whole; optional.
func (j *job) run(ctx context.Context, p *plan.Plan, place func(*plan.Plan) string,
	saved func(dir string) error) (res *result.Result, err error) {
	env, session := j.env, j.session
	opt := run.Options{
		ID: j.action.RunID, OutputDir: place, Saved: saved, Calibration: j.bars,
		Warn: func(text string) { session.Warn(env.Stderr, text) },
	}
	if j.action.Workers > 0 {
		workers, err := newFleet(ctx, env, j.action, p.Output.Dir, session)
		if err != nil {
			return nil, err
		}
		opt.Fleet, opt.ID, opt.RemoteWorkers = workers, workers.id, j.action.JoinAt != "" || j.action.NATS != ""
		defer func() {
			if err := workers.close(err); err != nil {
				env.Warn("warning", []string{err.Error()})
			}
		}()
	}
	res, err = session.Run(ctx, p, opt)
	session.Hide()
	return res, err
}

// printResult prints the result as the command line asked for.
func printResult(env tool.Env, action *args.Action, res *result.Result) error {
	p := action.Plan
	if action.JSON {
		return jsonreport.Write(env.Stdout, res)
	}
	screen := env.Terminal(env.Stdout)
	o := console.Options{Width: min(screen.Width(), 140), Color: screen.Color, All: action.All, Brief: action.Quiet && !action.All,
		Subject: tool.Subject(p), Dir: p.Output.Dir}
	o.Page = action.HTML
	if o.Dir != "" {
		o.Files = filesIn(o.Dir)
	}
	return console.Write(env.Stdout, res, o)
}
