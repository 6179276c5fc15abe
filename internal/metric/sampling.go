package metric

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Average is the name of the mean among statistics; percentiles have their own.
const Average = "avg"

// Sampled are the metrics that have intervals of sampling: between what their figures would lie
// if the run were endless, as far as its requests tell. All but the rates have samples.
func Sampled() []string {
	return append(latencies(), "request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput")
}

func latencies() []string {
	return []string{
		"time_to_first_token", "time_to_first_output_token", "time_to_second_token", "time_to_first_token_from_due",
		perTokenID, latencyID, "request_latency_from_due", "inter_token_latency", "inter_event_latency", "output_token_throughput_per_user",
	}
}

const (
	perTokenID = "time_per_output_token"
	latencyID  = "request_latency"
	outputID   = "output_sequence_length"
	inputID    = "input_sequence_length"
)

// ordered are the places of the metrics whose samples are kept by part.
func ordered(defs []Def) []int {
	var list []int
	for i := range defs {
		if slices.Contains(latencies(), defs[i].ID) || defs[i].ID == outputID || defs[i].ID == inputID {
			list = append(list, i)
		}
	}
	return list
}

// place says to which part the samples of a request belong.
func (f *Aggregator) place(s *stageAggregate, r *Request) {
	if r.Failure != nil && !endedHere(r.Failure) || s.order.same(int64(r.End)) {
		return
	}
	part := s.order.add(r)
	s.even.in(part)
	for _, i := range f.ordered {
		s.samples[i].in(part)
	}
}

// Intervals fills the intervals of sampling of stage i into its summary, which Summarize has made.
// It reads the samples once more.
func (f *Aggregator) Intervals(i int, st *StageStats) error {
	if i >= len(f.stages) || f.stages[i] == nil || f.stages[i].order.n == 0 {
		return nil
	}
	if err := f.sampling(f.stages[i], st); err != nil {
		return fmt.Errorf("work out the intervals of stage %d: %w", i+1, err)
	}
	return nil
}

type divided struct {
	def  *Def
	cols []*stat.Column
	sets [2]stat.Division
	twin *divided // has the same columns
	err  error
}

func (f *Aggregator) sampling(s *stageAggregate, st *StageStats) error {
	places := s.order.places()
	windows := [2]*Stats{&st.Whole, st.Steady}
	all := map[string]*divided{}
	var list []*divided
	for _, i := range f.ordered {
		d := &divided{def: &f.defs[i], cols: s.taken(i, &f.defs[i])}
		if len(d.cols) == 0 {
			continue
		}
		for _, o := range list {
			if slices.Equal(o.cols, d.cols) {
				d.twin = o
			}
		}
		list = append(list, d)
		all[d.def.ID] = d
	}
	each(list, func(d *divided) {
		if d.twin == nil {
			d.sets, d.err = stat.Divide([2][]float64{windows[0].bounds(d.def), windows[1].bounds(d.def)}, places.count, places.number, d.cols...)
		}
	})
	for _, d := range list {
		if d.twin != nil {
			d.sets, d.err = d.twin.sets, d.twin.err
		}
		if d.err != nil {
			return fmt.Errorf("divide the samples of %s: %w", d.def.ID, d.err)
		}
	}
	for set, w := range windows {
		if w == nil {
			continue
		}
		v := view{places: places, whole: windows[0], window: w, set: set, all: all}
		v.latencies(list)
		v.rates()
	}
	return nil
}

// each calls f for each of a list, on all cores.
func each(list []*divided, f func(*divided)) {
	queue := make(chan *divided)
	var wg sync.WaitGroup
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for d := range queue {
				f(d)
			}
		})
	}
	for _, d := range list {
		queue <- d
	}
	close(queue)
	wg.Wait()
}

// bounds are the quantiles of a metric in the unit of its samples.
func (w *Stats) bounds(d *Def) []float64 {
	if w == nil {
		return nil
	}
	var list []float64
	for _, q := range w.Stats[d.ID].Quantiles {
		list = append(list, q*d.Scale+rounded)
	}
	return list
}

// rounded is what a quantile can lose by its change of unit, in steps of a sample and more.
const rounded = 1e-3

type view struct {
	places *places
	whole  *Stats
	window *Stats
	set    int
	all    map[string]*divided
}

// parts are the samples of a metric in the window; false: there are none.
func (v *view) parts(d *divided) (*estimate.Parts, bool) {
	div, st := &d.sets[v.set], v.window.Stats[d.def.ID]
	if div.Len() == 0 || st.Quantiles == nil {
		return nil, false
	}
	p := &estimate.Parts{
		Single: v.places.single != nil, N: div.N, Sum: div.Sum, Base: div.Base, UpTo: div.UpTo, At: div.Quantile,
		Mean: st.Avg * d.def.Scale, Shortest: v.shortest(),
	}
	for i, q := range Percentiles() {
		p.Q, p.Values = append(p.Q, q.Quantile), append(p.Values, st.Quantiles[i]*d.def.Scale)
	}
	return p, true
}

// shortest is how many spans a wave must be long at least to be longer than responses take.
func (v *view) shortest() float64 {
	return 2 * v.window.Stats[latencyID].Avg * float64(time.Millisecond) / math.Ldexp(1, int(v.places.shift))
}

// latencies fills in the intervals of the metrics with samples.
func (v *view) latencies(list []*divided) {
	alone := v.alone()
	type found struct {
		id string
		of map[string]estimate.Interval
	}
	results := make(chan found, len(list))
	each(list, func(d *divided) {
		p, ok := v.parts(d)
		if !ok || d.twin != nil || !slices.Contains(latencies(), d.def.ID) {
			return
		}
		if v.set == 1 && slices.Equal(d.sets[0].N, d.sets[1].N) && slices.Equal(d.sets[0].Sum, d.sets[1].Sum) {
			results <- found{d.def.ID, v.whole.Stats[d.def.ID].Intervals} // every request is in both
			return
		}
		if d.def.Many != nil {
			p.Alone = alone
		}
		results <- found{d.def.ID, intervalsOf(p, d.def.Scale)}
	})
	close(results)
	set := func(id string, of map[string]estimate.Interval) {
		if st, ok := v.window.Stats[id]; ok {
			st.Intervals = of
			v.window.Stats[id] = st
		}
	}
	for r := range results {
		set(r.id, r.of)
	}
	for _, d := range list {
		if d.twin != nil {
			set(d.def.ID, v.window.Stats[d.twin.def.ID].Intervals)
		}
	}
}

// alone is how many independent requests would say as much of gaps as these, by the mean gap of
// each; 0: the gaps of each request are known.
func (v *view) alone() float64 {
	if v.places.single != nil {
		return 0
	}
	for _, id := range []string{perTokenID, latencyID} {
		if d := v.all[id]; d != nil {
			if p, ok := v.parts(d); ok {
				return p.Independent()
			}
		}
	}
	return 1 // which is too few
}

// intervalsOf are the intervals that are known, in the metric's unit.
func intervalsOf(p *estimate.Parts, scale float64) map[string]estimate.Interval {
	out := map[string]estimate.Interval{}
	add := func(name string, at estimate.Interval) {
		if at.Known {
			at.Value, at.Lo, at.Hi = at.Value/scale, at.Lo/scale, at.Hi/scale
			out[name] = at
		}
	}
	mean, quantiles := estimate.OfParts(p, estimate.Confidence)
	add(Average, mean)
	for i, q := range Percentiles() {
		add(q.Name, quantiles[i])
	}
	return out
}

func (v *view) rates() {
	for id, of := range map[string][]string{
		"request_throughput": {latencyID}, "output_token_throughput": {outputID}, "input_token_throughput": {inputID}, "total_token_throughput": {inputID, outputID},
	} {
		st, ok := v.window.Stats[id]
		if !ok {
			continue
		}
		st.Intervals = map[string]estimate.Interval{}
		if at := v.rate(of); at.Known {
			at.Value, at.Lo, at.Hi = st.Avg, min(at.Lo, st.Avg), max(at.Hi, st.Avg)
			st.Intervals[Average] = at
		}
		v.window.Stats[id] = st
	}
}

// rate is the interval of the sum of metrics per second, or of requests per second.
func (v *view) rate(of []string) estimate.Interval {
	amount, count := make([]float64, v.places.count), make([]int64, v.places.count)
	for _, id := range of {
		d := v.all[id]
		if d == nil {
			return estimate.Interval{}
		}
		div := &d.sets[v.set]
		for i, n := range div.N {
			count[i] = max(count[i], n)
			if id == latencyID {
				amount[i] += float64(n)
			} else {
				amount[i] += div.Sum[i] + div.Base*float64(n)
			}
		}
	}
	t := &v.window.Totals
	if v.places.single == nil {
		width := math.Ldexp(1, int(v.places.shift))
		return estimate.OfSpans(&estimate.Spans{
			Amount: amount, Count: count, Zero: float64(v.places.zero) * width / 1e9, Width: width / 1e9,
			Begin: t.Begin.Seconds(), End: t.End.Seconds(), Shortest: v.shortest(),
		}, estimate.Confidence)
	}
	flow := &estimate.Flow{Begin: t.Begin.Seconds(), End: t.End.Seconds()}
	for i, part := range v.places.single {
		if count[i] > 0 {
			flow.At, flow.Amount = append(flow.At, time.Duration(part.End).Seconds()), append(flow.Amount, amount[i])
		}
	}
	return estimate.OfFlow(flow, estimate.Confidence)
}
