package inferometer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/export"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
	profile "github.com/inferometer/inferometer/internal/tool/profileexport/export"
)

// Export writes the requests of a saved run as a table.
func Export(tools []tool.Tool) tool.Tool {
	return tool.Tool{Name: "export", Summary: "write the requests of a saved run as Parquet, CSV or JSON lines", Manual: args.ExportManual, Run: func(env tool.Env, line []string) int {
		return exportCommand(env, line, tools)
	}}
}

func exportCommand(env tool.Env, line []string, tools []tool.Tool) int {
	action, err := args.Export(line)
	if err != nil {
		return env.Fail("export", err, tool.ExitUsage)
	}
	if action.Help {
		return env.PrintHelp(args.ExportManual(), true)
	}
	if action.Out == "" {
		action.Out = exportName(action)
	}
	if err := checkExport(action); err != nil {
		return env.Fail("export", err, tool.ExitUsage)
	}
	dir, ours := rundir.Locate(action.Dir)
	if !ours {
		env.ResetInterrupts()
		if dir, err = os.MkdirTemp("", "inferometer-import-*"); err != nil {
			return env.Fail("export", fmt.Errorf("creating a temporary directory: %w", err), tool.ExitRun)
		}
		defer os.RemoveAll(dir)
		if _, err := tool.Import(env, tool.From{Path: action.Dir, Tokenizer: action.Tokenizer}, tools, dir); err != nil {
			return env.Fail("export", err, tool.ExitUsage)
		}
	}
	code := tool.ExitUsage
	err = env.Read(action.Dir, func(by *record.Reading) error {
		saved, err := saved.Open(dir, by)
		if err != nil {
			return err
		}
		code = tool.ExitRun
		return exportSaved(env, env.Stderr, action, saved)
	})
	if err != nil {
		return env.Fail("export", err, code)
	}
	return tool.ExitOK
}

// exportName is the file that an export goes to by itself: beside the records.
func exportName(action *args.ExportAction) string {
	dir := action.Dir
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	switch {
	case action.Format == args.ProfileExport:
		return filepath.Join(dir, "profile_export.json")
	case action.Events:
		return filepath.Join(dir, "events."+action.Format)
	}
	return filepath.Join(dir, "requests."+action.Format)
}

// checkExport makes sure that the file of an export, if there is one, can be made: none is ever
// replaced.
func checkExport(action *args.ExportAction) error {
	if action == nil || action.Out == args.Stdout {
		return nil
	}
	name := action.Out
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory: name a file in it", name)
	case err == nil && info.Mode().IsRegular() && info.Size() > 0:
		return fmt.Errorf("%s exists: remove it, or name another file", name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("checking the export file: %w", err)
	}
	return nil
}

// exportSaved writes a run as an action says, and tells what it wrote.
func exportSaved(env tool.Env, log io.Writer, action *args.ExportAction, saved *saved.Run) error {
	write, file := func(w io.Writer) error { return exportTo(w, log, action, saved) }, atomicfile.Write
	if action.Format == args.ProfileExport {
		if saved.Plan.Output.NoTexts {
			return errors.New("the run kept no texts (--keep none), which a profile export consists of: choose parquet, csv or jsonl")
		}
		file = atomicfile.Private // it holds what the model wrote
		job := profile.Saved(env.Version, saved.Plan, saved.Records)
		if !saved.Plan.Output.KeepRaw {
			fmt.Fprintln(log, "note: the run kept no bodies (--keep raw): the export has no request_inputs, which the original GenAI-Perf needs")
		}
		write = job.Encode
	}
	if action.Out == args.Stdout {
		return write(env.Stdout)
	}
	if err := os.MkdirAll(filepath.Dir(action.Out), 0o755); err != nil {
		return fmt.Errorf("creating the directory of the export: %w", err)
	}
	if err := file(action.Out, write); err != nil {
		return fmt.Errorf("writing the export: %w", err)
	}
	fmt.Fprintf(log, "Written: %s\n", action.Out)
	return nil
}

// sheetRows is how many rows a sheet of Excel takes, its head among them.
const sheetRows = 1 << 20

func exportTo(w, log io.Writer, action *args.ExportAction, saved *saved.Run) error {
	done, err := export.Write(w, export.Format(action.Format), export.Run{
		Plan: saved.Plan, Facts: &saved.Facts, Records: saved.Records, Result: saved.Result, Events: action.Events,
	})
	if err != nil {
		return err
	}
	if saved.Facts.Incomplete {
		fmt.Fprintln(log, "note: the run did not end properly: the rows are the requests that were on disk")
	}
	if action.Events && done.Folded > 0 {
		fmt.Fprintf(log, "note: the events beyond limits.stream have no rows (%s)\n", number.Plural(done.Folded, "stream"))
	}
	if action.Format == string(export.CSV) && done.Rows >= sheetRows {
		fmt.Fprintf(log, "note: %s rows are more than Excel opens (%s): use parquet\n", number.Count(done.Rows), number.Count(sheetRows))
	}
	return nil
}

// exporter is what a run does with its records when it has ended; nil means nothing.
func exporter(env tool.Env, log io.Writer, action *args.ExportAction) func(dir string) error {
	if action == nil {
		return nil
	}
	return func(dir string) error {
		saved, err := saved.Open(dir, nil)
		if err != nil {
			return fmt.Errorf("reading the records to export: %w", err)
		}
		return exportSaved(env, log, action, saved)
	}
}
