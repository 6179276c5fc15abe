package metric

import (
	"slices"

	"github.com/inferometer/inferometer/internal/stat"
)

// part accumulates those of a stage's measured requests that have something in
// common: the target that they went to, or the model that they asked for.
type part struct {
	totals Totals
	cols   []*stat.Column // by sampled metric of parts
	cut    cutColumns     // the same of requests that did not end
}

// mostWorkers is more than a run has: a record that says otherwise is not one of a run.
const mostWorkers = 10_000

// parts are the parts of a stage by one thing that its requests differ in.
type parts []*part

// TargetMetrics are the metrics with samples that are kept for each target.
func TargetMetrics() []string { return []string{"time_to_first_token", "request_latency"} }

// ModelMetrics are the metrics with samples that are kept for each model.
func ModelMetrics() []string {
	return []string{
		"time_to_first_token", "time_per_output_token", "request_latency", "normalized_time_per_output_token",
		"input_sequence_length", "output_sequence_length",
	}
}

// pick finds the metrics of a Fold that have these names.
func pick(defs []Def, ids []string) []*Def {
	var list []*Def
	for _, id := range ids {
		for i := range defs {
			if defs[i].ID == id {
				list = append(list, &defs[i])
			}
		}
	}
	return list
}

// modelOf is the place of a request's model among those told apart; -1: it is none of them.
func (f *Aggregator) modelOf(r *Request) int { return slices.Index(f.opts.Models, r.Model) }

// part adds a measured request to what its part has done; parts are n.
func (f *Aggregator) part(list *parts, at, n int, defs []*Def, r *Request, good goodness) {
	if at < 0 || at >= n {
		return
	}
	for len(*list) <= at {
		t := &part{}
		t.totals.Judged = len(f.slos) > 0
		for range defs {
			t.cols = append(t.cols, f.pool.Column())
		}
		*list = append(*list, t)
	}
	t := (*list)[at]
	t.totals.add(r, good)
	t.totals.span(r.Record)
	if endedHere(r.Failure) {
		f.cutPart(t, defs, r)
	}
	if r.Failure != nil {
		return
	}
	for i, d := range defs {
		if v, ok := d.Sample(r); ok {
			t.cols[i].Append(v, stat.First)
		}
	}
}

func (list parts) close() {
	for _, t := range list {
		for _, c := range t.cols {
			c.Close()
		}
		t.cut.close()
	}
}

// merge moves what the parts of o hold into those of list.
func (list *parts) merge(o parts) error {
	for i, from := range o {
		if i == len(*list) {
			*list = append(*list, from)
			continue
		}
		to := (*list)[i]
		to.totals.merge(&from.totals)
		for k := range to.cols {
			if err := to.cols[k].Merge(from.cols[k]); err != nil {
				return err
			}
		}
		if err := to.cut.merge(from.cut); err != nil {
			return err
		}
	}
	return nil
}

// windows are n parts of a stage without samples. Their rates are over the stage's window, and add
// up.
func (list parts) windows(s *stageAggregate, n int, defs []Def) []Stats {
	out := make([]Stats, n)
	for i := range out {
		if i < len(list) {
			out[i].Totals = list[i].totals
		}
		out[i].Totals.Begin, out[i].Totals.End = s.whole.Begin, s.whole.End
		out[i].rates(defs)
	}
	return out
}

// tasks are the sampled metrics of parts, to be summarized.
func (list parts) tasks(defs []*Def, windows []Stats) []*task {
	var tasks []*task
	for i, t := range list {
		for k, d := range defs {
			if t.cols[k].Len() > 0 {
				tasks = append(tasks, &task{window: &windows[i], def: d, cols: t.cols[k : k+1], cut: t.cut.columns(k)})
			}
		}
	}
	return tasks
}
