package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// mostSampled is how many samples of a metric with several in each request are taken of a stage:
// of more, every n-th is.
const mostSampled = 4 << 20

// sampled are the samples of one metric in one stage.
type sampled struct {
	def    *metric.Def
	every  int64 // which samples are taken
	seen   int64
	values []float64
	each   []sampledRequest
}

// sampledRequest is where the samples of a request are.
type sampledRequest struct {
	sent, end  float64 // s
	begin, nth int     // in values
}

// asksIntervals are the figures whose intervals gates ask for: statistics by metric.
func asksIntervals(texts []string) map[string][]string {
	figures := map[string][]string{}
	for _, text := range texts {
		if g, err := gate.Parse(text); err == nil && g.Interval && !slices.Contains(figures[g.Metric.ID], g.Stat) {
			figures[g.Metric.ID] = append(figures[g.Metric.ID], g.Stat)
		}
	}
	return figures
}

// intervals puts the confidence intervals that gates ask for into a result. They need the single
// requests: the records are read for them.
func intervals(p *plan.Plan, marks []record.StageMark, records *record.File, res *result.Result) error {
	figures := asksIntervals(p.FailIf)
	if len(figures) == 0 || records.Path == "" {
		return nil
	}
	stages := make([]map[string]*sampled, len(res.Stages))
	for i := range stages {
		stages[i] = map[string]*sampled{}
		for id := range figures {
			if d, ok := metric.ByID(id); ok {
				stages[i][id] = &sampled{def: &d, every: 1 + res.Stages[i].Metrics[id].Count/mostSampled}
			}
		}
	}
	opts := result.FoldOptions(p)
	opts.Bounds = result.Bounds(marks)
	reader := metric.NewReader(opts)
	err := records.Requests(func(rec *record.Record) error {
		if rec.Stage >= 0 && rec.Stage < len(stages) && rec.Phase == record.Measured {
			r := reader.Read(rec)
			good, _ := reader.Good()
			for _, s := range stages[rec.Stage] {
				s.add(r, good)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the requests for the intervals of gates: %w", err)
	}
	for i := range res.Stages {
		for id, s := range stages[i] {
			st, ok := res.Stages[i].Metrics[id]
			if !ok {
				continue
			}
			st.Intervals = s.intervals(figures[id], res.Stages[i].Window)
			res.Stages[i].Metrics[id] = st
		}
	}
	return nil
}

// add takes the samples of a request.
func (s *sampled) add(r *metric.Request, good bool) {
	at := sampledRequest{sent: begun(r.Record).Seconds(), end: r.End.Seconds(), begin: len(s.values)}
	if s.def.Rate != nil {
		if v, ok := part(s.def.ID, r, good); ok {
			s.values = append(s.values, v)
		}
	}
	s.def.Each(r, func(v int64) {
		if s.seen%s.every == 0 {
			s.values = append(s.values, float64(v)/s.def.Scale)
		}
		s.seen++
	})
	if at.nth = len(s.values) - at.begin; at.nth > 0 {
		s.each = append(s.each, at)
	}
}

// part is what a request adds to a rate, or whether it is one of a share.
func part(id string, r *metric.Request, good bool) (v float64, ok bool) {
	one := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	in, out := float64(r.In.N), float64(r.Tokens)
	known := r.Failure == nil && r.In.Source != record.Uncounted
	switch id {
	case "error_rate":
		return one(r.Failure != nil), true
	case "slo_attainment":
		return one(good), true
	case "request_throughput":
		return 1, r.Failure == nil
	case "request_goodput":
		return 1, good
	case "output_token_throughput":
		return out, r.Failure == nil && out >= 0
	case "input_token_throughput":
		return in, known
	case "total_token_throughput":
		return in + out, known && out >= 0
	}
	return 0, false
}

// intervals are those of statistics, as far as there is enough to tell.
func (s *sampled) intervals(stats []string, w result.Window) map[string]result.Interval {
	slices.SortStableFunc(s.each, func(a, b sampledRequest) int { return cmp.Compare(a.sent, b.sent) })
	var found []estimate.Interval
	if s.def.Rate != nil && s.def.Unit != gate.Share {
		f := &estimate.Flow{Begin: w.Begin, End: w.End}
		for _, r := range s.each {
			f.At, f.Amount = append(f.At, r.end), append(f.Amount, s.values[r.begin])
		}
		found = []estimate.Interval{estimate.OfFlow(f, estimate.Confidence)}
	} else {
		var all estimate.Samples
		for _, r := range s.each {
			all.Values = append(all.Values, s.values[r.begin:r.begin+r.nth]...)
			if s.def.Many != nil {
				all.Ends = append(all.Ends, len(all.Values))
			}
		}
		found = estimate.Of(&all, figures(stats), estimate.Confidence)
	}
	out := map[string]result.Interval{}
	for i, at := range found {
		if at.Known && !math.IsNaN(at.Lo) && !math.IsNaN(at.Hi) && !math.IsInf(at.Hi-at.Lo, 0) {
			out[stats[i]] = result.Interval{Lo: at.Lo, Hi: at.Hi}
		}
	}
	return out
}

// figures are what statistics are to the mathematics.
func figures(stats []string) []estimate.Figure {
	var list []estimate.Figure
	for _, name := range stats {
		f := estimate.Figure{Kind: estimate.Mean}
		for _, p := range metric.Percentiles() {
			if p.Name == name {
				f = estimate.Figure{Kind: estimate.Quantile, Q: p.Quantile}
			}
		}
		list = append(list, f)
	}
	return list
}
