package metric

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/stat"
)

// Curve is how the samples of a metric lie, in its unit.
type Curve struct {
	Quantiles []float64 // nil: there are no samples
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
