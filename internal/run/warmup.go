package run

import (
	"fmt"
	"slices"
	"time"

	"inferometer/internal/metric"
	"inferometer/internal/plan"
	"inferometer/internal/record"
	"inferometer/internal/result"
	"inferometer/internal/stat"
)

// findsWarmup reports whether a plan leaves it to the run how long a warm-up is.
func findsWarmup(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Stages, func(s plan.Stage) bool { return s.Warmup.Auto })
}

// build makes the result. Where a plan leaves it to the run how long a warm-up is, the
// records are folded once more, without what turned out to be one: a run and a report of
// it do the same.
func build(p *plan.Plan, f result.Facts, fold *metric.Fold, records string, pool *stat.Pool) (*result.Result, error) {
	if !findsWarmup(p) || records == "" {
		return result.Build(p, f, fold)
	}
	marks, changed, err := result.Settled(p, f.Stages, fold)
	if err != nil {
		return nil, err
	}
	if !changed {
		return result.Build(p, f, fold)
	}
	again, err := metric.NewFold(foldOptions(p, result.Bounds(marks), pool, nil))
	if err != nil {
		return nil, err
	}
	defer again.Close()
	err = eachRequest(records, p.Limits.Record, func(rec *record.Record) {
		if rec.Stage >= 0 && rec.Stage < len(p.Stages) && p.Stages[rec.Stage].Warmup.Auto {
			if m := result.MarkOf(marks, rec.Stage); m != nil && begun(rec) < m.WarmupEnd {
				rec.Phase = record.Warmup
			}
		}
		again.Add(rec)
	})
	if err != nil {
		return nil, fmt.Errorf("taking the warm-up out: %w", err)
	}
	f.Stages = marks
	return result.Build(p, f, again)
}

// begun is when a request was sent, or was due where it never was.
func begun(rec *record.Record) time.Duration {
	if rec.Sent == record.Never {
		return rec.Due
	}
	return rec.Sent
}
