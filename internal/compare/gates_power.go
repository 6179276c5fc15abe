package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// gated is a difference as a gate sees it: in the gate's unit.
type gated struct {
	value, bound float64
	at           result.ConfidenceInterval
	unit         string
	scale        float64 // of the unit in that of the row
	points       bool    // it is in percentage points
	same         bool    // both figures are 0, and there is nothing to tell apart
	bent         float64 // how far the clients can have bent it
	why          string
	of           estimate.Difference
}

// differenceOf is the difference of a row for a gate; nil means its interval is not known.
//
// Of 0 on both sides nothing has changed. A percentage of 0 is 0: where only the first side has
// none, such as no failed request, the bound is 0.
func differenceOf(g *gate.Gate, r *Row) *gated {
	d := r.Delta
	if d == nil {
		return nil
	}
	out := &gated{value: d.Value, bound: g.Bound, unit: r.Unit, scale: 1, points: r.Unit == gate.Share && !g.Percent(), bent: r.bent,
		of: d.estimate}
	if g.Percent() && r.A.Value == 0 {
		if d.Value == 0 {
			out.same, out.unit, out.why = true, gate.Share, "0 on both sides: no change"
			return out
		}
		out.bound, out.why = 0, "0 on the first side: any more is more than a percentage of that"
	}
	if d.Interval == nil {
		return nil
	}
	out.at = result.ConfidenceInterval{Lo: d.Interval.Lo, Hi: d.Interval.Hi}
	if g.Percent() && r.A.Value != 0 {
		if d.Relative == nil || d.Interval.RelativeLo == nil || d.Interval.RelativeHi == nil {
			return nil
		}
		out.value, out.unit, out.scale = *d.Relative, gate.Share, math.Abs(r.A.Value)
		out.bent /= out.scale
		out.at = result.ConfidenceInterval{Lo: *d.Interval.RelativeLo, Hi: *d.Interval.RelativeHi}
	}
	return out
}

// doubt takes back what the clients can have made: a difference that they can have added all of, and
// one that is short of the bound only if they have hidden nothing.
func (d *gated) doubt(g *gate.Gate, o *gate.Judgement, r *Row) {
	hide := fmt.Sprintf("the clients' own delays can hide %s", number.Value(r.bent, r.Unit))
	if o.Undecided {
		if g.Unless && d.bent > math.Abs(d.bound)/2 { // no number of requests makes up for that
			o.Why = hide
		}
		return
	}
	missed := o.Holds != g.Unless
	if apart := g.Op.Holds(d.bound, 0); missed && !g.Unless && apart && r.Verdict == NoneSeen {
		o.Undecided, o.Why = true, r.Why
		return
	}
	if nearest := min(math.Abs(d.at.Lo-d.bound), math.Abs(d.at.Hi-d.bound)); !missed && nearest < d.bent {
		o.Undecided, o.Why = true, hide
	}
}

// sensitivity is what a gate could have shown of a difference. For one that fails a build it is how
// often a true change as far beyond the bound as that is from none is noticed; for one that demands
// proof, how often it is held if nothing has changed.
func (d *gated) sensitivity(g *gate.Gate) *result.Sensitivity {
	above, s := g.Above(), &result.Sensitivity{Change: d.change(g)}
	bound := d.provable(g)
	if s.Chance = d.of.Beyond(bound*d.scale, s.Change*d.scale, above); math.IsNaN(s.Chance) {
		return nil
	}
	sure := d.of.Surely(bound*d.scale, above) / d.scale
	if !above {
		sure = -sure
	}
	if s.Sure = finite(bound + sure); s.Sure != nil && g.Percent() && *s.Sure <= -1 {
		s.Sure = nil // nothing falls by more than all
	}
	switch {
	case !g.Unless && s.Change != d.bound && math.Abs(s.Change) <= d.bent:
		s.Chance, s.Sure = 0, nil
		s.Text = d.write(s.Change) + " cannot be told from the clients' own delays"
	case s.Sure == nil && g.Unless:
		s.Text = "no side would have held it 4 times in 5"
	case s.Sure == nil:
		s.Text = "no change would have been noticed 4 times in 5"
	case g.Unless && !g.Op.Holds(0, bound):
		s.Text = fmt.Sprintf("a side that has not changed does not hold it; %s would have held it 4 times in 5", d.write(*s.Sure))
	case g.Unless:
		s.Text = "a side that has not changed would have held it " + often(s.Chance)
	case s.Change == d.bound: // of 0, as far again is nowhere
		s.Text = d.write(*s.Sure) + " would have been noticed 4 times in 5"
	default:
		s.Text = d.write(s.Change) + " would have been noticed " + often(s.Chance)
		if s.Chance < 0.75 {
			s.Text += ", " + d.write(*s.Sure) + " 4 times in 5"
		}
	}
	return s
}

// provable is the bound that an interval must be short of for the gate to be held, whatever the
// clients have hidden.
func (d *gated) provable(g *gate.Gate) float64 {
	switch {
	case !g.Unless:
		return d.bound
	case g.Above():
		return d.bound + d.bent
	}
	return d.bound - d.bent
}

// change is the true difference that a gate is asked about.
func (d *gated) change(g *gate.Gate) float64 {
	switch {
	case g.Unless:
		return 0
	case g.Above():
		return d.bound + math.Abs(d.bound)
	}
	return d.bound - math.Abs(d.bound)
}

// more says how much more to measure for the change to be noticed 4 times in 5.
func (d *gated) more(g *gate.Gate, f *Found) string {
	bound := d.provable(g)
	size := math.Abs(d.change(g)-bound) * d.scale
	if !(size > 0) {
		if g.Unless {
			return "no length shows that nothing has changed: allow some, such as < +2%"
		}
		return ""
	}
	if g.Unless && !g.Op.Holds(0, bound) {
		return ""
	}
	// Longer is about the wider side, Surely about the one that counts.
	times := d.of.SampleFactor(size * d.of.Least / d.of.Surely(bound*d.scale, g.Above()))
	if !(times > 1) {
		return ""
	}
	takes := "noticing " + d.write(d.change(g))
	if g.Unless {
		takes = "holding it"
	}
	takes += " 4 times in 5 takes "
	if times > 1000 {
		return takes + "more than 1,000 times as much"
	}
	sides := []int{0, f.Table.Side}
	if method := f.Row.Delta.Method; method == estimate.Runs || method == estimate.Pairs {
		runs := max(f.Row.A.Runs, f.Row.B.Runs)
		return takes + number.Plural(int64(math.Ceil(times*float64(runs))), "run") + " of each side"
	}
	var requests int64
	for _, s := range f.Load.Sides {
		if slices.Contains(sides, s.Side) {
			requests = max(requests, s.OK)
		}
	}
	return fmt.Sprintf("%s%s on each side, %s times as many", takes, number.Plural(gate.Rounded(times*float64(requests)), "request"), gate.Factor(times))
}

func (d *gated) write(v float64) string {
	if v == 0 {
		return "no change"
	}
	if d.unit != gate.Share {
		return result.Signed(v, d.unit)
	}
	text := number.Percent(math.Abs(v))
	if d.points {
		text = strings.TrimSuffix(text, "%") + "percentage points"
	}
	if v < 0 {
		return "-" + text
	}
	return "+" + text
}

// often writes a probability as people count.
func often(p float64) string {
	switch {
	case p >= 0.985:
		return "99 times in 100"
	case p >= 0.93:
		return "19 times in 20"
	case p < 0.02:
		return "hardly ever"
	case p < 0.07:
		return "1 time in 20"
	}
	n := math.Round(p * 10)
	if n <= 1 {
		return "1 time in 10"
	}
	return fmt.Sprintf("%.0f times in 10", min(9, n))
}
