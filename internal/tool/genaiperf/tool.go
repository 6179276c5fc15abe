// Package genaiperf does what a command line of GenAI-Perf asks for: it makes the
// prompts, runs the plan, and writes the files and the summary in that tool's dialect.
package genaiperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/loader"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/report"
)

// Outcome is what came of a run.
type Outcome struct {
	Summary *dialect.Summary
	Report  report.Options // how to print it; the width is left to the caller
	Result  *result.Result // nil means there was no run, only its files
	Files   []string       // that were written
	// Config is what the JSON report repeats of the settings, where it was read; else nil.
	Config []byte
	// Sessions are the figures of each conversation, in the order in which the export begins them.
	Sessions []dialect.Session
	// Analysis is what Perf Analyzer says of the run; nil means it was not asked for.
	Analysis *Analysis
}

type job struct {
	env     *tool.Session
	set     *args.Settings
	plan    *plan.Plan
	names   message.Names
	tok     token.Tokenizer
	found   *loader.Found
	ready   *registry.Prompts // those of the run
	entries []entry           // that are known ahead
	later   *requestLog       // of those that are made during the run, or nil
	files   []string
	model   *tensor.Signature // that takes tensors; nil means none, or not known

	records record.File
	stage   int  // that is reported
	saved   bool // the run is over, and its records are all there is
	kept    int  // tokens of the answer that is looked at, as they were counted

	sessions []dialect.Session
	gpus     dialect.Telemetry
	drawn    series
	// analysis is what Perf Analyzer says, where it is asked for; else nil.
	analysis *Analysis
}

func (t *job) warn(format string, args ...any) { fmt.Fprintf(t.env.Log, format+"\n", args...) }

// Profile carries out a run. The outcome is nil where there is none; with an error
// beside it, not all of it could be kept.
func Profile(ctx context.Context, a *args.Action, env *tool.Session) (*Outcome, error) {
	t := &job{env: env, set: &a.Settings, plan: a.Plan, names: a.Names()}
	if err := t.prepareUntil(ctx, env.Stop); err != nil {
		return nil, tool.WrapPrepareError(err)
	}
	t.records = rundir.Records(t.plan)
	res, err := env.Run(ctx, t.plan, run.Options{Kit: t.kit(), Names: t.names})
	if res == nil {
		return nil, err
	}
	sum, exportErr := t.export()
	if sum == nil {
		return nil, errors.Join(err, exportErr)
	}
	out := &Outcome{Summary: sum, Result: res, Report: t.reportOptions(), Sessions: t.sessions, Analysis: t.analysis}
	err = errors.Join(err, exportErr, t.reports(out))
	if t.set.Plots {
		err = errors.Join(err, t.plotsOfRun())
	}
	out.Files = t.files
	return out, err
}

// errStopped is the end of a run that the user stopped while it was being prepared.
var errStopped = errors.New("stopped before the first request")

// prepareUntil prepares the run, unless the user stops it before that is done.
func (t *job) prepareUntil(ctx context.Context, stop <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-stop:
			cancel(errStopped)
		case <-ctx.Done():
		}
	}()
	err := t.prepare(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errStopped) {
		return cause
	}
	return err
}

// prepare makes everything that the run needs, and finds out whether its files can be
// written. Input that is bad leaves the files of an earlier run alone.
func (t *job) prepare(ctx context.Context) error {
	tokenizer := func() error { return t.tokenizer(ctx) }
	entries := func() error { return t.makeEntries(ctx) }
	for _, step := range []func() error{t.place, tokenizer, entries, t.unsent, t.directory} {
		if err := step(); err != nil {
			return err
		}
	}
	if path := filepath.Join(t.set.Dir, t.set.InputsFile); t.isInput(path) {
		t.warn("%s holds the prompts and is left as it is.", path)
	}
	if err := t.writeInputs(); err != nil {
		return err
	}
	if t.set.Verbose {
		t.describe()
	}
	return nil
}

// writeInputs writes the file of all prompts, unless they came out of it.
func (t *job) writeInputs() error {
	if t.isInput(filepath.Join(t.set.Dir, t.set.InputsFile)) {
		return nil
	}
	inputs, err := t.inputs()
	if err != nil {
		return err
	}
	return t.write(t.set.InputsFile, func(w io.Writer) error { _, err := w.Write(inputs); return err })
}

// isInput reports whether a path is that of the file of prompts.
func (t *job) isInput(path string) bool {
	in, err := os.Stat(t.plan.Data.File)
	if err != nil {
		return false
	}
	out, err := os.Stat(path)
	return err == nil && os.SameFile(in, out)
}

// place finds out where the run's files go. Early releases write beside what is there,
// and make no directory.
func (t *job) place() error {
	if path := filepath.Join(t.set.Dir, t.set.ExportFile); t.isInput(path) {
		return fmt.Errorf("--profile-export-file: %s holds the prompts: choose another name", path)
	}
	if t.set.Artifacts != "" {
		return nil
	}
	info, err := os.Stat(t.set.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("--profile-export-file: there is no directory %s: create it first", t.set.Dir)
	case err != nil:
		return fmt.Errorf("--profile-export-file: %w", err)
	case !info.IsDir():
		return fmt.Errorf("--profile-export-file: %s is not a directory", t.set.Dir)
	}
	return nil
}

func (t *job) directory() error {
	if t.set.Artifacts != "" {
		if err := os.MkdirAll(t.set.Dir, 0o755); err != nil {
			return fmt.Errorf("--artifact-dir: creating the directory of the run: %w", err)
		}
	}
	// The same command line may be run again, and its files are then written anew: our
	// own as well, and nothing else.
	dir := t.plan.Output.Dir
	for _, name := range rundir.Files() {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing the files of an earlier run: %w", err)
		}
	}
	return nil
}

// tokenizer finds what makes and counts tokens. One that is unavailable is the end: figures
// counted by another would look like those of every other run.
func (t *job) tokenizer(ctx context.Context) error {
	found, err := t.env.Kit.Tokenizer(ctx, t.plan, message.Log{To: t.env.Log, Names: t.names})
	if err != nil {
		if !t.set.TokenizerGiven {
			return fmt.Errorf("the tokenizer of model %s: %w: name one with --tokenizer, such as builtin:gpt2", t.set.Tokenizer, err)
		}
		return fmt.Errorf("--tokenizer: %w", err)
	}
	t.found, t.tok = found, found.Tokenizer
	return nil
}

// kit is the kit of the run: its prompts are those that were made, its tokenizer the
// one that was found.
func (t *job) kit() registry.Kit {
	k := t.env.Kit
	k.Ready = t.ready
	k.Tokenizers = func(context.Context, string, string, plan.Limits) (*loader.Found, error) {
		return t.found, nil
	}
	return k
}

func (t *job) describe() {
	text, err := planfile.Encode(t.plan)
	if err == nil {
		t.warn("The plan of this run:\n%s", text)
	}
	if text, err := orderedjson.Compact(t.input(&t.entries[0].prompt)); err == nil {
		h := plan.Hide(t.env.Log, t.plan.Target.Secrets())
		fmt.Fprintf(h, "The first of %d requests:\n%s\n", len(t.entries), text)
		_ = h.Close()
	}
}

// write makes one of the run's files. Requests stand in them as they are sent, but for secrets.
func (t *job) write(name string, content func(io.Writer) error) error {
	path := filepath.Join(t.set.Dir, name)
	err := atomicfile.Write(path, func(w io.Writer) error {
		var secrets []string
		if t.plan != nil {
			secrets = t.plan.Target.Secrets()
		}
		h := plan.Hide(w, secrets)
		return errors.Join(content(h), h.Close())
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if !slices.Contains(t.files, path) {
		t.files = append(t.files, path)
	}
	return nil
}

func writeCSV(w io.Writer, out *Outcome) error { return report.CSV(w, out.Summary, out.Report) }

func writeJSON(w io.Writer, out *Outcome, config string) error {
	return report.JSON(w, out.Summary, config, out.Sessions, out.Report.Telemetry)
}

// WriteJSON writes the JSON report of a run that was read.
func WriteJSON(w io.Writer, out *Outcome) error {
	config := "{}"
	if out.Config != nil {
		var err error
		if config, err = indented(out.Config); err != nil {
			return err
		}
	}
	return writeJSON(w, out, config)
}

func (t *job) reportOptions() report.Options {
	return report.Options{Endpoint: t.set.EndpointType, Streaming: t.set.Streaming, Goodput: len(t.set.Goodput) > 0, Verbose: t.set.Verbose,
		Telemetry: t.gpus}
}

func (t *job) reports(out *Outcome) error {
	stem := strings.TrimSuffix(t.set.ExportFile, filepath.Ext(t.set.ExportFile))
	err := t.write(stem+"_genai_perf.csv", func(w io.Writer) error { return writeCSV(w, out) })
	if t.set.Release != args.ReleaseLast {
		return err // they had no JSON
	}
	config, configErr := t.config()
	return errors.Join(err, configErr, t.write(stem+"_genai_perf.json", func(w io.Writer) error {
		return writeJSON(w, out, config)
	}))
}
