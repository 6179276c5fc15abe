package inferenceperf

import (
	"context"
	"errors"

	"github.com/inferometer/inferometer/internal/remote/storage"
)

// checkStores makes sure before the run that its reports can be copied.
func (t *job) checkStores(ctx context.Context) error {
	out := &t.action.Plan.Output
	if !storage.Wanted(out) || t.action.Options.Dir == "" {
		return nil
	}
	return storage.Check(ctx, out, storage.Options{Getenv: t.env.Getenv, Log: t.env.Log})
}

// copyReports copies the reports, and the records beneath them, to the buckets that the
// config names. What could not be copied is all here.
func (t *job) copyReports(ctx context.Context) error {
	out, o := &t.action.Plan.Output, &t.action.Options
	if !storage.Wanted(out) || o.Dir == "" {
		return nil
	}
	files, err := storage.Files(o.Dir, o.Prefix)
	return errors.Join(err, storage.Copy(ctx, out, files, storage.Options{Getenv: t.env.Getenv, Log: t.env.Log}))
}
