package compare

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sample"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Intervals are between what the usual figures of a run lie, by the requests of that run alone:
// by stage and figure.
func (r *Run) Intervals(confidence float64) (map[int]map[Figured]estimate.Interval, error) {
	wanted := map[string][]figure{}
	for _, f := range usual() {
		wanted[f.metric] = append(wanted[f.metric], f)
	}
	var stages []int
	for i := range r.Levels {
		stages = append(stages, i)
	}
	samples, err := r.sample(stages, metricsOf(usual()))
	if err != nil {
		return nil, err
	}
	all := map[int]map[Figured]estimate.Interval{}
	for i, s := range samples {
		all[i] = map[Figured]estimate.Interval{}
		for id, figures := range wanted {
			for k, at := range s.Intervals(id, statsOf(figures), confidence) {
				all[i][Figured{id, figures[k].stat}] = at
			}
		}
	}
	return all, nil
}

// sample reads the requests of a run's stages, with the metrics that are named; nil where there
// are none.
func (r *Run) sample(stages []int, metrics []string) (map[int]*sample.StageSamples, error) {
	if r.Saved == nil {
		return nil, nil
	}
	if lacks := func(id string) bool { return !slices.Contains(r.sampled, id) }; !slices.ContainsFunc(metrics, lacks) {
		return r.Saved.Samples, nil
	}
	wanted := map[int]*result.Stage{}
	for _, i := range stages {
		wanted[i] = &r.Saved.Result.Stages[i]
	}
	all, err := sample.ReadStages(r.Plan, r.Saved.Facts.Stages, &r.Saved.Records, wanted, metrics)
	if err != nil {
		return nil, fmt.Errorf("reading the requests of %s: %w", r.Path, err)
	}
	return all, nil
}

func statsOf(figures []figure) []string {
	var names []string
	for _, f := range figures {
		names = append(names, f.stat)
	}
	return names
}
