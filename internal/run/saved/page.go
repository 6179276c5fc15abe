package saved

import (
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
)

// drawing makes the document of a page on the way to a result. A nil one makes none.
type drawing struct {
	sketch   *pagedata.Builder
	document *pagedata.Document
}

// options are those of a fold whose requests are drawn.
func (d *drawing) options(o metric.Options, p *plan.Plan, marks []record.StageSummary) metric.Options {
	if d == nil {
		return o
	}
	var begin time.Duration
	for i := range marks {
		if i == 0 || marks[i].Begin < begin {
			begin = marks[i].Begin
		}
	}
	d.sketch = pagedata.NewSketch(p, begin)
	o.Each = d.sketch.Add
	return o
}

// build makes the result, and the document with it.
func (d *drawing) build(p *plan.Plan, f build.Inputs, fold *metric.Aggregator, records *record.File) (*result.Result, error) {
	res, err := build.Result(p, f, fold)
	if err != nil {
		return nil, err
	}
	if res.Gates, err = judged(p, f.Stages, records, res); err != nil {
		return nil, err
	}
	if d == nil {
		return res, nil
	}
	d.document, err = d.sketch.Document(pagedata.Facts{Result: res, Fold: fold, OriginalPlan: f.OriginalPlan, Stages: f.Stages, Health: f.Health, Probes: f.Probes})
	return res, err
}
