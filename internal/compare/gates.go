package compare

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/result"
)

// Comparable finds what no comparison can tell: what is for one run, and what is not compared.
func Comparable(g *gate.Gate) error {
	switch {
	case g.Interval:
		return &gate.Error{Text: g.Text + " is about one run", Hint: "use it with inferometer run or report"}
	case g.Unless && !g.Relative():
		return &gate.Error{Text: g.Text + " is to be shown by one run", Hint: "use it with inferometer run or report, or give a sign to compare: ttft.p99 < +5%"}
	case g.Relative() && slices.Contains([]string{"min", "max", "std"}, g.Stat):
		return &gate.Error{Text: g.Stat + " is not compared", Hint: "use avg or a percentile"}
	}
	return nil
}

// CheckGate finds what a comparison of sides cannot tell: a metric that a run did not measure, a
// level that no side has, and what no comparison can.
func CheckGate(sides []Side, g *gate.Gate) error {
	if err := Comparable(g); err != nil {
		return err
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
	return nil
}

// JudgeGates says what came of gates, for each load and each side but the first. One about a
// difference is decided by the whole interval of that, undecided where there is none, and missed where
// a side does not have the figure; any other by the figure of the side.
func (c *Comparison) JudgeGates(sides []Side, gates []*gate.Gate) []result.Gate {
	var list []result.Gate
	for _, g := range gates {
		n := len(list)
		for _, f := range c.Find(g.Metric.ID, g.Stat) {
			if c.applies(sides, f.Load, g.At) {
				list = append(list, c.judge(g, &f))
			}
		}
		if len(list) == n {
			o := g.Outcome(-1, "")
			o.Why = "no load that both sides have is at " + g.At.String() + " with " + g.Figure()
			list = append(list, o.Result())
		}
	}
	return list
}

// applies reports whether a load is one that a gate is about: by what the first run of any of its
// sides was asked for.
func (c *Comparison) applies(sides []Side, l *Load, at gate.At) bool {
	for _, s := range l.Sides {
		for r, n := range s.Stages {
			if p := sides[s.Side].Runs[r].Plan; n >= 0 && n < len(p.Stages) && at.Is(p, n) {
				return true
			}
		}
	}
	return false
}

func (c *Comparison) judge(g *gate.Gate, f *Found) result.Gate {
	o := g.Outcome(c.place(f.Load), f.Load.Name)
	if len(c.Sides) > 2 {
		o.Where += ", " + c.Sides[f.Table.Side].Name
	}
	if g.Relative() {
		return c.judgeDifference(g, f, o)
	}
	switch b := f.Row.B; {
	case b == nil:
		o.Why = c.Sides[f.Table.Side].Name + " has no " + g.Figure()
	case b.AtLeast && !g.Decides(b.Value):
		o.Why = gate.Unknown(g.Figure(), b.Value, f.Row.Unit)
	default:
		o.Value, o.Known, o.Holds = b.Value, true, g.Op.Holds(b.Value, g.Bound)
	}
	return o.Result()
}

// judgeDifference works a gate out on the difference of a row.
func (c *Comparison) judgeDifference(g *gate.Gate, f *Found, o gate.Judgement) result.Gate {
	d := differenceOf(g, f.Row)
	if d == nil {
		o.Why = "too little was measured to tell the difference"
		if f.Row.Why != "" {
			o.Why = f.Row.Why
		}
		if delta := f.Row.Delta; delta != nil && f.Row.Verdict == NotKnown { // both sides have the figure
			o.Value, o.Unit, o.Known, o.Undecided = delta.Value, f.Row.Unit, true, true
			if g.Percent() && delta.Relative != nil {
				o.Value, o.Unit = *delta.Relative, gate.Share
			}
		}
		out := o.Result()
		out.Difference = o.Known
		return out
	}
	o.Value, o.Unit, o.Bound, o.Known, o.Why = d.value, d.unit, d.bound, true, d.why
	moved := *g
	moved.Bound = d.bound
	if d.same {
		o.Holds = g.Op.Holds(0, g.Bound)
	} else {
		moved.JudgeInterval(&o, d.at)
		d.doubt(&moved, &o, f.Row)
	}
	out := o.Result()
	out.Difference = true
	if !d.same {
		out.Sensitivity = d.sensitivity(g)
	}
	if out.Undecided {
		out.More = d.more(g, f)
	}
	return out
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
