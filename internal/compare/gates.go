package compare

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/result"
)

// CheckGates finds what a comparison of sides cannot tell: a metric that a run did not measure, a
// level that no side has, an interval, which is for one run.
func CheckGates(sides []Side, gates []*gate.Gate) error {
	for _, g := range gates {
		if g.Interval {
			return &gate.Error{Text: g.Text + " is about one run", Hint: "use it with inferometer run or report"}
		}
		if g.Relative() && slices.Contains([]string{"min", "max", "std"}, g.Stat) {
			return &gate.Error{Text: g.Stat + " is not compared", Hint: "use avg or a percentile"}
		}
		there := false
		for i := range sides {
			for k := range sides[i].Runs {
				r := &sides[i].Runs[k]
				if err := g.Measured(r.Plan); err != nil {
					return fmt.Errorf("%s: %w", r.Path, err)
				}
				for n := range r.Plan.Stages {
					there = there || g.At.Is(r.Plan, n)
				}
			}
		}
		if !there {
			return &gate.Error{Text: "no side has a level with " + g.At.String(), Hint: "leave the level out to mean every one"}
		}
	}
	return nil
}

// FailIf says which gates a comparison misses, for each load and each side but the first. One
// about a difference is missed where the whole interval of that is beyond the bound, and where
// the interval is not known; any other by the figure of the side.
func (c *Comparison) FailIf(sides []Side, gates []*gate.Gate) []result.Gate {
	var list []result.Gate
	for _, g := range gates {
		n := len(list)
		for _, f := range c.Find(g.Metric.ID, g.Stat) {
			if c.at(sides, f.Load, g.At) {
				list = append(list, c.judge(g, &f))
			}
		}
		if len(list) == n {
			o := gate.Outcome{Gate: g.Text, Stage: -1, Bound: g.Bound, Unit: g.Unit, Why: "no load that both sides have is at " + g.At.String() + " with " + g.Figure()}
			list = append(list, o.Missed())
		}
	}
	return list
}

// at reports whether a load is one that a gate is about: by what the first run of any of its
// sides was asked for.
func (c *Comparison) at(sides []Side, l *Load, at gate.At) bool {
	for _, s := range l.Sides {
		for r, n := range s.Stages {
			if p := sides[s.Side].Runs[r].Plan; n >= 0 && n < len(p.Stages) && at.Is(p, n) {
				return true
			}
		}
	}
	return false
}

// judge works a gate out on a row.
func (c *Comparison) judge(g *gate.Gate, f *Found) result.Gate {
	o := gate.Outcome{Gate: g.Text, Stage: c.place(f.Load), Where: f.Load.Name, Bound: g.Bound, Unit: g.Unit}
	if len(c.Sides) > 2 {
		o.Where += ", " + c.Sides[f.Table.Side].Name
	}
	d := f.Row.Delta
	switch {
	case !g.Relative() && f.Row.B == nil:
		o.Why = c.Sides[f.Table.Side].Name + " has no " + g.Figure()
	case !g.Relative() && f.Row.B.AtLeast && !g.Decides(f.Row.B.Value):
		o.Why = gate.Unknown(g.Figure(), f.Row.B.Value, f.Row.Unit)
	case !g.Relative():
		o.Value, o.Known, o.Holds = f.Row.B.Value, true, g.Op.Holds(f.Row.B.Value, g.Bound)
	case d == nil || d.Interval == nil || g.Percent() && (d.Relative == nil || d.Interval.RelativeLo == nil || d.Interval.RelativeHi == nil):
		o.Why = "too little was measured to tell the difference"
		if f.Row.Why != "" {
			o.Why = f.Row.Why
		}
	default:
		at := result.Interval{Lo: d.Interval.Lo, Hi: d.Interval.Hi}
		if o.Value = d.Value; g.Percent() {
			o.Value, at = *d.Relative, result.Interval{Lo: *d.Interval.RelativeLo, Hi: *d.Interval.RelativeHi}
		}
		nearest := at.Lo // the end of the interval that is the least beyond the bound
		if g.Op == gate.Less || g.Op == gate.AtMost {
			nearest = at.Hi
		}
		o.Known, o.Holds = true, g.Op.Holds(nearest, g.Bound)
		if apart := g.Op.Holds(g.Bound, 0); o.Holds && apart && f.Row.Verdict == NoneSeen {
			o.Holds, o.Why = false, f.Row.Why // the clients can have made all of it
		}
		out := o.Missed()
		out.Interval = &at
		return out
	}
	return o.Missed()
}

// place is which load of the comparison one is.
func (c *Comparison) place(l *Load) int {
	for i := range c.Loads {
		if &c.Loads[i] == l {
			return i
		}
	}
	return -1
}
