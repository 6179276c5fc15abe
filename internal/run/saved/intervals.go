package saved

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/sample"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// asksIntervals are figures whose intervals gates want and a result lacks: statistics by metric.
func asksIntervals(conditions plan.Conditions) map[string][]string {
	figures := map[string][]string{}
	for _, c := range conditions.All() {
		g, err := gate.Read(c)
		if err == nil && (g.Interval || g.Unless) && !slices.Contains(metric.Sampled(), g.Metric.ID) &&
			!slices.Contains(figures[g.Metric.ID], g.Stat) {
			figures[g.Metric.ID] = append(figures[g.Metric.ID], g.Stat)
		}
	}
	return figures
}

// intervals puts the confidence intervals that gates ask for into a result that does not have
// them, as those of shares. They need the single requests: the records are read for them.
func intervals(p *plan.Plan, marks []record.StageSummary, records *record.File, res *result.Result) error {
	figures := asksIntervals(p.Conditions)
	if len(figures) == 0 || records.Path == "" {
		return nil
	}
	samples, err := sample.ReadStages(p, marks, records, stagesOf(res), slices.Sorted(maps.Keys(figures)))
	if err != nil {
		return fmt.Errorf("reading the requests for the intervals of gates: %w", err)
	}
	for i, of := range samples {
		for id, names := range figures {
			st, ok := res.Stages[i].Metrics[id]
			if !ok {
				continue
			}
			st.Intervals = map[string]result.ConfidenceInterval{}
			for k, at := range of.Intervals(id, names, estimate.Confidence) {
				if at.Known && !st.Open(names[k]) {
					st.Intervals[names[k]] = result.ConfidenceInterval{Lo: at.Lo, Hi: at.Hi}
				}
			}
			res.Stages[i].Metrics[id] = st
		}
	}
	return nil
}

// boundsOf are the numbers that the plan of a run allows its records to hold. How many stages
// and steps a search made stands in the records alone.
func boundsOf(p *plan.Plan) *record.Bounds {
	b := &record.Bounds{Stages: len(p.Stages), Targets: max(len(p.Target.URLs), 1)}
	if p.Levels.On() || p.Capacity.On() || p.Saturation.On() {
		b.Stages = math.MaxInt
	}
	if p.Saturation.On() {
		b.First = math.MinInt
	}
	return b
}

// boundsBy are those of a run whose records have said what its search made: p has its levels.
func boundsBy(p *plan.Plan, f *build.Inputs) *record.Bounds {
	b := boundsOf(p)
	if p.Levels.On() || p.Capacity.On() {
		b.Stages = len(p.Stages) + 1 // the level of a killed run whose warm-up had not ended
	}
	if p.Saturation.On() {
		b.First = -1 // the step that a killed run was in
		for i := range f.Stages {
			if f.Stages[i].Stage < 0 {
				b.First--
			}
		}
	}
	b.Workers = max(len(f.Header.Workers), f.Header.Worker)
	return b
}
