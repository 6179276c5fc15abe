// Package inferenceperf does what a command line of inference-perf asks for: it runs the
// plan and writes the reports in that tool's shape.
package inferenceperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/token/loader"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/otlp"
)

// ConfigFile is the config in force, beside the reports.
const ConfigFile = "config.yaml"

// Outcome is what came of a run.
type Outcome struct {
	Result *result.Result
	Files  []string // reports that were written
}

type job struct {
	action  *args.Action
	env     *tool.Session
	records record.File
	media   mediaLog
	files   []string
}

// Run carries out a run. The outcome is nil where nothing was measured; an error beside
// it says what could not be kept. To lines goes how the stages go, while they do.
func Run(ctx context.Context, a *args.Action, env *tool.Session, lines io.Writer) (*Outcome, error) {
	spans, wanted, err := otlp.FromEnv(env.Getenv)
	if err != nil {
		return nil, tool.WrapPrepareError(err)
	}
	t := &job{action: a, env: env}
	if err := t.checkStores(ctx); err != nil {
		return nil, err
	}
	done, err := t.directory()
	if err != nil {
		return nil, tool.WrapPrepareError(err)
	}
	defer done()
	t.records = rundir.Records(a.Plan)
	s := &following{stages: stages{}, options: &a.Options, log: lines}
	res, err := env.Run(ctx, a.Plan,
		run.Options{Kit: withTokenizer(env, a), Names: a.Names(), Prompt: t.media.remember, Observer: s, Replace: true})
	if res == nil {
		return nil, err
	}
	s.finish(len(res.Stages))
	err = errors.Join(err, t.writeReports(s.stages, res))
	if wanted {
		err = errors.Join(err, t.export(ctx, spans))
	}
	return &Outcome{Result: res, Files: t.files}, errors.Join(err, t.copyReports(ctx))
}

// directory makes the directory of the reports, with the config in force. Without one,
// records are kept only until the reports are on the screen.
func (t *job) directory() (done func(), err error) {
	if dir := t.action.Options.Dir; dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("creating the report directory: %w", err)
		}
		return func() {}, t.write(ConfigFile, func(w io.Writer) error { _, err := w.Write(t.action.Config); return err })
	}
	dir, err := os.MkdirTemp("", "inferometer-records-*")
	if err != nil {
		return nil, fmt.Errorf("creating a temporary directory for the records: %w", err)
	}
	t.action.Plan.Output.Dir = filepath.Join(dir, args.RecordsDir)
	return func() { os.RemoveAll(dir) }, nil
}

// guessTime is how long a model's tokenizer may take whose name is only a guess.
const guessTime = 30 * time.Second

// withTokenizer is a kit that takes the tokenizer of the model where the config names
// none, and the built-in one where that is unavailable.
func withTokenizer(env *tool.Session, a *args.Action) registry.Kit {
	k, o := env.Kit, &a.Options
	find := k.Tokenizers
	if o.HubToken != "" {
		find = registry.Tokenizers(func(name string) string {
			if name == "HF_TOKEN" {
				return o.HubToken
			}
			return env.Getenv(name)
		})
	}
	k.Tokenizers = func(ctx context.Context, name, revision string, l plan.Limits) (*loader.Found, error) {
		model := a.Plan.Target.Model
		switch {
		case o.TokenizerGiven && o.TokenizerTimeout > 0:
			ctx, cancel := context.WithTimeout(ctx, o.TokenizerTimeout)
			defer cancel()
			return find(ctx, name, revision, l)
		case o.TokenizerGiven, model == "", o.Server == "mock":
			return find(ctx, name, revision, l)
		}
		guess, cancel := context.WithTimeout(ctx, guessTime)
		defer cancel()
		found, err := find(guess, model, "", l)
		if err == nil {
			a.Plan.Tokenizer.Name = model
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		fmt.Fprintf(env.Log, "note: no tokenizer found for %q: prompts are made with the built-in one and counted by the server; set tokenizer.pretrained_model_name_or_path to the model's\n", model)
		return find(ctx, name, revision, l)
	}
	return k
}
