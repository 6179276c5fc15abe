package inferenceperf

import (
	"context"
	"errors"

	"inferometer/internal/storage"
)

// copyReports copies the reports, and the records beneath them, to the buckets that the
// config names. What could not be copied is a warning: it is all here.
func (t *tool) copyReports(ctx context.Context) (warnings []string) {
	out, o := &t.action.Plan.Output, &t.action.Options
	if !storage.Wanted(out) || o.Dir == "" {
		return nil
	}
	files, err := storage.Files(o.Dir, o.Prefix)
	err = errors.Join(err, storage.Copy(ctx, out, files, storage.Options{Getenv: t.env.Getenv, Log: t.env.Log}))
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	return warnings
}
