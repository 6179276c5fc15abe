package inferometer

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/remote/storage"
	"github.com/inferometer/inferometer/internal/tool"
)

// checkOutput makes sure before a run that what it writes can be copied to the buckets that
// its plan names.
func checkOutput(ctx context.Context, env tool.Env, out *plan.Output) error {
	if !storage.Wanted(out) || out.Dir == "" {
		return nil
	}
	return storage.Check(ctx, out, storage.Options{Getenv: env.Getenv})
}

// copyOutput copies what a run has written to the buckets that its plan names. What
// could not be copied is all here.
func copyOutput(ctx context.Context, env tool.Env, out *plan.Output, log io.Writer) error {
	if !storage.Wanted(out) || out.Dir == "" {
		return nil
	}
	files, err := storage.Files(out.Dir, "")
	return errors.Join(err, storage.Copy(ctx, out, files, storage.Options{Getenv: env.Getenv, Log: log}))
}

// placed fills in what is known of the output directory of a plan whose run began, and gives what
// fills in the rest.
func placed(p *plan.Plan, began time.Time) func(*plan.Plan) string {
	if p.Target.Model != "" || !strings.Contains(p.Output.Dir, plan.PlaceModel) {
		p.Output.Dir = p.FilledDir(began)
	}
	return func(p *plan.Plan) string { return p.FilledDir(began) }
}
