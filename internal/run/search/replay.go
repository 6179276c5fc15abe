package search

import (
	"cmp"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

// StepStage is the stage number of a step of the search for the saturation, in its records.
func StepStage(i int) int { return -1 - i }

// SaturationStages are the stages of a sweep; the plan's own where its search found none.
func SaturationStages(p *plan.Plan, rates []float64) []plan.Stage {
	if len(rates) == 0 {
		return p.Stages
	}
	return sweep.StagesAt(p.Stages[0], p.Saturation, rates)
}

// ReplaySaturation makes a search's outcome again from its steps' marks and requests, or nil.
func ReplaySaturation(p *plan.Plan, marks []record.StageSummary, passages *sweep.StepLog) *sweep.Saturation {
	if !p.Saturation.On() {
		return nil
	}
	hunt := sweep.NewHunt(p.Saturation)
	for i := 0; ; i++ {
		rate, _, ok := hunt.Next()
		mark := record.FindStage(marks, StepStage(i))
		if !ok || mark == nil || mark.Early() {
			return hunt.Found()
		}
		hunt.Observe(sweep.JudgeStep(rate, *mark, passages.Requests(StepStage(i)), p.Saturation.Percentile))
	}
}

// Levels are the stages that edges tell of: the plan's own, or its levels.
func Levels(p *plan.Plan, edges []record.Edge) []plan.Stage {
	if !p.Levels.On() && !p.Capacity.On() {
		return p.Stages
	}
	var stages []plan.Stage
	for _, e := range slices.SortedFunc(slices.Values(edges), func(a, b record.Edge) int { return cmp.Compare(a.Stage, b.Stage) }) {
		if e.Stage == len(stages) {
			s := p.Stages[0].AtLevel(e.Level)
			if e.Kind != "" {
				s.Name = e.Kind
			}
			stages = append(stages, s)
		}
	}
	if len(stages) == 0 {
		return p.Stages
	}
	return stages
}
