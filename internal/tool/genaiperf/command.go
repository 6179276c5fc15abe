package genaiperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/report"
)

const name = "genai-perf"

// Tool is GenAI-Perf. Its exit codes are the original's: 2 where the command line has no
// such form, 1 for all else that stands in the way. What stands behind "--" is Perf
// Analyzer's, which analyzer reads.
func Tool(analyzer func(line []string) (*args.Passed, error)) tool.Tool {
	return tool.Tool{Name: name, Summary: "drop-in replacement for NVIDIA's GenAI-Perf", Manual: args.Manual, Run: func(env tool.Env, line []string) int {
		return runLine(env, args.Parser{Analyzer: analyzer, ReadFile: tool.ReadFile}, line)
	}, Rebuild: func(env tool.Env, from tool.From) (int, bool) {
		if !IsFolder(from.Path) {
			return 0, false
		}
		return again(env, from), true
	}, Report: as, Names: args.Names, Import: importRun, Figures: figures, Reads: "profile_export.json of GenAI-Perf or Perf Analyzer, profile_export_genai_perf.json or .csv"}
}

func runLine(env tool.Env, reader args.Parser, line []string) int {
	action, err := reader.Parse(line)
	if err != nil {
		code := tool.ExitRun
		var malformed *args.UsageError
		if errors.As(err, &malformed) {
			code = tool.ExitUsage
		}
		return env.Fail(name, err, code)
	}
	switch action.Command {
	case args.Help:
		fmt.Fprint(env.Stdout, args.HelpText())
		return tool.ExitOK
	case args.Version:
		fmt.Fprintf(env.Stdout, "genai-perf of inferometer %s\n", env.Version)
		return tool.ExitOK
	case args.Template:
		return template(env, action)
	}
	env.Warn("note", action.Notes)
	if action.Command == args.Merge {
		out, err := Merge(context.Background(), action, env.Unwatched())
		return printed(env, action, out, err)
	}
	if action.Command == args.Compare {
		files, err := Compare(context.Background(), action, env.Unwatched())
		if err != nil {
			return env.Fail(name, err, tool.ExitRun)
		}
		fmt.Fprintln(env.Stdout, strings.Join(files, "\n"))
		return tool.ExitOK
	}
	if action.DryRun {
		var plans []*plan.Plan
		for _, level := range action.Levels {
			plans = append(plans, level.Plan)
		}
		if action.Plan != nil {
			plans = append(plans, action.Plan)
		}
		return env.PrintPlan(name, plans...)
	}
	return runProfile(env, action, line)
}

// template writes a config file to begin with.
func template(env tool.Env, action *args.Action) int {
	f, err := os.OpenFile(action.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return env.Fail(name, fmt.Errorf("create-template: %s already exists: choose another file with -f", action.File), tool.ExitRun)
	}
	if err == nil {
		_, err = f.WriteString(args.TemplateText(action.Settings.Verbose))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return env.Fail(name, fmt.Errorf("create-template: %w", err), tool.ExitRun)
	}
	fmt.Fprintf(env.Stdout, "%s written. Run it with genai-perf config -f %s.\n", action.File, action.File)
	return tool.ExitOK
}

// runProfile carries out a run and prints its table. That a command line names prompts that
// are not there is a fault of its form, as in the original.
func runProfile(env tool.Env, action *args.Action, line []string) int {
	if action.Command == args.Analyze {
		env.Gates.Several()
	}
	ctx, session, err := env.Begin(env.View())
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	defer session.End()
	valid, failing := true, false
	if action.Command == args.Analyze {
		err := Analyze(ctx, action, session, func(level *args.Action, out *Outcome) {
			session.Hide()
			fmt.Fprintln(env.Stdout, level.Settings.Dir)
			failing = printed(env, level, out, nil) != tool.ExitOK || failing
			valid = valid && (out.Result == nil || out.Result.Verdict.Valid)
		})
		session.Hide()
		if err != nil {
			return env.Fail(name, action.Names().Error(err), tool.ExitRun)
		}
		if failing {
			return tool.ExitRun
		}
		return strictly(action, valid)
	}
	out, err := Single(ctx, action, session)
	session.Hide()
	if file := action.Settings.InputFile; out == nil && file != "" && line[0] != "config" {
		if _, missing := os.Stat(file); errors.Is(missing, os.ErrNotExist) {
			return env.Fail(name, action.Names().Error(err), tool.ExitUsage)
		}
	}
	if code := printed(env, action, out, err); code != tool.ExitOK {
		return code
	}
	return strictly(action, out.Result == nil || out.Result.Verdict.Valid)
}

// strictly is the exit code of a run that went well.
func strictly(action *args.Action, valid bool) int {
	if action.Strict && !valid {
		return tool.ExitRun
	}
	return tool.ExitOK
}

// printed prints what came of a run, or why nothing did. Of an action nil it is
// the report on a directory.
func printed(env tool.Env, action *args.Action, out *Outcome, err error) int {
	name := name
	if action == nil {
		name, action = "report", new(args.Action)
	}
	if out == nil {
		return env.Fail(name, action.Names().Error(err), tool.ExitRun)
	}
	out.Report.Width = tableWidth(env)
	if out.Analysis != nil {
		if err := out.Analysis.Print(env.Stdout); err != nil {
			return env.Fail(name, err, tool.ExitRun)
		}
	}
	if printErr := report.Console(env.Stdout, out.Summary, out.Report); printErr != nil {
		return env.Fail(name, printErr, tool.ExitRun)
	}
	if out.Result != nil {
		printCache(env.Stderr, out.Result)
		tool.PrintVerdict(env.Stderr, out.Result)
	}
	if err != nil {
		return env.Fail(name, tool.BesideResult(err), tool.ExitRun)
	}
	if out.Summary.Requests+out.Summary.Failed == 0 {
		fmt.Fprintln(env.Stderr, "No request ended within the measurement: use a longer --measurement-interval.")
	}
	if out.Summary.Requests == 0 || out.Result != nil && out.Result.Failing() {
		return tool.ExitRun
	}
	return tool.ExitOK
}

// widestTable is how wide a table may be that no terminal shows: nothing of it is cut.
const widestTable = 140

// tableWidth is how many columns there are for a table.
func tableWidth(env tool.Env) int {
	screen := env.Terminal(env.Stdout)
	if n, err := strconv.Atoi(env.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if screen.Drawn {
		return screen.Width()
	}
	return widestTable
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

// again makes the reports of a run of GenAI-Perf again, in some formats, with the counts of
// a tokenizer where one is named.
func again(env tool.Env, from tool.From) int {
	set := args.Settings{Tokenizer: from.Tokenizer, TokenizerGiven: from.Tokenizer != ""}
	out, err := Report(context.Background(), from.Path, set, env.Unwatched())
	if out == nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	code := tool.ExitOK
	for _, format := range from.Formats {
		switch format {
		case "json":
			err = WriteJSON(env.Stdout, out)
		case "csv":
			err = report.CSV(env.Stdout, out.Summary, out.Report)
		default:
			code = printed(env, nil, out, nil)
		}
		if err != nil {
			return env.Fail("report", err, tool.ExitRun)
		}
	}
	return code
}
