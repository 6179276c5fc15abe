package result

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

// EdgesOf are the edges of a stage, in order. One that was told twice stands as it
// was told last.
func EdgesOf(edges []record.Edge, stage int) []record.Edge {
	var out []record.Edge
	for _, e := range edges {
		if e.Stage != stage {
			continue
		}
		at, found := slices.BinarySearchFunc(out, e.Trial, func(a record.Edge, trial int) int { return a.Trial - trial })
		if found {
			out[at] = e
		} else {
			out = slices.Insert(out, at, e)
		}
	}
	return out
}

// Levels makes the levels of a run again from its facts and the samples of each stage.
func Levels(p *plan.Plan, f *Facts, samples map[int][]sweep.Sample) []*sweep.Level {
	if !p.Measurement.On() {
		return nil
	}
	out := make([]*sweep.Level, len(p.Stages))
	for i := range p.Stages {
		edges := EdgesOf(f.Edges, i)
		if len(edges) == 0 {
			continue
		}
		var ended record.StopReason
		if m := MarkOf(f.Stages, i); m != nil {
			ended = m.Reason.Windows()
		}
		if p.Measurement.Mode == plan.WindowStage && len(edges) > 1 {
			ended = record.StopWhole
		}
		out[i] = sweep.FromEdges(p.Measurement, edges, samples[i], ended)
	}
	return out
}

// windows judges whether the windows of a stage agreed.
func (j *judge) windows(i int, l *sweep.Level) {
	if l == nil || l.Ended == "" || l.Ended == record.StopWhole {
		return
	}
	reason, do := "", "Make the windows longer, or allow more of them."
	switch l.Ended {
	case record.StopTrials:
		reason = fmt.Sprintf("The last %d windows do not agree within %s after %s.", j.plan.Measurement.Windows, number.Percent(j.plan.Measurement.Stability), number.Things(int64(len(l.Windows)), "window"))
	case record.StopEmpty:
		reason, do = "No request succeeded in the last window.", "Make the windows longer, and check that the target answers."
	case record.StopThroughput:
		j.note(i, "Throughput became stable and latency did not.")
	}
	j.check(Check{Stage: i, Name: "windows", Value: float64(len(l.Windows)), Budget: float64(j.plan.Measurement.MaxTrials), Unit: "windows", OK: reason == "", Do: do}, reason)
}
