package saved

import (
	"errors"
	"runtime"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/stat"
)

// aggregate works out the metrics of the records of a run whose stages have ended, on all cores: what one
// core decodes goes to one aggregator, and neither figures nor what d draws depend on which that was. each
// is given every request in the order of the file, which takes one core; nil: it need not be.
func aggregate(p *plan.Plan, f *build.Inputs, marks []record.StageSummary, records *record.File, pool *stat.Pool, d *drawing,
	each func(*record.Record)) (_ *metric.Aggregator, err error) {
	n := runtime.GOMAXPROCS(0)
	if each != nil {
		n = 1
	}
	builders := d.begin(n, p, marks)
	o := metric.OptionsFor(p)
	o.Workers, o.Times, o.Pool = len(f.Header.Workers) > 0, metric.TimesOf(marks), pool
	var all []*metric.Aggregator
	defer func() {
		for i, a := range all {
			if i > 0 || err != nil {
				err = errors.Join(err, a.Close())
			}
		}
	}()
	var to []func(*record.Record)
	for i := range n {
		if builders != nil {
			o.Each = builders[i].Add
		}
		a, err := metric.NewFold(o)
		if err != nil {
			return nil, err
		}
		all, to = append(all, a), append(to, a.Add)
	}
	if each != nil {
		to[0] = func(rec *record.Record) { all[0].Add(rec); each(rec) }
	}
	if err := records.Spread(to); err != nil {
		return nil, err
	}
	for i, a := range all[1:] {
		if err := all[0].Merge(a); err != nil {
			return nil, err
		}
		if builders != nil {
			builders[0].Merge(builders[i+1])
		}
	}
	return all[0], nil
}
