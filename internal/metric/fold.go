package metric

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

func (o *Options) steady(stage int) (from, to time.Duration) {
	if o.Times == nil {
		return record.NotYet, record.NotYet
	}
	times := o.Times(stage)
	return times.WarmupEnd, times.SendEnd
}

// ClosedLoop reports whether a stage is a closed loop.
func (o *Options) ClosedLoop(stage int) bool {
	return stage >= 0 && len(o.Closed) > 0 && o.Closed[min(stage, len(o.Closed)-1)]
}

// plays reports whether the load of a stage is sessions.
func (o *Options) plays(stage int) bool {
	return stage >= 0 && len(o.Sessions) > 0 && o.Sessions[min(stage, len(o.Sessions)-1)]
}

// SampleMemory is what the samples of a run may take of memory before they go to disk. The
// garbage collector of a measuring client lets the heap grow to several times of what is
// alive in it, so that each byte here costs several.
const SampleMemory = 2 << 20

// Aggregator works out the metrics of a stream of records. It belongs to one goroutine at a
// time; a run has one for each goroutine that decodes, merged at the end.
type Aggregator struct {
	opts    Options
	pool    *stat.Pool
	ownPool bool
	defs    []Def
	slos    []objective
	stages  []*stageAggregate

	courses   []*course    // of defs, for requests that did not end
	ordered   []int        // places in defs of the metrics whose samples are kept in order
	perTarget []*Def       // what is kept for each target
	perModel  []*Def       // what is kept for each model
	perWorker []*Def       // what is kept for each worker
	prompts   *stat.Column // hashes of the prompts that were sent
	req       Request
}

func objectives(slos []plan.SLO) ([]objective, error) {
	var list []objective
	for _, s := range slos {
		d, ok := ByID(s.Metric)
		if !ok || d.perRequest() == nil || d.Unit != Milliseconds {
			return nil, fmt.Errorf("objective %q is not a time span of a request: use one of %s", s.Metric, strings.Join(Objectives(), ", "))
		}
		list = append(list, objective{s, d.perRequest(), d.ownBounds(), d.AfterFirstToken})
	}
	return list, nil
}

// NewFold makes an empty Fold.
func NewFold(opts Options) (*Aggregator, error) {
	sampled := slices.DeleteFunc(Defs(), func(d Def) bool { return d.Rate != nil })
	f := &Aggregator{opts: opts, pool: opts.Pool, defs: sampled, courses: coursesOf(sampled)}
	var err error
	if f.slos, err = objectives(opts.SLOs); err != nil {
		return nil, err
	}
	f.ordered = ordered(f.defs)
	if f.pool == nil {
		f.pool, f.ownPool = stat.NewPool("", SampleMemory), true
	}
	if opts.Targets > 1 {
		f.perTarget = pick(f.defs, TargetMetrics())
	}
	if len(opts.Models) > 0 {
		f.perModel = pick(f.defs, ModelMetrics())
	}
	if opts.Workers {
		f.perWorker = pick(f.defs, TargetMetrics())
	}
	f.prompts = f.pool.Column()
	f.req.gaps = make([]int64, 0, 1024)
	return f, nil
}

// Objectives are the metrics that an SLO can be about.
func Objectives() []string {
	var ids []string
	for _, d := range Defs() {
		if d.perRequest() != nil && d.Unit == Milliseconds && !d.Failed {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// Close gives up what the Fold holds. A pool that was given to it stays open.
func (f *Aggregator) Close() error {
	for _, s := range f.stages {
		if s != nil {
			s.close()
		}
	}
	f.stages = nil
	f.prompts.Close()
	if !f.ownPool {
		return nil
	}
	return f.pool.Close()
}

// Add takes a record into account. It keeps nothing of it.
func (f *Aggregator) Add(rec *record.Record) {
	if rec.Stage < 0 {
		return
	}
	s := f.stage(rec.Stage)
	s.seen++
	s.all.add(rec)
	if rec.Phase == record.Closing {
		return
	}
	r := &f.req
	from, to := f.opts.steady(rec.Stage)
	r.read(rec, &f.opts, from)
	if rec.Prompt != 0 {
		f.prompts.Append(int64(rec.Prompt), stat.First)
	}
	s.hold(rec, from, to)
	s.arrivals.add(r)
	var in stat.Set
	if rec.Phase == record.Measured {
		in |= stat.First
	} else {
		s.warmup++
	}
	if from <= rec.End && rec.End <= to {
		in |= stat.Second
	}
	r.Good = false
	if in != 0 {
		f.place(s, r)
		f.sample(s, r, in)
		r.Good = f.sum(s, r, in)
	}
	if f.opts.Live != nil {
		f.opts.Live.add(r, r.Good && rec.Phase == record.Measured)
	}
	if f.opts.Each != nil {
		f.opts.Each(r)
	}
}

func (f *Aggregator) sample(s *stageAggregate, r *Request, in stat.Set) {
	ok := r.Failure == nil
	if endedHere(r.Failure) && in&stat.First != 0 {
		f.cut(s, r)
	}
	even := r.even()
	if even {
		s.even.several(r, r.gaps, r.gapLeast, r.gapMost, in)
	}
	for i := range f.defs {
		d := &f.defs[i]
		switch {
		case !ok && !d.Failed:
		case d.Sample != nil:
			s.samples[i].single(d, r, in)
		case d.gaps && even:
		default:
			s.samples[i].pooled(d, r, in)
		}
	}
}

func (s *samples) single(d *Def, r *Request, in stat.Set) {
	v, has := d.Sample(r)
	if !has {
		return
	}
	if d.Bounds == nil {
		s.exact.Append(v, in)
		return
	}
	below, above := d.Bounds(r)
	s.one(v, below, above, in)
}

// pooled adds the samples that a request has several of.
func (s *samples) pooled(d *Def, r *Request, in stat.Set) {
	var least, most []int64
	if d.Ends != nil {
		least, most = d.Ends(r)
	}
	s.several(r, d.Many(r), least, most, in)
	if r.Tail == nil {
		return
	}
	tail := d.Tail(r)
	switch {
	case tail == nil:
	case d.gaps && r.Tail.Blurred():
		s.tail(r.Tail, in)
	default:
		tail.Each(func(values []int64) { s.exact.AppendAll(values, in) })
	}
}

// several adds gaps of a request, or what else it has several of and is exact.
func (s *samples) several(r *Request, values, least, most []int64, in stat.Set) {
	if !r.blur.events || len(least) == 0 {
		s.exact.AppendAll(values, in)
		return
	}
	below, above := r.blur.last.since(r.blur.first) // all the gaps are as long as from the first event to the last
	s.all(values, least, most, below, above, in)
}

// sum adds the request to the sums of the windows and, where it is a measured one, to
// the stage's counts. It reports whether the request is a good one.
func (f *Aggregator) sum(s *stageAggregate, r *Request, in stat.Set) (good bool) {
	ok := r.Failure == nil
	all := goodness{ok, ok, ok}
	for i := range f.slos {
		if !ok {
			break
		}
		met := f.slos[i].metBy(r)
		all = all.and(met)
		if met.taken && in&stat.First != 0 {
			s.met[i]++
		}
	}
	if in&stat.First != 0 {
		s.whole.add(r, all)
		s.whole.span(r.Record)
		s.pace.add(r.Record)
		s.count(r, f.opts.StandIn)
		s.resend(r, f.opts.Bends)
		if f.perTarget != nil {
			f.part(&s.targets, r.Target, f.opts.Targets, f.perTarget, r, all)
		}
		if f.perModel != nil {
			f.part(&s.models, f.modelOf(r), len(f.opts.Models), f.perModel, r, all)
		}
		if f.perWorker != nil {
			f.part(&s.workers, r.Worker-1, mostWorkers, f.perWorker, r, all)
		}
	}
	if in&stat.Second != 0 {
		s.steady.add(r, all)
		s.steadyEnd = max(s.steadyEnd, r.End)
	}
	return all.taken
}

// Merge moves what other holds into f. other is empty afterwards.
func (f *Aggregator) Merge(other *Aggregator) error {
	for i, o := range other.stages {
		if o == nil {
			continue
		}
		if err := f.stage(i).merge(o); err != nil {
			return fmt.Errorf("merge the samples of stage %d: %w", i+1, err)
		}
	}
	other.stages = nil
	if err := f.prompts.Merge(other.prompts); err != nil {
		return fmt.Errorf("merge the hashes of prompts: %w", err)
	}
	return nil
}

// Repeats is the number of requests whose prompt had been sent before.
func (f *Aggregator) Repeats() (int64, error) {
	different, err := f.prompts.Distinct()
	if err != nil {
		return 0, fmt.Errorf("count the prompts that were sent before: %w", err)
	}
	return f.prompts.Len() - different, nil
}

// SpillError is the reason why samples that outgrew memory could not be moved to
// disk, if that happened. The figures are right all the same.
func (f *Aggregator) SpillError() error { return f.pool.Err() }

func (f *Aggregator) stage(i int) *stageAggregate {
	for len(f.stages) <= i {
		f.stages = append(f.stages, nil)
	}
	if f.stages[i] == nil {
		f.stages[i] = newStage(f)
	}
	return f.stages[i]
}
