package gate

import (
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Capacity is the name of what a capacity search finds: a figure of the run, not a stage's
// metric.
const Capacity = "capacity"

// load is the unit of a capacity: requests per second or in flight, as the search has it.
const load = "load"

func capacityMetric() Metric {
	return Metric{ID: Capacity, Short: Capacity, Unit: load, Higher: true}
}

// checkCapacity finds whether a run of the plan does not search for its capacity.
func (g *Gate) checkCapacity(p *plan.Plan) error {
	switch {
	case !p.Capacity.On():
		return faultf("use inferometer capacity, or capacity in the plan", "capacity is not searched for")
	case !g.At.All():
		return faultf("leave \"at …:\" out", "capacity is of the whole search, not of a level")
	}
	return nil
}

// judgeCapacity works a gate out on what a search has found.
func (g *Gate) judgeCapacity(a *capacity.Result) Judgement {
	o := g.Outcome(-1, "")
	if a == nil {
		o.Why = "no capacity was searched for"
		return o
	}
	o.Unit, o.Value = a.Unit, a.Value
	switch a.Outcome {
	case capacity.Found:
		o.Known, o.Holds = true, g.Op.Holds(a.Value, g.Bound)
		at := result.ConfidenceInterval{Lo: a.Lo, Hi: a.Hi}
		if g.Unless {
			if g.JudgeInterval(&o, at); o.Undecided {
				o.Why = "not shown: the bound lies within its 95 % interval; a longer search narrows it: --precision, --max-time"
			}
		} else if at.Lo <= g.Bound && g.Bound <= at.Hi {
			o.Why = within(g.Bound, at, a.Unit)
		}
	case capacity.Always: // it is that or more
		if o.Known = g.Decides(a.Value); o.Known {
			o.Holds = g.Op.Holds(a.Value, g.Bound)
		} else {
			o.Why = "capacity is known only to be at least " + number.Value(a.Value, a.Unit) + ": no higher load was tried"
		}
	case capacity.Never:
		o.Known, o.Holds, o.Why = true, g.Op.Holds(0, g.Bound), "the objectives are missed at every load"
	default:
		o.Why = a.Sentence
	}
	return o
}
