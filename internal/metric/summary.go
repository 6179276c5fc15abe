package metric

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Percentile is a percentile that is reported.
type Percentile struct {
	Name     string
	Quantile float64
}

// Percentiles are those that are reported, ascending.
func Percentiles() []Percentile {
	return []Percentile{
		{"p1", 0.01}, {"p5", 0.05}, {"p10", 0.10}, {"p25", 0.25}, {"p50", 0.50},
		{"p75", 0.75}, {"p90", 0.90}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999},
	}
}

// StageStats is what a Fold has to say of one stage.
type StageStats struct {
	Whole      Stats  // the requests of the measured phase
	Steady     *Stats // those that ended in the steady window, or nil
	All        All    // the requests of any phase
	Seen       int64
	Warmup     int64
	Counts     Counts
	Finishes   Finishes // unknown finish reasons
	Objectives []Objective
	Failures   []record.FailureCount
	Targets    []Stats       // the requests of the measured phase by target; nil means there is one
	Models     []Stats       // the same by model, in the order of Options.Models
	Workers    []Stats       // the same by worker, as far as they had any
	Pace       Pace          // of the measured phase
	Busy       time.Duration // in the steady window: time in flight or on the way there, summed over requests
	Unfinished Unfinished    // measured requests that did not end
	Series     *Series       // the requests in the order they were sent; nil means none is known to have been measured
}

// Objective is an SLO and how many measured requests met it.
type Objective struct {
	plan.SLO
	Met int64
}

// Stats is the metrics of a window.
type Stats struct {
	Totals Totals
	Stats  map[string]Stat // by metric; those without a value are left out
}

// Stat is the value of a metric, in its unit. A rate has Avg alone.
type Stat struct {
	Def                *Def
	N                  int64
	Avg, Min, Max, Std float64
	Quantiles          []float64 // in the order of Percentiles; nil for a rate
	// Least and Most bound the figures, whatever this client did; nil: not known.
	Least, Most *Ends

	// Where requests did not end: see stat.Summary.
	Censored, Beyond int64
	Bounds           []bool // of Quantiles: it is a lower bound

	// Intervals are those of sampling that are known, by statistic; optional.
	Intervals map[string]estimate.Interval
}

// Ends are the figures of one end of all samples.
type Ends struct {
	Avg, Min, Max float64
	Quantiles     []float64 // in the order of Percentiles
}

// Summarize works out all metrics of all stages, with the given rule for quantiles.
// A stage that had no request is an empty Stage.
func (f *Aggregator) Summarize(rule stat.Rule) ([]StageStats, error) {
	defs := Defs()
	out := make([]StageStats, len(f.stages))
	var tasks []*task
	for i, s := range f.stages {
		if s == nil {
			continue
		}
		out[i] = f.summary(i, s, defs)
		for k := range f.defs {
			t := s.task(k, &f.defs[k])
			t.stage, t.twin = &out[i], twinOf(t, tasks)
			tasks = append(tasks, t)
		}
		tasks = append(tasks, s.targets.tasks(f.perTarget, out[i].Targets)...)
		tasks = append(tasks, s.models.tasks(f.perModel, out[i].Models)...)
		tasks = append(tasks, s.workers.tasks(f.perWorker, out[i].Workers)...)
	}
	if err := runTasks(tasks, rule); err != nil {
		return nil, err
	}
	for _, t := range tasks {
		if t.twin != nil {
			t.sums, t.ends = t.twin.sums, t.twin.ends
		}
		if t.window != nil {
			t.window.set(t.def, t.sums[0])
			continue
		}
		t.set(&t.stage.Whole, 0)
		if t.def.ID == "request_latency" {
			var err error
			if t.stage.Unfinished, err = agesOf(t.cut, &t.sums[0]); err != nil {
				return nil, err
			}
		}
		if t.stage.Steady != nil {
			t.set(t.stage.Steady, 1)
		}
	}
	return out, nil
}

// summary is all of a stage but its sampled metrics.
func (f *Aggregator) summary(i int, s *stageAggregate, defs []Def) StageStats {
	st := StageStats{
		Whole: Stats{Totals: s.whole}, All: s.all, Seen: s.seen, Warmup: s.warmup,
		Counts: s.Counts, Finishes: s.finishes, Failures: s.failureList(), Pace: s.pace, Busy: s.steadyBusy,
	}
	if f.perTarget != nil {
		st.Targets = s.targets.windows(s, f.opts.Targets, defs)
	}
	if f.perModel != nil {
		st.Models = s.models.windows(s, len(f.opts.Models), defs)
	}
	if f.perWorker != nil {
		st.Workers = s.workers.windows(s, len(s.workers), defs)
	}
	for k, o := range f.slos {
		st.Objectives = append(st.Objectives, Objective{o.SLO, s.met[k]})
	}
	st.Whole.rates(defs)
	if f.opts.Times == nil {
		return st
	}
	from, to := f.opts.steady(i)
	st.Series = s.arrivals.series(f.opts.ClosedLoop(i), f.opts.plays(i), from, to)
	if to == record.NotYet {
		to = s.steadyEnd
	}
	if from >= to {
		return st
	}
	st.Steady = &Stats{Totals: s.steady}
	t := &st.Steady.Totals
	t.Begin, t.End, t.Held = from, to, s.steadyHeld
	st.Steady.rates(defs)
	return st
}

// taken are the columns that hold the samples of a metric, as they are taken to be; none is empty.
func (s *stageAggregate) taken(k int, d *Def) []*stat.Column {
	t := s.task(k, d)
	if t.lots == nil {
		return t.cols
	}
	return append(t.cols, t.lots[0]...)
}

func (s *stageAggregate) task(k int, d *Def) *task {
	t := &task{def: d, cut: s.cut.columns(k)}
	t.pool(&s.samples[k])
	if d.gaps {
		t.pool(&s.even)
	}
	return t
}

// pool adds samples to those that are to be summarized.
func (t *task) pool(s *samples) {
	t.extent.widen(&s.extent)
	if s.exact.Len() > 0 {
		t.cols = append(t.cols, s.exact)
	}
	if s.taken == nil {
		return
	}
	if t.lots == nil {
		t.lots = make([][]*stat.Column, 3)
	}
	for i, c := range s.ends() {
		t.lots[i] = append(t.lots[i], c)
	}
}

// rates fills in the metrics that come from sums.
func (w *Stats) rates(defs []Def) {
	w.Stats = make(map[string]Stat, len(defs))
	for i := range defs {
		d := &defs[i]
		if d.Rate == nil {
			continue
		}
		if v, ok := d.Rate(&w.Totals); ok {
			w.Stats[d.ID] = Stat{Def: d, Avg: v}
		}
	}
}

func (w *Stats) set(d *Def, s stat.Summary) {
	if s.N == 0 {
		return
	}
	st := Stat{
		Def: d, N: s.N, Avg: s.Mean / d.Scale, Std: s.Std / d.Scale,
		Min: float64(s.Min) / d.Scale, Max: float64(s.Max) / d.Scale,
		Quantiles: make([]float64, len(s.Quantiles)),
		Censored:  s.Censored, Beyond: s.Beyond, Bounds: s.Bounds,
	}
	for i, q := range s.Quantiles {
		st.Quantiles[i] = q / d.Scale
	}
	w.Stats[d.ID] = st
}

// set fills in a metric of a stage, with its ends.
func (t *task) set(w *Stats, set int) {
	w.set(t.def, t.sums[set])
	st, ok := w.Stats[t.def.ID]
	if !ok || t.def.Bounds == nil && t.def.Ends == nil || t.extent.unbounded {
		return
	}
	ends := [2]stat.Summary{t.sums[set], t.sums[set]}
	if len(t.ends) > 0 {
		ends = [2]stat.Summary{t.ends[0][set], t.ends[1][set]}
	}
	less := func(v float64) float64 { return v - t.extent.off(0, v) }
	more := func(v float64) float64 { return v + t.extent.off(1, v) }
	n := float64(st.N) * t.def.Scale
	least, most := st.Avg-float64(t.extent.below[set])/n, st.Avg+float64(t.extent.above[set])/n
	if st.Censored > 0 { // its samples have weights
		least, most = less(ends[0].Mean)/t.def.Scale, more(ends[1].Mean)/t.def.Scale
	}
	st.Least, st.Most = t.end(&ends[0], least, less), t.end(&ends[1], most, more)
	w.Stats[t.def.ID] = st
}

// end is one end of a metric's figures, of which all but the average are moved.
func (t *task) end(s *stat.Summary, avg float64, moved func(float64) float64) *Ends {
	at := func(v float64) float64 { return max(0, moved(v)/t.def.Scale) }
	e := &Ends{Avg: max(0, avg), Min: at(float64(s.Min)), Max: at(float64(s.Max))}
	for _, q := range s.Quantiles {
		e.Quantiles = append(e.Quantiles, at(q))
	}
	return e
}

// task is one metric of one stage to be summarized.
type task struct {
	stage  *StageStats
	window *Stats // of a target; nil means those of the stage
	def    *Def
	cols   []*stat.Column   // of samples that are as good as exact; none is empty
	lots   [][]*stat.Column // of the others: as taken, their least and their most, or nil
	extent extent           // of all of them
	twin   *task            // has the same columns and therefore the same summary
	cut    []*stat.Column   // censored samples
	sums   [2]stat.Summary
	ends   [][2]stat.Summary // least and most of all samples; nil means as sums
	err    error
}

// twinOf finds a task with the same columns: where every event is one token, gaps of
// events are gaps of tokens, and there can be many millions of them.
func twinOf(t *task, tasks []*task) *task {
	for _, o := range tasks {
		if len(t.cols)+len(t.lots) > 0 && slices.Equal(o.cols, t.cols) && slices.EqualFunc(o.lots, t.lots, slices.Equal) {
			return o
		}
	}
	return nil
}

func (t *task) summarize(qs []float64, rule stat.Rule) {
	lots := t.lots
	if lots == nil {
		lots = [][]*stat.Column{nil}
	}
	var all [][2]stat.Summary
	if all, t.err = stat.SummarizeEach(qs, rule, t.cut, t.cols, lots...); t.err == nil {
		t.sums, t.ends = all[0], all[1:]
	}
}

func runTasks(tasks []*task, rule stat.Rule) error {
	var qs []float64
	for _, p := range Percentiles() {
		qs = append(qs, p.Quantile)
	}
	queue := make(chan *task)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for t := range queue {
				t.summarize(qs, rule)
			}
		})
	}
	for _, t := range tasks {
		if t.twin == nil {
			queue <- t
		}
	}
	close(queue)
	wg.Wait()
	for _, t := range tasks {
		if t.err != nil {
			return fmt.Errorf("work out %s: %w", t.def.ID, t.err)
		}
	}
	return nil
}

// Curve is how the samples of a metric lie, in its unit.
type Curve struct {
	Quantiles []float64 // nil means there are no samples
	Edges     []float64 // of bins
	Counts    []int64   // between them: one fewer
}

// Spread gives the quantiles of the measured samples of a stage's metric, as exact as those
// of its summary, and their numbers in bins. It may be called once all records are in.
func (f *Aggregator) Spread(stage int, id string, qs []float64) (Curve, error) {
	k := slices.IndexFunc(f.defs, func(d Def) bool { return d.ID == id })
	if k < 0 || stage >= len(f.stages) || f.stages[stage] == nil {
		return Curve{}, nil
	}
	d := &f.defs[k]
	cols := f.stages[stage].taken(k, d)
	sums, err := stat.Summarize(qs, stat.Linear, cols...)
	if err != nil {
		return Curve{}, fmt.Errorf("work out the curve of %s: %w", id, err)
	}
	bins, err := stat.BinsOf(stat.First, cols...)
	if err != nil {
		return Curve{}, fmt.Errorf("count the samples of %s: %w", id, err)
	}
	out := Curve{Quantiles: sums[0].Quantiles, Counts: bins.Counts}
	for i := range out.Quantiles {
		out.Quantiles[i] /= d.Scale
	}
	for _, e := range bins.Edges {
		out.Edges = append(out.Edges, float64(e)/d.Scale)
	}
	return out, nil
}
