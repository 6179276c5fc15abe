package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"inferometer/internal/plan"
	"inferometer/internal/storage"
)

// copyOutput copies what a run has written to the buckets that its plan names. What
// could not be copied is a warning: it is all here.
func copyOutput(ctx context.Context, env Env, out *plan.Output, log io.Writer) {
	if !storage.Wanted(out) || out.Dir == "" {
		return
	}
	files, err := storage.Files(out.Dir, "")
	err = errors.Join(err, storage.Copy(ctx, out, files, storage.Options{Getenv: env.Getenv, Log: log}))
	if err != nil {
		fmt.Fprintf(env.Stderr, "warning: %v\n", err)
	}
}
