package inferenceperf

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/report/console"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

const name = "inference-perf"

// Tool is inference-perf. Its exit codes are 0 where there is something to report, 1 where
// there is not or where the run was ended early, and 2 for a bad config.
func Tool() tool.Tool {
	return tool.Tool{Name: name, Summary: "drop-in replacement for inference-perf", Manual: args.Manual, Run: runLine, Report: as, Names: usualNames, Import: importRun, Figures: figures, Reads: "per_request_lifecycle_metrics.json of inference-perf, or the reports of its stages"}
}

func runLine(env tool.Env, line []string) int {
	action, err := args.Parse(line, args.World{ReadFile: tool.ReadFile, Now: time.Now()})
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	switch action.Command {
	case args.Help:
		fmt.Fprint(env.Stdout, args.HelpText())
		return tool.ExitOK
	case args.Version:
		fmt.Fprintf(env.Stdout, "inference-perf (inferometer %s)\n", env.Version)
		return tool.ExitOK
	}
	log := levelled(env.Stderr, action.LogLevel)
	if action.Command == args.Analyze {
		files, err := Analyze(action, log.info)
		if err != nil {
			return env.Fail(name, err, tool.ExitRun)
		}
		if len(files) == 0 {
			return env.Fail(name, errors.New("nothing to draw"), tool.ExitRun)
		}
		return tool.ExitOK
	}
	if action.File != "" {
		fmt.Fprintf(log.info, "INFO - Using configuration from: %s\n", action.File)
	}
	for _, w := range action.Warnings {
		fmt.Fprintf(log.warning, "WARNING - %s\n", w)
	}
	if action.DryRun {
		return env.PrintPlan(name, action.Plan)
	}
	fmt.Fprintf(log.info, "INFO - Benchmarking with the following config:\n\n%s\n", action.Config)
	return runPlan(env, action, log)
}

func runPlan(env tool.Env, action *args.Action, log logs) int {
	mode := env.View()
	if log.info == io.Discard {
		mode = progress.Quiet
	}
	ctx, session, err := env.Begin(mode)
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	defer session.End()
	quiet := sync.OnceFunc(session.Hide)
	session.Out, session.Log = &afterwards{env.Stdout, quiet}, log.info
	lines := io.Discard
	if log.info != io.Discard {
		lines = session.Output(env.Stdout)
	}
	out, err := Run(ctx, action, session, lines)
	quiet()
	if out == nil {
		return env.Fail(name, action.Names().Error(err), tool.ExitCode(err))
	}
	res := out.Result
	for _, name := range out.Files {
		fmt.Fprintf(log.info, "INFO - Report saved to: %s\n", name)
	}
	if err := printTables(env, action, res); err != nil {
		return env.Fail(name, err, tool.ExitRun)
	}
	tool.PrintVerdict(log.warning, res)
	if err != nil {
		return env.Fail(name, action.Names().Error(tool.BesideResult(err)), tool.ExitRun)
	}
	early := !tool.Answered(res) || res.Interrupted
	if early && !action.Options.Faithful || action.Strict && !res.Verdict.Valid {
		return tool.ExitRun
	}
	return tool.ExitOK
}

func printTables(env tool.Env, action *args.Action, res *result.Result) error {
	screen := env.Terminal(env.Stdout)
	return console.Write(env.Stdout, res, console.Options{
		Width: min(screen.Width(), 140), Color: screen.Color, Subject: tool.Subject(action.Plan), Dir: action.Options.Dir, Named: true,
	})
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
