package compare

import (
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Intervals are between what the usual figures of a run lie, by the requests of that run alone:
// by stage and figure.
func (r *Run) Intervals(confidence float64) (map[int]map[Figured]estimate.Interval, error) {
	wanted := map[string][]figure{}
	var ids []string
	for _, f := range usual() {
		if wanted[f.metric] == nil {
			ids = append(ids, f.metric)
		}
		wanted[f.metric] = append(wanted[f.metric], f)
	}
	var stages []int
	for i := range r.Levels {
		stages = append(stages, i)
	}
	samples, err := r.sample(stages, ids)
	if err != nil {
		return nil, err
	}
	all := map[int]map[Figured]estimate.Interval{}
	for i, s := range samples {
		all[i] = map[Figured]estimate.Interval{}
		for _, id := range ids {
			s.intervals(all[i], wanted[id], confidence)
		}
	}
	return all, nil
}

// intervals adds those of the figures of one metric.
func (s *sampled) intervals(to map[Figured]estimate.Interval, figures []figure, confidence float64) {
	id, one := figures[0].metric, []*sampled{s}
	if isFlow(id) {
		to[Figured{id, average}] = estimate.OfFlow(flowOf(one, id), confidence)
		return
	}
	if d, ok := metric.ByID(id); !ok || d.Rate != nil && !isShare(id) {
		return
	}
	var list []estimate.Figure
	for _, f := range figures {
		list = append(list, f.estimated())
	}
	for i, at := range estimate.Of(stream(one, id), list, confidence) {
		to[Figured{id, figures[i].stat}] = at
	}
}
