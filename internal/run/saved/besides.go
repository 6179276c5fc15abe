package saved

import (
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/sample"
)

// besides is what is made of the records on the way to a result: the document of a page, and the single
// requests. A nil one makes nothing.
type besides struct {
	draw    bool
	metrics []string // of the single requests; none: those are not kept

	sketches  []*pagedata.Builder // one for each aggregator
	merging   sync.WaitGroup      // of what they have
	collector *sample.Collector
	parts     []*sample.Part // that each aggregator fills

	document *pagedata.Document
	samples  map[int]*sample.StageSamples
}

// begin prepares for the requests of n aggregators. The drawing's clock has the first stage's
// begin.
func (b *besides) begin(n int, p *plan.Plan, marks []record.StageSummary) {
	if b == nil {
		return
	}
	if len(b.metrics) > 0 {
		b.collector, b.parts = sample.NewCollector(b.metrics), make([]*sample.Part, n)
	}
	if !b.draw {
		return
	}
	var begin time.Duration
	for i := range marks {
		if i == 0 || marks[i].Begin < begin {
			begin = marks[i].Begin
		}
	}
	b.sketches = []*pagedata.Builder{pagedata.NewSketch(p, func() time.Duration { return begin })}
	for range n - 1 {
		b.sketches = append(b.sketches, b.sketches[0].Another())
	}
}

// each is told of the requests of an aggregator; nil: it need not be.
func (b *besides) each(aggregator int) func(*metric.Request) {
	switch {
	case b == nil || b.sketches == nil && b.collector == nil:
		return nil
	case b.collector == nil:
		return b.sketches[aggregator].Add
	}
	return func(r *metric.Request) {
		if b.sketches != nil {
			b.sketches[aggregator].Add(r)
		}
		b.collector.Add(b.parts[aggregator], r)
	}
}

// part gives what an aggregator fills with single requests of the next part of the records; nil: nothing.
func (b *besides) part(aggregator int) *sample.Part {
	if b == nil || b.collector == nil {
		return nil
	}
	b.parts[aggregator] = b.collector.Begin()
	return b.parts[aggregator]
}

// join takes the single requests of a part of the records, in their order.
func (b *besides) join(part *sample.Part) error {
	if part != nil {
		b.collector.Join(part)
	}
	return nil
}

// merge begins to put together what was drawn for each aggregator.
func (b *besides) merge() {
	if b == nil || b.sketches == nil {
		return
	}
	all := b.sketches
	b.merging.Go(func() {
		for _, other := range all[1:] {
			all[0].Merge(other)
		}
	})
}

func (b *besides) build(p *plan.Plan, f build.Inputs, fold *metric.Aggregator, records *record.File) (*result.Result, error) {
	res, err := build.Result(p, f, fold)
	if err != nil {
		return nil, err
	}
	if res.Gates, err = judged(p, f.Stages, records, res); err != nil {
		return nil, err
	}
	if b == nil {
		return res, nil
	}
	if b.collector != nil {
		b.samples = b.collector.Stages(stagesOf(res))
	}
	if b.sketches != nil {
		b.merging.Wait()
		b.document, err = b.sketches[0].Document(pagedata.Facts{Result: res, Fold: fold, OriginalPlan: f.OriginalPlan, Stages: f.Stages,
			Health: f.Health, Probes: f.Probes})
	}
	return res, err
}

// stagesOf are the stages of a result by their place.
func stagesOf(res *result.Result) map[int]*result.Stage {
	stages := map[int]*result.Stage{}
	for i := range res.Stages {
		stages[i] = &res.Stages[i]
	}
	return stages
}
