package saved

import (
	"errors"
	"iter"
	"runtime"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/sample"
	"github.com/inferometer/inferometer/internal/stat"
)

// aggregate works out the metrics of the records of a run whose stages have ended, on all cores: what one
// core decodes goes to one aggregator, and neither figures nor what is made besides depend on which that was.
// each is given every request in the order of the file, which takes one core; nil: it need not be.
func aggregate(p *plan.Plan, f *build.Inputs, marks []record.StageSummary, records *record.File, pool *stat.Pool, b *besides,
	each func(*record.Record)) (_ *metric.Aggregator, err error) {
	n := runtime.GOMAXPROCS(0)
	if each != nil {
		n = 1
	}
	o := metric.OptionsFor(p)
	o.Workers, o.Times, o.Pool = len(f.Header.Workers) > 0, metric.TimesOf(marks), pool
	b.begin(n, p, marks)
	var all []*metric.Aggregator
	defer func() {
		for i, a := range all {
			if i > 0 || err != nil {
				err = errors.Join(err, a.Close())
			}
		}
	}()
	for i := range n {
		o.Each = b.each(i)
		a, err := metric.NewFold(o)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	read := func(i int, requests iter.Seq[*record.Record]) (*sample.Part, error) {
		part := b.part(i)
		for rec := range requests {
			all[i].Add(rec)
			if each != nil {
				each(rec)
			}
		}
		return part, nil
	}
	if err := record.Spread(*records, n, read, b.join); err != nil {
		return nil, err
	}
	b.merge()
	for _, a := range all[1:] {
		if err := all[0].Merge(a); err != nil {
			return nil, err
		}
	}
	return all[0], nil
}
