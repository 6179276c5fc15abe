package inferometer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/console"
	csvreport "github.com/inferometer/inferometer/internal/report/csvreport"
	jsonreport "github.com/inferometer/inferometer/internal/report/jsonreport"
	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// Report makes the reports of a run again: of one of ours from its records, of what
// another of the tools wrote in its way.
func Report(tools []tool.Tool) tool.Tool {
	return tool.Tool{Name: "report", Summary: "rebuild reports from a saved run", Manual: args.ReportManual, Run: func(env tool.Env, line []string) int {
		return reportCommand(env, line, tools)
	}}
}

func reportCommand(env tool.Env, line []string, tools []tool.Tool) int {
	action, err := args.Report(line)
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	if action.Help {
		return env.PrintHelp(args.ReportManual(), true)
	}
	if action.Schema {
		if _, err := env.Stdout.Write(result.JSONSchema()); err != nil {
			return env.Fail("report", err, tool.ExitRun)
		}
		return tool.ExitOK
	}
	to, err := sendingOf(env, action.SendTo, false)
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	if env.Gates, err = tool.NewGates("report", action.Conditions, action.JUnit); err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	dir := action.Dir
	code := env.Gates.Close(env, reportOn(env, action, tools))
	if to == nil || code == tool.ExitUsage {
		return code
	}
	if err := sendSaved(env, to, dir, tools); err != nil {
		return env.Fail("report", err, tool.ExitRun)
	}
	return code
}

// sendSaved sends a run that was saved here, or what another of the tools wrote of one.
func sendSaved(env tool.Env, to *sending, dir string, tools []tool.Tool) error {
	found, ours := rundir.Locate(dir)
	if !ours {
		var err error
		if found, err = os.MkdirTemp("", "inferometer-import-*"); err != nil {
			return fmt.Errorf("creating a temporary directory: %w", err)
		}
		defer os.RemoveAll(found)
		if _, err := tool.Import(env, tool.From{Path: dir}, tools, found); err != nil {
			return err
		}
	}
	return to.send(context.Background(), env.Stderr, env.Version, found)
}

// reportOn prints the reports that are asked for.
func reportOn(env tool.Env, action *args.ReportAction, tools []tool.Tool) int {
	for _, path := range append([]string{action.Dir}, action.Dirs...) {
		if err := tool.Readable(path); err != nil {
			return env.Fail("report", err, tool.ExitUsage)
		}
	}
	if action.As != "" {
		env.ResetInterrupts()
		return reportAs(env, action, tools)
	}
	if len(action.Dirs) > 0 {
		return reportWorkers(env, action)
	}
	dir, ours := rundir.Locate(action.Dir)
	if err := pages(&env, action); err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	if !ours {
		env.ResetInterrupts()
		if code, mine := reportRepeats(env, action); mine {
			return code
		}
	}
	if _, err := os.Stat(action.Dir); !ours && err == nil {
		return reportOthers(env, action, tools)
	}
	if action.Tokenizer != "" {
		return env.Fail("report", plan.Faults{{Where: "--tokenizer", Text: "only for runs made by GenAI-Perf", Hint: "a run of inferometer has its token counts: leave it out"}}, tool.ExitUsage)
	}
	action.Dir = dir
	res, err := reported(env, action)
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	return printReport(env, res, action)
}

// reportWorkers reports what the workers of one run have kept.
func reportWorkers(env tool.Env, action *args.ReportAction) int {
	if action.Tokenizer != "" {
		return env.Fail("report", plan.Faults{{Where: "--tokenizer", Text: "cannot be combined with several directories", Hint: "their records have token counts: leave it out"}}, tool.ExitUsage)
	}
	var all *saved.Run
	err := env.Read(action.Dirs[0], func(by *record.Reading) (err error) {
		if all, err = saved.Merge(action.Dirs, by); err != nil {
			return fmt.Errorf("%w. To compare runs: inferometer compare A B", err)
		}
		return all.Judge(action.Conditions)
	})
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	return printReport(env, all.Result, action)
}

func printReport(env tool.Env, res *result.Result, action *args.ReportAction) int {
	env.Gates.Add(res)
	said(env, action)
	for _, format := range action.Formats {
		if err := printFormat(env, res, format, action); err != nil {
			return env.Fail("report", err, tool.ExitRun)
		}
	}
	return resultCode(res)
}

func said(env tool.Env, action *args.ReportAction) {
	if slices.ContainsFunc(action.Formats, func(f string) bool { return f == "console" || f == "json" || f == "md" }) {
		env.Gates.Silent()
	}
}

// again makes the reports of what one of the tools wrote; mine is false where none did.
func again(env tool.Env, action *args.ReportAction, tools []tool.Tool) (code int, mine bool) {
	for _, t := range tools {
		if t.Rebuild == nil {
			continue
		}
		if code, mine := t.Rebuild(env, tool.From{Path: action.Dir, Formats: action.Formats, Tokenizer: action.Tokenizer}); mine {
			return code, true
		}
	}
	return 0, false
}

// resultCode is the exit code that a result stands for, right after the run and when it
// is reported again: a run that was stopped or did not end properly is no success, even
// where the figures that it has are good.
func resultCode(res *result.Result) int {
	switch {
	case res.Interrupted || res.Incomplete:
		return tool.ExitRun
	case res.Verdict.Valid && res.Missed(): // also where every request failed, as a search may show
		return tool.ExitMissed
	case !tool.Answered(res):
		return tool.ExitRun
	case res.Verdict.Status == result.Inconclusive:
		return tool.ExitInconclusive
	case !res.Verdict.Valid:
		return tool.ExitRun
	}
	return tool.ExitOK
}

func printFormat(env tool.Env, res *result.Result, format string, action *args.ReportAction) error {
	switch format {
	case "json":
		return jsonreport.Write(env.Stdout, res)
	case args.HTML: // it has been written
		return nil
	case "csv":
		return csvreport.Write(env.Stdout, res)
	case "md":
		o := md.Options{Subject: subjectOf(action.Dir)}
		if p := planIn(action.Dir); p != nil {
			text, err := planfile.Encode(p)
			if err != nil {
				return err
			}
			o.Name, o.Plan = p.Name, string(text)
		}
		return md.Write(env.Stdout, res, o)
	default:
		o := console.Options{All: action.All}
		if len(action.Dirs) > 0 {
			o.Subject = subjectOf(action.Dirs[0])
		} else {
			o.Subject, o.Dir, o.Files = subjectOf(action.Dir), action.Dir, filesIn(action.Dir)
		}
		return printConsole(env, res, o)
	}
}

// printConsole prints the console report, as wide as the screen.
func printConsole(env tool.Env, res *result.Result, o console.Options) error {
	screen := env.Terminal(env.Stdout)
	o.Width, o.Color = min(screen.Width(), 140), screen.Color
	return console.Write(env.Stdout, res, o)
}

// subjectOf says what the run of a directory measured; empty where its plan does not say.
func subjectOf(dir string) string {
	if p := planIn(dir); p != nil {
		return tool.Subject(p)
	}
	return ""
}

// planIn is the plan of the run of a directory; nil where it cannot be read.
func planIn(dir string) *plan.Plan {
	name := filepath.Join(dir, rundir.PlanFile)
	text, err := tool.ReadFile(name)
	if err != nil {
		return nil
	}
	p, err := planfile.Decode(name, text)
	if err != nil {
		return nil
	}
	return p
}

// filesIn are the files of a run that are in a directory: one that was killed wrote no
// reports.
func filesIn(dir string) []string {
	return slices.DeleteFunc(rundir.Files(), func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
}
