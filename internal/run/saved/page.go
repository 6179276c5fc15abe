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

// begin gives the builders, one for each aggregator, that requests are drawn with. Their clock shows when
// the first stage began.
func (d *drawing) begin(n int, p *plan.Plan, marks []record.StageSummary) []*pagedata.Builder {
	if d == nil {
		return nil
	}
	var begin time.Duration
	for i := range marks {
		if i == 0 || marks[i].Begin < begin {
			begin = marks[i].Begin
		}
	}
	builders := make([]*pagedata.Builder, n)
	for i := range builders {
		builders[i] = pagedata.NewSketch(p, func() time.Duration { return begin })
	}
	d.sketch = builders[0]
	return builders
}

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
	d.document, err = d.sketch.Document(pagedata.Facts{Result: res, Fold: fold, OriginalPlan: f.OriginalPlan, Stages: f.Stages,
		Health: f.Health, Probes: f.Probes})
	return res, err
}
