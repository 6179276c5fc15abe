package run

import (
	"errors"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// sketches draw a run while it goes on, each of them the requests of one aggregator. Where there are none,
// the page is drawn from the records.
type sketches struct {
	plan    *plan.Plan
	live    *engine.Counters
	watcher *aside.Watcher
	list    []*pagedata.Builder
}

// drawAlong reports whether a page can be drawn while the run goes on: what it shows must not depend on
// what the run turns out to be, and this process must have the whole records.
func (p *setup) drawAlong() bool {
	searches := p.plan.Levels.On() || p.plan.Capacity.On() || p.plan.Saturation.On()
	return p.opt.Draw != nil && p.opt.Fleet == nil && !searches && !saved.NeedsRecords(p.plan)
}

// add makes a sketch, and gives what is to be told of its requests.
func (s *sketches) add() func(*metric.Request) {
	b := pagedata.NewSketch(s.plan, func() time.Duration { return s.live.Times(0).Begin })
	s.list = append(s.list, b)
	return aside.Func(s.watcher, b.Add)
}

// document is what was drawn. It is asked for once.
func (s *sketches) document(facts *pagedata.Facts) (*pagedata.Document, error) {
	for _, other := range s.list[1:] {
		s.list[0].Merge(other)
	}
	return s.list[0].Document(*facts)
}

// page tells what is drawn of the run, with the figures of its result.
func (o *resultBuilder) page(res *result.Result, fold *metric.Aggregator) error {
	if o.draw == nil {
		return nil
	}
	return o.draw(func() (d *pagedata.Document, err error) {
		facts := &o.journal.Facts
		if s := o.sketches; s != nil {
			ok := s.watcher.Do(func() {
				d, err = s.document(&pagedata.Facts{
					Result: res, Fold: fold, OriginalPlan: facts.OriginalPlan, Stages: facts.Stages, Health: facts.Health, Probes: facts.Probes,
				})
			})
			if !ok {
				err = errors.New("it has failed during the run, as a warning says")
			}
		} else {
			var again *saved.Run
			options := saved.Options{Draw: true, Names: saved.Named(facts.Names), Reading: o.reading}
			if again, err = saved.Read(o.journal.Writer.Path(), options); err == nil {
				d = again.Document
			}
		}
		if err != nil {
			return nil, fmt.Errorf("drawing the report page: %w", err)
		}
		d.Show(res)
		return d, nil
	})
}
