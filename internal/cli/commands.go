package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/spf13/pflag"

	"inferometer/internal/lib/nearest"
	"inferometer/internal/mock"
	"inferometer/internal/plan"
	"inferometer/internal/report/console"
	csvreport "inferometer/internal/report/csv"
	jsonreport "inferometer/internal/report/json"
	"inferometer/internal/result"
	"inferometer/internal/run"
	"inferometer/internal/run/kit"
	native "inferometer/internal/tool/native/args"
)

func reportCommand(env Env, args []string) int {
	action, err := native.Report(args)
	if err != nil {
		return fail(env, "report", err, exitUsage)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, native.ReportHelp())
		return exitOK
	}
	if action.Schema {
		if _, err := env.Stdout.Write(result.JSONSchema()); err != nil {
			return fail(env, "report", err, exitRun)
		}
		return exitOK
	}
	if info, err := os.Stat(action.Dir); err == nil && info.Mode().IsRegular() {
		return profileExportReport(env, action.Dir)
	}
	if genaiPerfDir(&action.Dir) {
		return genaiPerfAgain(env, action)
	}
	if action.Tokenizer != "" {
		return fail(env, "report", plan.Faults{{Where: "--tokenizer", Text: "belongs to runs of GenAI-Perf's own", Hint: "a run of inferometer has its counts: leave it out"}}, exitUsage)
	}
	res, err := run.Report(action.Dir)
	if err != nil {
		return fail(env, "report", err, exitUsage)
	}
	for _, format := range action.Formats {
		if err := printFormat(env, res, format, action); err != nil {
			return fail(env, "report", err, exitRun)
		}
	}
	return resultCode(res)
}

// resultCode is the exit code that a result stands for, right after the run and when it
// is reported again: a run that was stopped or did not end properly is no success, even
// where the figures that it has are good.
func resultCode(res *result.Result) int {
	if !res.Verdict.Valid || res.Interrupted || res.Incomplete {
		return exitRun
	}
	return exitOK
}

func printFormat(env Env, res *result.Result, format string, action *native.ReportAction) error {
	switch format {
	case "json":
		return jsonreport.Write(env.Stdout, res)
	case "csv":
		return csvreport.Write(env.Stdout, res)
	default:
		screen := terminalOf(env.Stdout, env.Getenv)
		return console.Write(env.Stdout, res, console.Options{
			Width: min(screen.width(), 140), Color: screen.color, All: action.All, Subject: subjectOf(action.Dir), Dir: action.Dir, Files: filesIn(action.Dir),
		})
	}
}

// subjectOf says what the run of a directory measured; empty where its plan does not say.
func subjectOf(dir string) string {
	name := filepath.Join(dir, run.PlanFile)
	text, err := readFile(name)
	if err != nil {
		return ""
	}
	p, err := plan.Decode(name, text)
	if err != nil {
		return ""
	}
	return subject(p)
}

// filesIn are the files of a run that are in a directory: one that was killed wrote no
// reports.
func filesIn(dir string) []string {
	return slices.DeleteFunc(run.Files(), func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
}

func planCommand(env Env, args []string) int {
	env.leaveInterrupts()
	action, err := native.Plan(args, readFile)
	if err != nil {
		return fail(env, "plan", err, exitUsage)
	}
	if action.Help {
		fmt.Fprint(env.Stdout, native.PlanHelp())
		return exitOK
	}
	for _, w := range action.Warnings {
		fmt.Fprintln(env.Stderr, "warning: "+w)
	}
	switch action.Verb {
	case "schema":
		_, err = env.Stdout.Write(plan.JSONSchema())
	case "print":
		return printPlan(env, "plan", action.Plan)
	default:
		return checkPlan(env, action.Plan)
	}
	if err != nil {
		return fail(env, "plan", err, exitRun)
	}
	return exitOK
}

// checkPlan looks at the files that a plan names.
func checkPlan(env Env, p *plan.Plan) int {
	notes, err := run.Check(context.Background(), p, kit.Offline())
	for _, n := range notes {
		fmt.Fprintln(env.Stderr, "note: "+n)
	}
	if err != nil {
		return fail(env, "plan", err, exitUsage)
	}
	if _, err := fmt.Fprintln(env.Stdout, "the plan is good"); err != nil {
		return fail(env, "plan", err, exitRun)
	}
	return exitOK
}

func printPlan(env Env, command string, p *plan.Plan) int {
	text, err := plan.Encode(p)
	if err == nil {
		_, err = env.Stdout.Write(text)
	}
	if err != nil {
		return fail(env, command, err, exitRun)
	}
	return exitOK
}

func mockCommand(env Env, args []string) int {
	cfg := mock.Default()
	flags := pflag.NewFlagSet("inferometer mock", pflag.ContinueOnError)
	flags.SetOutput(env.Stderr)
	flags.Usage = func() {}
	mock.Flags(flags, &cfg)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(env.Stdout, "Serve a built-in inference server with the OpenAI API and Triton's.\n\nUsage: inferometer mock [flags]\n\n%s", flags.FlagUsagesWrapped(100))
		return exitOK
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		return fail(env, "mock", fmt.Errorf("%w%s; inferometer mock --help lists the flags", err, nearestFlag(flags, err)), exitUsage)
	}
	server, err := mock.New(cfg)
	if err != nil {
		return fail(env, "mock", err, exitUsage)
	}
	listeners := make([]net.Listener, 0, 3)
	for _, at := range [...]struct{ address, what string }{{cfg.Listen, ""}, {cfg.Triton.GRPC, " for gRPC"}, {cfg.Triton.Metrics, " for metrics"}} {
		if at.address == "" {
			listeners = append(listeners, nil)
			continue
		}
		l, err := net.Listen("tcp", at.address)
		if err != nil {
			server.Close()
			return fail(env, "mock", err, exitUsage)
		}
		fmt.Fprintf(env.Stderr, "mock listening on %s%s\n", l.Addr(), at.what)
		listeners = append(listeners, l)
	}
	var stopped atomic.Bool
	go func() {
		<-env.Interrupts
		env.Restore()
		stopped.Store(true)
		server.Close()
	}()
	if err := serveAll(server, listeners); err != nil && !stopped.Load() {
		return fail(env, "mock", err, exitRun)
	}
	if err := server.Close(); err != nil {
		return fail(env, "mock", err, exitRun)
	}
	return exitOK
}

// serveAll serves until the first listener ends: HTTP, gRPC where it is wanted, and metrics.
func serveAll(server *mock.Server, listeners []net.Listener) error {
	ended := make(chan error, len(listeners))
	for i, l := range listeners {
		serve := server.Serve
		if i == 1 {
			serve = server.ServeGRPC
		}
		if l != nil {
			go func() { ended <- serve(l) }()
		}
	}
	return <-ended
}

// nearestFlag is a hint where an error is about a flag that does not exist.
func nearestFlag(flags *pflag.FlagSet, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if n := nearest.Name(unknown.GetSpecifiedName(), names); n != "" {
		return ", did you mean --" + n + "?"
	}
	return ""
}
