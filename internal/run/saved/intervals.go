package saved

import (
	"fmt"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sample"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// asksIntervals are the figures whose intervals gates ask for and a result does not have:
// statistics by metric.
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
