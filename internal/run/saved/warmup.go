package saved

import (
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/stat"
)

// findsWarmup reports whether a plan leaves it to the run how long a warm-up is.
func findsWarmup(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Stages, func(s plan.Stage) bool { return s.Warmup.Auto })
}

// NeedsRecords reports whether the result of a plan's run needs its records: for what turns out to be
// warm-up, or for the intervals of gates.
func NeedsRecords(p *plan.Plan) bool { return findsWarmup(p) || len(asksIntervals(p.Conditions)) > 0 }

// Build makes the result of a run that has just ended from what its records were folded into.
func Build(p *plan.Plan, f *build.Inputs, fold *metric.Aggregator, records *record.File, pool *stat.Pool) (*result.Result, error) {
	return buildResult(p, f, fold, records, pool, nil)
}

// buildResult makes the result. Where a plan leaves it to the run how long a warm-up is, the
// records are folded once more, without what turned out to be one, and are edited so from
// then on: a run and a report of it do the same.
func buildResult(p *plan.Plan, f *build.Inputs, fold *metric.Aggregator, records *record.File, pool *stat.Pool,
	b *besides) (*result.Result, error) {
	if !findsWarmup(p) || records.Path == "" {
		return b.build(p, *f, fold, records)
	}
	marks, changed, err := build.DetectWarmup(p, f.Stages, fold)
	if err != nil {
		return nil, err
	}
	if !changed {
		return b.build(p, *f, fold, records)
	}
	records.Edit = settled(p, marks)
	again, err := aggregate(p, f, marks, records, pool, b, nil)
	if err != nil {
		return nil, fmt.Errorf("taking the warm-up out: %w", err)
	}
	defer again.Close()
	f.Stages = marks
	return b.build(p, *f, again, records)
}

// settled gives a line the marks found, and a request the phase that it was in.
func settled(p *plan.Plan, marks []record.StageSummary) func(*record.Line) {
	return func(l *record.Line) {
		switch {
		case l.Stage != nil:
			l.Stage = record.FindStage(marks, l.Stage.Stage)
		case l.Request != nil && l.Request.Stage >= 0 && l.Request.Stage < len(p.Stages) && p.Stages[l.Request.Stage].Warmup.Auto:
			if m := record.FindStage(marks, l.Request.Stage); m != nil && begun(l.Request) < m.WarmupEnd {
				l.Request.Phase = record.Warmup
			}
		}
	}
}

// begun is when a request was sent, or was due where it never was.
func begun(rec *record.Record) time.Duration {
	if rec.Sent == record.Never {
		return rec.Due
	}
	return rec.Sent
}
