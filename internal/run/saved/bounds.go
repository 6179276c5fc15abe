package saved

import (
	"math"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
)

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

// boundsBy are those of a run whose records have said what its search made: p has the levels
// that were begun.
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
