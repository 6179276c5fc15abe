// Package rundir is the directory of a run: which files are in it, and what writes them while the
// run goes on. Package saved reads them.
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// The files of an output directory.
const (
	PlanFile    = "plan.yaml"
	RecordsFile = "requests.jsonl.zst"
	ResultFile  = "result.json"
	SummaryFile = "summary.csv"
)

// Files are the files of an output directory, in the order in which to read them.
func Files() []string { return []string{ResultFile, SummaryFile, RecordsFile, PlanFile} }

// Records is the record file that a run of a plan writes.
func Records(p *plan.Plan) record.File {
	return record.File{Path: filepath.Join(p.Output.Dir, RecordsFile), Most: int64(p.Limits.Record)}
}

// Locate is the output directory of the one run that a directory holds, or is; !ours: there is
// none.
func Locate(dir string) (found string, ours bool) {
	if _, err := os.Stat(filepath.Join(dir, PlanFile)); err == nil {
		return dir, true
	}
	if list, err := filepath.Glob(filepath.Join(dir, "*", PlanFile)); err == nil && len(list) == 1 {
		return filepath.Dir(list[0]), true
	}
	return dir, false
}

// Check makes sure that a directory is missing or empty, or holds only a run that may be replaced.
func Check(dir string, replace bool) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the output directory: %w", err)
	}
	if replace {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(Files(), e.Name()) })
	}
	for _, e := range entries {
		if e.Name() == RecordsFile {
			return fmt.Errorf("output directory %s already contains a run: use another directory or delete it", dir)
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("output directory %s is not empty (it holds %s): choose a new one", dir, entries[0].Name())
	}
	return nil
}
