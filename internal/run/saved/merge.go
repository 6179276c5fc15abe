package saved

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// share is what one worker of a run has kept.
type share struct {
	dir    string
	header record.Header
	plan   *plan.Plan
	text   []byte
}

// Merge makes a run's result from the directories of its workers, whose coordinator died before.
func Merge(dirs []string, reading *record.Reading) (*Run, error) {
	var all []share
	for _, dir := range dirs {
		s, err := shareIn(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b share) int { return cmp.Compare(a.header.Worker, b.header.Worker) })
	for i, s := range all[1:] {
		switch before := all[i]; {
		case s.header.Run != before.header.Run || !bytes.Equal(s.text, before.text):
			return nil, fmt.Errorf("%s and %s are of different runs: give the directories of the workers of one run", before.dir, s.dir)
		case s.header.Worker == before.header.Worker:
			return nil, fmt.Errorf("%s and %s are both of worker %d: give each directory once", before.dir, s.dir, s.header.Worker)
		}
	}
	records := record.File{Path: filepath.Join(all[0].dir, rundir.RecordsFile), Most: int64(all[0].plan.Limits.Record), Reading: reading}
	var of []int
	for _, s := range all[1:] {
		records.Also, of = append(records.Also, filepath.Join(s.dir, rundir.RecordsFile)), append(of, s.header.Worker)
	}
	saved, err := opened(all[0].plan, records, of)
	if err == nil {
		err = saved.build(nil)
	}
	if err != nil {
		return nil, err
	}
	return saved, nil
}

// shareIn looks at what a worker has kept.
func shareIn(dir string) (share, error) {
	s := share{dir: dir}
	var err error
	if s.plan, s.text, err = planIn(dir); err != nil {
		return s, err
	}
	enough := errors.New("the header is enough")
	_, err = record.File{Path: filepath.Join(dir, rundir.RecordsFile)}.Walk(func(l record.Line) error {
		s.header = *l.Header
		return enough
	})
	switch {
	case !errors.Is(err, enough):
		return s, err
	case s.header.Worker == 0 || s.header.Run == "":
		return s, fmt.Errorf("%s is not the directory of a worker: only those of the workers of one run can be reported together; report it alone", dir)
	}
	return s, nil
}

// missing are the names of workers of whom there are no records.
func missing(all []record.WorkerInfo, here []int) []string {
	var names []string
	for i, w := range all {
		if !slices.Contains(here, i+1) {
			names = append(names, w.Name)
		}
	}
	return names
}

// joinMark adds a worker's mark to those of the stages.
func joinMark(marks []record.StageSummary, m record.StageSummary) []record.StageSummary {
	m.Worker = 0
	if i := slices.IndexFunc(marks, func(o record.StageSummary) bool { return o.Stage == m.Stage }); i >= 0 {
		marks[i].Join(m)
		return marks
	}
	return append(marks, m)
}
