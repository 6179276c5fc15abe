package run

import (
	"errors"
	"runtime"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
)

// folds are what records are folded into: one for each core, so that cores do not wait for
// one another.
type folds struct {
	list  []*metric.Aggregator
	lives []*metric.LiveStats // what others may see of them
	pool  *stat.Pool
}

func newFolds(p *plan.Plan, workers bool, bounds func(stage int) (from, to time.Duration)) (*folds, error) {
	f := &folds{pool: stat.NewPool("", metric.SampleMemory)}
	for range runtime.GOMAXPROCS(0) {
		live := new(metric.LiveStats)
		fold, err := metric.NewFold(foldOptions(p, workers, bounds, f.pool, live))
		if err != nil {
			f.close()
			return nil, err
		}
		f.list, f.lives = append(f.list, fold), append(f.lives, live)
	}
	return f, nil
}

// merged is one fold of all records so far. No record may be under way.
func (f *folds) merged() (*metric.Aggregator, error) {
	var errs []error
	for _, other := range f.list[1:] {
		errs = append(errs, f.list[0].Merge(other))
	}
	return f.list[0], errors.Join(errs...)
}

func (f *folds) close() {
	for _, fold := range f.list {
		fold.Close()
	}
	f.pool.Close()
}

// foldOptions say how the records of a plan are to be seen, which workers may have sent.
func foldOptions(p *plan.Plan, workers bool, bounds func(int) (time.Duration, time.Duration), pool *stat.Pool, live *metric.LiveStats) metric.Options {
	o := result.FoldOptions(p)
	o.Workers, o.Bounds, o.Pool, o.Live = workers, bounds, pool, live
	return o
}
