package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"inferometer/internal/report/progress"
	"inferometer/internal/result"
	"inferometer/internal/run"
	"inferometer/internal/run/kit"
	tool "inferometer/internal/tool/genaiperf"
	frontend "inferometer/internal/tool/genaiperf/args"
	"inferometer/internal/tool/genaiperf/report"
	native "inferometer/internal/tool/native/args"
	perfanalyzer "inferometer/internal/tool/perfanalyzer/args"
)

// genaiPerfCommand is the command line of GenAI-Perf. Its exit codes are the original's: 2
// where the command line has no such form, 1 for all else that stands in the way.
func genaiPerfCommand(env Env, args []string) int {
	const name = "genai-perf"
	action, err := frontend.Reader{Analyzer: analyzerFlags, ReadFile: readFile}.Parse(args)
	if err != nil {
		code := exitRun
		var malformed *frontend.UsageError
		if errors.As(err, &malformed) {
			code = exitUsage
		}
		return fail(env, name, err, code)
	}
	switch action.Command {
	case frontend.Help:
		fmt.Fprint(env.Stdout, frontend.HelpText())
		return exitOK
	case frontend.Version:
		fmt.Fprintf(env.Stdout, "genai-perf of inferometer %s\n", version())
		return exitOK
	case frontend.Template:
		return genaiPerfTemplate(env, action)
	}
	for _, n := range action.Notes {
		fmt.Fprintln(env.Stderr, "note: "+n)
	}
	if action.Command == frontend.Merge {
		out, err := tool.Merge(context.Background(), action, toolEnv(env))
		return genaiPerfReport(env, action, out, err)
	}
	if action.Command == frontend.Compare {
		files, err := tool.Compare(context.Background(), action, toolEnv(env))
		if err != nil {
			return fail(env, name, err, exitRun)
		}
		fmt.Fprintln(env.Stdout, strings.Join(files, "\n"))
		return exitOK
	}
	if action.DryRun {
		for i, level := range action.Levels {
			if i > 0 {
				fmt.Fprintln(env.Stdout, "---")
			}
			if code := printPlan(env, name, level.Plan); code != exitOK {
				return code
			}
		}
		if action.Plan == nil {
			return exitOK
		}
		return printPlan(env, name, action.Plan)
	}
	defer giveHeapRoom(env)()
	return genaiPerfProfile(env, action)
}

// genaiPerfTemplate writes a config file to begin with.
func genaiPerfTemplate(env Env, action *frontend.Action) int {
	f, err := os.OpenFile(action.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fail(env, "genai-perf", fmt.Errorf("create-template: %s is there already: name another file with -f", action.File), exitRun)
	}
	if err == nil {
		_, err = f.WriteString(frontend.TemplateText(action.Settings.Verbose))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fail(env, "genai-perf", fmt.Errorf("create-template: %w", err), exitRun)
	}
	fmt.Fprintf(env.Stdout, "%s is written: genai-perf config -f %s runs it.\n", action.File, action.File)
	return exitOK
}

// analyzerFlags reads a command line of Perf Analyzer for GenAI-Perf, which hands over
// what stands behind "--".
func analyzerFlags(args []string) (*frontend.Passed, error) {
	files := disk()
	onDisk := files.Kind
	files.Kind = func(name string) string {
		if name == frontend.Inputs {
			return "file"
		}
		return onDisk(name)
	}
	a, err := perfanalyzer.Parse(args, files)
	if err != nil {
		return nil, err
	}
	if a.Plan == nil {
		return nil, errors.New("help and version stand in front of --")
	}
	p := &frontend.Passed{Plan: a.Plan, Warnings: a.Warnings, DryRun: a.DryRun, Strict: a.Strict, Verbose: a.Verbose > 0}
	if a.CSV != "" {
		p.Files = append(p.Files, "-f")
	}
	if a.Export != "" {
		p.Files = append(p.Files, "--profile-export-file")
	}
	return p, nil
}

// genaiPerfProfile carries out a run and prints its table.
func genaiPerfProfile(env Env, action *frontend.Action) int {
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
	with := toolEnv(env)
	with.Stop = stop
	with.Watch = func(state func() run.Progress) { display.Start((&gauge{state: state}).snapshot) }
	valid, failing := true, false
	if action.Command == frontend.Analyze {
		err := tool.Analyze(ctx, action, with, func(level *frontend.Action, out *tool.Outcome) {
			display.Stop()
			fmt.Fprintln(env.Stdout, level.Settings.Dir)
			failing = genaiPerfReport(env, level, out, nil) != exitOK || failing
			valid = valid && (out.Result == nil || out.Result.Verdict.Valid)
		})
		display.Stop()
		if err != nil {
			return fail(env, "genai-perf", action.Located(err), exitRun)
		}
		if failing {
			return exitRun
		}
		return strictly(action, valid)
	}
	out, err := tool.Profile(ctx, action, with)
	display.Stop()
	if code := genaiPerfReport(env, action, out, err); code != exitOK {
		return code
	}
	return strictly(action, out.Result.Verdict.Valid)
}

// strictly is the exit code of a run that went well.
func strictly(action *frontend.Action, valid bool) int {
	if action.Strict && !valid {
		return exitRun
	}
	return exitOK
}

func toolEnv(env Env) tool.Env {
	return tool.Env{Kit: kit.Default(), Version: version(), Log: env.Stderr}
}

// genaiPerfReport prints what came of a run, or why nothing did. Of an action nil it is
// the report on a directory.
func genaiPerfReport(env Env, action *frontend.Action, out *tool.Outcome, err error) int {
	name := "genai-perf"
	if action == nil {
		name, action = "report", new(frontend.Action)
	}
	if out == nil {
		return fail(env, name, action.Located(err), exitRun)
	}
	out.Report.Width = tableWidth(env)
	if printErr := report.Console(env.Stdout, out.Summary, out.Report); printErr != nil {
		return fail(env, name, printErr, exitRun)
	}
	if out.Result != nil {
		printCache(env.Stderr, out.Result)
		printVerdict(env.Stderr, out.Result)
	}
	if err != nil {
		return fail(env, name, besideResult(err), exitRun)
	}
	if out.Summary.Requests+out.Summary.Failed == 0 {
		fmt.Fprintln(env.Stderr, "No request ended within the measured time: give it longer with --measurement-interval.")
	}
	if out.Summary.Requests == out.Summary.Empty || out.Result != nil && out.Result.Failing() {
		return exitRun
	}
	return exitOK
}

// widestTable is how wide a table may be that no terminal shows: nothing of it is cut.
const widestTable = 140

// tableWidth is how many columns there are for a table.
func tableWidth(env Env) int {
	screen := terminalOf(env.Stdout, env.Getenv)
	if n, err := strconv.Atoi(env.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if screen.is {
		return screen.width()
	}
	return widestTable
}

// printVerdict says whether a result can be trusted, in a few lines.
func printVerdict(w io.Writer, res *result.Result) {
	if res.Interrupted {
		fmt.Fprintln(w, "The run was stopped early: the figures are of what had ended by then.")
	}
	if res.Verdict.Valid {
		fmt.Fprintln(w, "Verdict: valid.")
		return
	}
	fmt.Fprintf(w, "Verdict: %s.\n", strings.ToUpper(cmp.Or(res.Verdict.Word, result.Invalid)))
	for _, reason := range res.Verdict.Reasons {
		fmt.Fprintln(w, "  "+strings.ReplaceAll(reason, "\n", " "))
	}
	for _, why := range res.Verdict.Undecided {
		fmt.Fprintln(w, "  Undecided: "+strings.ReplaceAll(why, "\n", " "))
	}
}

// printCache says how much of the prompts the server had in its prefix cache, where it says
// so: with the seed of the tool, a second run finds those of the first there.
func printCache(w io.Writer, res *result.Result) {
	for i := range res.Stages {
		if m, ok := res.Stages[i].Metrics["cached_prompt_share"]; ok && m.Avg > 0 {
			fmt.Fprintf(w, "%.1f %% of the prompt tokens came from the server's prefix cache.\n", 100*m.Avg)
		}
	}
}

// genaiPerfDir looks whether a directory is that of a run of GenAI-Perf. One of our own
// has our records inside it: dir then becomes their directory.
func genaiPerfDir(dir *string) bool {
	if _, err := os.Stat(filepath.Join(*dir, run.PlanFile)); err == nil {
		return false
	}
	found, err := filepath.Glob(filepath.Join(*dir, "*"+frontend.RecordsSuffix, run.PlanFile))
	if err == nil && len(found) == 1 {
		*dir = filepath.Dir(found[0])
		return false
	}
	return tool.IsFolder(*dir)
}

// genaiPerfAgain makes the reports of a run of GenAI-Perf again.
func genaiPerfAgain(env Env, action *native.ReportAction) int {
	set := frontend.Settings{Tokenizer: action.Tokenizer, TokenizerGiven: action.Tokenizer != ""}
	out, err := tool.Report(context.Background(), action.Dir, set, toolEnv(env))
	if out == nil {
		return fail(env, "report", err, exitUsage)
	}
	code := exitOK
	for _, format := range action.Formats {
		switch format {
		case "json":
			err = tool.WriteJSON(env.Stdout, out)
		case "csv":
			err = report.CSV(env.Stdout, out.Summary, out.Report)
		default:
			code = genaiPerfReport(env, nil, out, nil)
		}
		if err != nil {
			return fail(env, "report", err, exitRun)
		}
	}
	return code
}
