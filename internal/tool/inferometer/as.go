package inferometer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// reportAs makes the reports of another tool, out of the records of any run or of what a
// tool wrote about its own.
func reportAs(env tool.Env, action *args.ReportAction, tools []tool.Tool) int {
	as := &tools[slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == action.As })]
	dir, ours := rundir.Locate(action.Dir)
	if !ours {
		var err error
		if dir, err = os.MkdirTemp("", "inferometer-import-*"); err != nil {
			return env.Fail("report", fmt.Errorf("creating a temporary directory: %w", err), tool.ExitRun)
		}
		defer os.RemoveAll(dir)
		if _, err := tool.Import(env, tool.From{Path: action.Dir, Tokenizer: action.Tokenizer}, tools, dir); err != nil {
			return env.Fail("report", err, tool.ExitUsage)
		}
	}
	saved, err := saved.Read(dir, saved.Options{Names: as.Names})
	if err == nil {
		err = saved.Judge(action.Conditions)
	}
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	if ours {
		env.Gates.Add(saved.Result)
	} else {
		env.Gates.AddForeign(saved.Result)
	}
	out, err := placeFor(action, as.Name)
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage)
	}
	if saved.Plan.Output.NoTexts {
		if action.Tokenizer != "" {
			return env.Fail("report", plan.Faults{{Where: "--tokenizer", Text: "the run kept no texts (--keep none) to count the tokens of", Hint: "leave it out: the counts of the run are used"}}, tool.ExitUsage)
		}
		env.Warn("note", []string{"the run kept no texts (--keep none): files that hold responses have them without their text"})
	}
	files, err := as.Report(env, &tool.ReportRequest{Run: saved, Out: out, Tokenizer: action.Tokenizer})
	for _, name := range files {
		fmt.Fprintf(env.Stderr, "Written: %s\n", name)
	}
	if err != nil {
		return env.Fail("report", err, tool.ExitRun)
	}
	if ours { // the client of a foreign run was not monitored
		tool.PrintVerdict(env.Stderr, saved.Result)
	}
	if !tool.Answered(saved.Result) {
		return env.Fail("report", errors.New("no request succeeded: there are no figures"), tool.ExitRun)
	}
	return tool.ExitOK
}

// placeFor makes the directory of the files: by itself beside the records, or one that the
// user names and that holds nothing yet, so that no file of a run is ever replaced.
func placeFor(action *args.ReportAction, name string) (string, error) {
	out := action.Out
	if out == "" {
		out = action.Dir
		if info, err := os.Stat(out); err == nil && !info.IsDir() {
			out = filepath.Dir(out)
		}
		out = filepath.Join(out, name)
		if _, err := os.Stat(filepath.Join(out, rundir.PlanFile)); err == nil {
			return "", plan.Faults{{Where: "--format", Text: out + " is the output directory of a run", Hint: "choose another directory with --out"}}
		}
	} else if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return "", plan.Faults{{Where: "--out", Text: out + " is not empty (it holds " + entries[0].Name() + ")", Hint: "choose a new directory"}}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", fmt.Errorf("creating the directory for the reports: %w: choose another with --out", err)
	}
	return out, nil
}
