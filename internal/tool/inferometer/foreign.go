package inferometer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/console"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// reportOthers reports what another tool wrote: as that tool does where it can, and as a run
// of ours in a page, as Markdown and where nobody else can.
func reportOthers(env tool.Env, action *args.ReportAction, tools []tool.Tool) int {
	page, md := wantsPage(env, action), slices.Contains(action.Formats, "md")
	if !page && !md && action.Conditions.None() && action.JUnit == "" {
		if code, mine := again(env, action, tools); mine {
			return code
		}
	}
	dir, err := os.MkdirTemp("", "inferometer-import-*")
	if err != nil {
		return env.Fail("report", fmt.Errorf("creating a temporary directory: %w", err), tool.ExitRun)
	}
	defer os.RemoveAll(dir)
	read, figures, err := tool.Foreign(env, tool.From{Path: action.Dir, Tokenizer: action.Tokenizer}, tools, dir)
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	if figures != nil && (!action.Conditions.None() || action.JUnit != "") {
		return env.Fail("report", plan.Faults{{Where: "--fail-if, --fail-unless, --junit", Text: action.Dir + " has figures alone", Hint: "gates need a run with its requests; compare takes figures"}}, tool.ExitUsage)
	}
	if figures != nil {
		return reportFigures(env, action, figures)
	}
	saved, err := saved.Read(dir, saved.Options{Draw: true})
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	if err := saved.Judge(action.Conditions); err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	unwatched(saved.Result, action.Dir, read)
	env.Gates.AddForeign(saved.Result)
	if page {
		d := saved.Document
		d.Plan, d.Runs = "", "" // what its load comes to, not what was run
		d.Show(saved.Result)
		if err := writePage(env, action, d); err != nil {
			return env.Fail("report", err, tool.ExitUsage)
		}
		if slices.Contains(action.Formats, args.HTML) {
			return tool.ExitOK
		}
		if code, mine := again(env, action, tools); mine && !md {
			return code
		}
	}
	return printOthers(env, action, saved, dir)
}

// unwatched takes out of a result what nobody can know who did not watch the client, and adds
// the notes on what was read.
func unwatched(res *result.Result, path string, read *tool.Imported) {
	res.Notes = append(res.Notes, read.Notes...)
	res.Doubt(fmt.Sprintf("%s measured this (%s), and client health unknown: late sends or reads cannot be ruled out.", read.By, filepath.Base(path)))
	for i := range res.Stages {
		s := &res.Stages[i]
		for id, stat := range s.Metrics {
			stat.Error = nil
			s.Metrics[id] = stat
		}
	}
}

// printOthers prints the reports of what another tool measured. Nobody watched its client, so
// that the verdict is not this command's.
func printOthers(env tool.Env, action *args.ReportAction, saved *saved.Run, dir string) int {
	said(env, action)
	for _, format := range action.Formats {
		var err error
		if format == "console" {
			err = printConsole(env, saved.Result, console.Options{All: action.All, Subject: tool.Subject(saved.Plan)})
		} else {
			there := *action
			there.Dir = dir
			err = printFormat(env, saved.Result, format, &there)
		}
		if err != nil {
			return env.Fail("report", err, tool.ExitRun)
		}
	}
	if !tool.Answered(saved.Result) {
		return env.Fail("report", errors.New("no request succeeded: there are no figures"), tool.ExitRun)
	}
	return tool.ExitOK
}

// reportFigures reports what another tool has worked out itself.
func reportFigures(env tool.Env, action *args.ReportAction, f *tool.Figures) int {
	if wantsPage(env, action) {
		return env.Fail("report", fmt.Errorf("%s has figures of %s, and no single requests to draw", action.Dir, f.By), tool.ExitUsage)
	}
	for _, format := range action.Formats {
		if format == "md" {
			return env.Fail("report", plan.Faults{{Where: "--format md", Text: action.Dir + " has figures alone", Hint: "choose console, json or csv"}}, tool.ExitUsage)
		}
		if err := writeFigures(env.Stdout, format, action.Dir, f); err != nil {
			return env.Fail("report", err, tool.ExitRun)
		}
	}
	return tool.ExitOK
}
