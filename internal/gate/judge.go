package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
)

// Judgement is what a gate came to at one level.
type Judgement struct {
	Gate         string // as it was written
	Stage        int    // -1: none is the one that it is about
	Where        string // the level in words
	Value, Bound float64
	Unit         string // of both
	Holds        bool   // the expression is true
	Known        bool   // there is such a figure; else Value and Holds say nothing
	Why          string // why there is none, or what to know about the figure
	More         string // how much more to measure to decide it
	Unless       bool   // it must be shown to hold
	// Interval is what the value lies in, where that decides; nil means the value does. Undecided: the
	// bound lies in it, and Holds says nothing.
	Interval  *result.ConfidenceInterval
	Undecided bool
}

// Judge works a gate out for each stage that it is about; unknown, where a stage lacks the
// figure.
func (g *Gate) Judge(res *result.Result) []Judgement {
	if g.Metric.ID == Capacity {
		return []Judgement{g.judgeCapacity(res.Capacity)}
	}
	var list []Judgement
	for i := range res.Stages {
		s := &res.Stages[i]
		if g.At.is(s.Index, s.Name, s.Concurrency, s.Rate) {
			list = append(list, g.JudgeStage(s))
		}
	}
	if len(list) == 0 {
		o := g.Outcome(-1, g.At.String())
		o.Why = "no stage was at " + g.At.String()
		list = append(list, o)
	}
	return list
}

// JudgeStage works a gate out on one stage.
func (g *Gate) JudgeStage(s *result.Stage) Judgement {
	o := g.Outcome(s.Index, fmt.Sprintf("%s (%s)", s.Name, s.Load))
	st, ok := s.Metrics[g.Metric.ID]
	switch {
	case s.Counts.Sent == 0:
		o.Why = "no request was sent"
		return o
	case !ok:
		o.Why = g.Metric.Short + " was not measured: no successful request has it"
		return o
	}
	value, ok := Value(&st, g.Stat)
	if !ok {
		o.Why = fmt.Sprintf("%s has no %s here", g.Metric.Short, g.Stat)
		return o
	}
	if st.Open(g.Stat) && (g.Interval || !g.Decides(value)) {
		o.Why = Unknown(g.Figure(), value, st.Unit)
		return o
	}
	if g.Interval {
		at, ok := st.Intervals[g.Stat]
		if value == 0 {
			o.Why = g.Figure() + " is 0: an interval is no share of it"
			return o
		}
		if !ok {
			o.Why = "too few requests for a confidence interval"
			return o
		}
		value = (at.Hi - at.Lo) / 2 / math.Abs(value)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		o.Why = g.Figure() + " is not a number"
		return o
	}
	o.Value, o.Known, o.Holds = value, true, g.Op.Holds(value, g.Bound)
	var notes []string
	if slices.Contains(st.LowSamples, g.Stat) {
		notes = append(notes, thin(g.Stat, st.Count))
	}
	switch {
	case st.Open(g.Stat) || g.Interval: // decided by all that it can be
	case g.Unless:
		notes = append(notes, g.prove(&o, &st, s.Counts.OK))
	default:
		notes = append(notes, g.doubt(&st))
	}
	o.Why = strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
	return o
}

// Outcome is what a gate comes to before anything is known.
func (g *Gate) Outcome(stage int, where string) Judgement {
	return Judgement{Gate: g.Text, Unless: g.Unless, Stage: stage, Where: where, Bound: g.Bound, Unit: g.Unit}
}

// Value is a statistic of a metric by its name.
func Value(s *result.Stat, name string) (float64, bool) {
	switch {
	case name == "avg":
		return s.Avg, true
	case s.Distribution == nil:
		return 0, false
	}
	return s.Quantile(name), true
}

// thin says that a percentile has too few samples.
func thin(name string, samples int64) string {
	for _, p := range metric.Percentiles() {
		if p.Name == name {
			return fmt.Sprintf("%s of %s only: %s are enough", name, number.Plural(samples, "sample"), number.Count(stat.MinSamples(p.Quantile)))
		}
	}
	return ""
}

// JudgeAll says which gates a result misses: those whose figure it does not have, those of
// --fail-if that hold, and those of --fail-unless that are not shown to hold.
func JudgeAll(gates []*Gate, res *result.Result) []result.Gate {
	var list []result.Gate
	for _, g := range gates {
		for _, o := range g.Judge(res) {
			list = append(list, o.Result())
		}
	}
	return list
}

// Result is the outcome of a gate as documents have it.
func (o *Judgement) Result() result.Gate {
	out := result.Gate{
		Gate: o.Gate, Unless: o.Unless, Stage: o.Stage, Where: o.Where, Value: o.Value, Bound: o.Bound, Unit: o.Unit, Interval: o.Interval,
		Absent: !o.Known, Undecided: o.Known && o.Undecided, Why: o.Why, More: o.More,
	}
	switch {
	case !o.Known:
		out.Failed = true
	case o.Undecided:
		out.Failed = o.Unless
	default:
		out.Failed = o.Holds != o.Unless
	}
	return out
}

// Decides reports whether the gate can be told by a lower bound of its figure: what is more than
// the bound of the gate stays so, and what is less may be more.
func (g *Gate) Decides(least float64) bool {
	return g.Op.Holds(least, g.Bound) == (g.Op == More || g.Op == AtLeast)
}

// Unknown says that a lower bound of a figure does not tell.
func Unknown(figure string, least float64, unit string) string {
	return figure + " is known only to be at least " + number.Value(least, unit) + ": requests did not end"
}
