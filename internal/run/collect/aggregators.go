package collect

import (
	"errors"
	"runtime"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// Aggregators are what records are folded into: one for each core, which then never waits.
type Aggregators struct {
	List []*metric.Aggregator
	Live []*metric.LiveStats // what others may see of them
	Pool *stat.Pool
}

// NewAggregators makes them; the pool of their samples and what others see is theirs. each makes what one
// of them tells of its requests; nil: nobody wants to know.
func NewAggregators(o metric.Options, each func() func(*metric.Request)) (*Aggregators, error) {
	a := &Aggregators{Pool: stat.NewPool("", metric.SampleMemory)}
	for range runtime.GOMAXPROCS(0) {
		o.Pool, o.Live = a.Pool, new(metric.LiveStats)
		if each != nil {
			o.Each = each()
		}
		fold, err := metric.NewFold(o)
		if err != nil {
			a.Close()
			return nil, err
		}
		a.List, a.Live = append(a.List, fold), append(a.Live, o.Live)
	}
	return a, nil
}

// Merged is one aggregator of all records so far. No record may be in flight.
func (a *Aggregators) Merged() (*metric.Aggregator, error) {
	var errs []error
	for _, other := range a.List[1:] {
		errs = append(errs, a.List[0].Merge(other))
	}
	return a.List[0], errors.Join(errs...)
}

// Close gives back what they hold.
func (a *Aggregators) Close() {
	for _, fold := range a.List {
		fold.Close()
	}
	a.Pool.Close()
}

// Consumers hand a record to one after the other.
type Consumers []Consumer

// Add implements Consumer.
func (c Consumers) Add(rec *record.Record) {
	for _, each := range c {
		each.Add(rec)
	}
}
