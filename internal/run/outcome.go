package run

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/errlist"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

type resultBuilder struct {
	log       io.Writer
	queue     *executor.Queue
	journal   *rundir.Journal
	folds     *collect.Aggregators
	collector *collect.Collector
	counter   interface{ Err() error } // a tokenizer that may fail on a text; nil means it cannot
	saved     func(dir string) error   // is given the records in the end; optional
	draw      Drawer                   // is told what a page draws of it; optional
	sketches  *sketches
	reading   *record.Reading // is told how far the records are read once more
}

// conclude decodes what is left and puts the result together. played is what ended the
// stages before their time.
func (o *resultBuilder) conclude(played error) (*result.Result, error) {
	asRun, facts := o.queue.PlanAsRun(), &o.journal.Facts
	facts.Incomplete = saved.LacksStages(facts, len(asRun.Stages))
	err := errors.Join(played, o.collector.Close())
	if o.counter != nil && o.counter.Err() != nil {
		fmt.Fprintf(o.log, "warning: %v; such texts count as 0 tokens\n", o.counter.Err())
	}
	fold, mergeErr := o.folds.Merged()
	err = errors.Join(err, mergeErr)
	out := o.journal.Writer
	out.Close()
	var res *result.Result
	var buildErr error
	// What is measured is told by the workers that are left: the records are folded once more for them.
	if slices.ContainsFunc(facts.Stages, func(m record.StageSummary) bool { return len(m.Gone) > 0 }) {
		var again *saved.Run
		if again, buildErr = saved.Read(out.Path(), saved.Options{Names: saved.Named(facts.Names), Reading: o.reading}); buildErr == nil {
			res = again.Result
		}
	} else {
		records := &record.File{Path: out.RecordsPath(), Most: int64(asRun.Limits.Record), Reading: o.reading}
		res, buildErr = saved.Build(asRun, facts, fold, records, o.folds.Pool)
	}
	if buildErr != nil {
		return nil, errors.Join(err, fmt.Errorf("making the result: %w", buildErr))
	}
	err = errlist.Distinct(errors.Join(err, out.Finish(res), o.page(res, fold)))
	if o.saved != nil {
		err = errors.Join(err, o.saved(out.Path()))
	}
	if err != nil && slices.ContainsFunc(facts.Stages, func(m record.StageSummary) bool { return m.Reason == record.StopRecords }) {
		err = &abort.Error{Err: err}
	}
	return res, err
}
