package sample

import (
	"iter"
	"math"
	"sync"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// Collector gathers the measured requests of a run's stages, part by part: those of a part stand one
// after the other in the records. Parts may be filled by several goroutines at a time, and are joined in
// the order of the records by one.
type Collector struct {
	metrics []string
	joined  Part
	free    sync.Pool // of *Part, whose memory is used again
}

// Part is the requests of a part of the records, by stage.
type Part struct{ stages map[int]*StageSamples }

// NewCollector gathers what the metrics that are named take of requests.
func NewCollector(metrics []string) *Collector {
	return &Collector{metrics: metrics, joined: Part{map[int]*StageSamples{}}}
}

// Begin gives a part to be filled.
func (c *Collector) Begin() *Part {
	if p, ok := c.free.Get().(*Part); ok {
		return p
	}
	return &Part{stages: map[int]*StageSamples{}}
}

// stage is what a part has of a stage.
func (c *Collector) stage(p *Part, i int) *StageSamples {
	s := p.stages[i]
	if s == nil {
		s = empty(c.metrics)
		p.stages[i] = s
	}
	return s
}

// Add takes a request into account.
func (c *Collector) Add(p *Part, r *metric.Request) {
	s := c.stage(p, r.Stage)
	s.first = min(s.first, r.Seq)
	if r.Phase == record.Measured {
		s.add(r)
	}
}

// Join adds a part, which stands behind those before.
func (c *Collector) Join(p *Part) {
	for i, s := range p.stages {
		if s.first == math.MaxInt64 {
			continue
		}
		c.stage(&c.joined, i).join(s)
	}
	c.free.Put(p)
}

// Stages gives what was gathered of stages, each by its place in the result. It is asked for once.
func (c *Collector) Stages(of map[int]*result.Stage) map[int]*StageSamples {
	all := map[int]*StageSamples{}
	for i, st := range of {
		s := c.stage(&c.joined, i)
		s.window = st.Window
		s.gather()
		s.sort()
		all[i] = s
	}
	return all
}

// partBytes is how much of a record file is read at a time on each core.
const partBytes = 4 << 20

// ReadStages reads the measured requests of a run's stages, by place in the result, with the named
// metrics.
func ReadStages(p *plan.Plan, marks []record.StageSummary, records *record.File, stages map[int]*result.Stage,
	metrics []string) (map[int]*StageSamples, error) {
	c := NewCollector(metrics)
	opts := metric.OptionsFor(p)
	opts.Times = metric.TimesOf(marks)
	read := func(requests iter.Seq[*record.Record]) (*Part, error) {
		reader, part := metric.NewReader(opts), c.Begin()
		for rec := range requests {
			if stages[rec.Stage] == nil {
				continue
			}
			r := reader.Read(rec)
			r.Good, _ = reader.Good()
			c.Add(part, r)
		}
		return part, nil
	}
	err := record.InParts(*records, partBytes, read, func(p *Part) error { c.Join(p); return nil })
	if err != nil {
		return nil, err
	}
	return c.Stages(stages), nil
}
