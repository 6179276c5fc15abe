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

	frontend "inferometer/internal/frontend/inferenceperf"
	"inferometer/internal/kit"
	"inferometer/internal/plan"
	"inferometer/internal/result"
	"inferometer/internal/run"
	"inferometer/internal/tokensource"
)

// Env is what carrying out a command takes from the world.
type Env struct {
	Kit     kit.Kit
	Version string
	Getenv  func(string) string
	Out     io.Writer // the reports
	Log     io.Writer // messages
	Stop    <-chan struct{}
	Watch   func(progress func() run.Progress)
}

// ConfigFile is the config in force, beside the reports.
const ConfigFile = "config.yaml"

// Run carries out a run. The result is nil where nothing was measured; an error beside
// it says what could not be kept.
func Run(ctx context.Context, a *frontend.Action, env Env) (*result.Result, error) {
	o := &a.Options
	if o.Dir != "" {
		if err := saveConfig(a); err != nil {
			return nil, &PrepareError{err}
		}
	}
	res, err := run.Run(ctx, a.Plan, run.Options{
		Kit: withTokenizer(env, a), Version: env.Version, Log: env.Log, Stop: env.Stop, Watch: env.Watch,
	})
	return res, err
}

// PrepareError is an error that was met before the first request.
type PrepareError struct{ error }

// Unwrap gives the cause.
func (e *PrepareError) Unwrap() error { return e.error }

// saveConfig writes the config in force to where the reports go.
func saveConfig(a *frontend.Action) error {
	o := &a.Options
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return fmt.Errorf("making the directory of the reports: %w", err)
	}
	name := filepath.Join(o.Dir, o.Prefix+ConfigFile)
	if err := os.WriteFile(name, a.Config, 0o644); err != nil {
		return fmt.Errorf("writing the config in force: %w", err)
	}
	return nil
}

// guessTime is how long the tokenizer of a model may take that nobody named: the name
// of the model is only a guess.
const guessTime = 30 * time.Second

// withTokenizer is a kit that takes the tokenizer of the model where the config names
// none, and the built-in one where that cannot be had.
func withTokenizer(env Env, a *frontend.Action) kit.Kit {
	k, o := env.Kit, &a.Options
	find := k.Tokenizers
	if o.HubToken != "" {
		find = tokensource.Finder{Env: func(name string) string {
			if name == "HF_TOKEN" {
				return o.HubToken
			}
			return env.Getenv(name)
		}}.Find
	}
	k.Tokenizers = func(ctx context.Context, name, revision string) (*tokensource.Found, error) {
		if o.TokenizerGiven {
			if o.TokenizerTimeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, o.TokenizerTimeout)
				defer cancel()
			}
			return find(ctx, name, revision)
		}
		model := a.Plan.Target.Model
		if model == "" || o.Server == "mock" {
			return find(ctx, name, revision)
		}
		guess, cancel := context.WithTimeout(ctx, guessTime)
		defer cancel()
		found, err := find(guess, model, "")
		if err == nil {
			a.Plan.Tokenizer = plan.Tokenizer{Name: model}
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		fmt.Fprintf(env.Log, "note: there is no tokenizer called %q: prompts are made with the built-in one and counted by the server; name the model's with tokenizer.pretrained_model_name_or_path\n", model)
		return find(ctx, name, revision)
	}
	return k
}
