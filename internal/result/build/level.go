package build

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
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
func Levels(p *plan.Plan, f *Inputs, samples map[int][]sweep.Sample) []*sweep.Level {
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
		if m := record.FindStage(f.Stages, i); m != nil {
			ended = m.Reason.Windows()
		}
		if p.Measurement.Mode == plan.WindowStage && len(edges) > 1 {
			ended = record.StopWhole
		}
		out[i] = sweep.FromEdges(p.Measurement, edges, samples[i], ended)
	}
	return out
}

// searched says in a sentence what levels with a latency threshold came to: the highest one below
// it, and the lowest one above that is not.
func (j *judge) searched(levels []*sweep.Level) {
	m := &j.plan.Measurement
	if m.LatencyThreshold == 0 || j.facts.OriginalPlan == nil || !j.facts.OriginalPlan.Levels.On() {
		return
	}
	var best, worse *sweep.Level
	for _, l := range levels {
		if l != nil && l.Merged != nil && l.Passed && (best == nil || l.Value > best.Value) {
			best = l
		}
	}
	for _, l := range levels {
		if l != nil && l.Merged != nil && !l.Passed && (best == nil || l.Value > best.Value) && (worse == nil || l.Value < worse.Value) {
			worse = l
		}
	}
	kind := "concurrency "
	if len(j.plan.Stages) > 0 && j.plan.Stages[0].Rate > 0 {
		kind = "rate "
	}
	found := func(l *sweep.Level) string {
		if l.Measured() < time.Duration(m.LatencyThreshold) {
			return "its windows do not agree"
		}
		return "latency is " + number.Span(l.Measured())
	}
	load := func(l *sweep.Level) string { return kind + strconv.FormatFloat(l.Value, 'f', -1, 64) }
	threshold := number.Span(time.Duration(m.LatencyThreshold))
	switch {
	case best == nil && worse == nil:
	case best == nil:
		j.addNote(wholeRun, "No level is stable and below the latency threshold of %s: at %s, %s.", threshold, load(worse), found(worse))
	case worse == nil:
		j.addNote(wholeRun, "All levels are below the latency threshold of %s, up to %s: latency is %s there, with %.4g requests/s.", threshold, load(best), number.Span(best.Measured()), best.Merged.Throughput)
	default:
		j.addNote(wholeRun, "The highest level below the latency threshold of %s is %s: latency is %s, with %.4g requests/s; at %s, %s.", threshold, load(best), number.Span(best.Measured()), best.Merged.Throughput, strings.TrimPrefix(load(worse), kind), found(worse))
	}
}

func (j *judge) windows(i int, l *sweep.Level) {
	if l == nil || l.Ended == "" {
		return
	}
	var last sweep.Window
	if n := len(l.Windows); n > 0 {
		last = l.Windows[n-1]
	}
	silent := last.Requests == 0 && last.Empty > 0
	if l.Ended == record.StopWhole && !silent {
		return
	}
	reason, do := "", "Make the windows longer, or allow more of them."
	switch l.Ended {
	case record.StopEmpty, record.StopWhole:
		reason, do = "No request succeeded in the last window.", "Make the windows longer, and check that the target answers."
		if silent {
			reason, do = fmt.Sprintf("No request had a response: %s ended without one, so there is no latency.", number.Plural(last.Empty, "stream")), "Check the inputs: the model returns nothing for these."
		}
	case record.StopTrials:
		reason = fmt.Sprintf("The last %d windows do not agree within %s after %s.", j.plan.Measurement.Windows, number.Percent(j.plan.Measurement.Stability), number.Plural(int64(len(l.Windows)), "window"))
	case record.StopThroughput:
		j.addNote(i, "Throughput became stable and latency did not.")
	}
	j.check(result.Check{Stage: i, Name: "windows_stable", Value: float64(len(l.Windows)), Budget: float64(j.plan.Measurement.MaxTrials), Unit: "windows", OK: reason == "", Fix: do}, reason)
}
