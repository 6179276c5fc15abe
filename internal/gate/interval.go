package gate

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// JudgeInterval decides by all that a figure can be: the expression holds where it does at both ends of
// the interval, and does not where it does at neither.
func (g *Gate) JudgeInterval(o *Judgement, at result.ConfidenceInterval) {
	lo, hi := g.Op.Holds(at.Lo, g.Bound), g.Op.Holds(at.Hi, g.Bound)
	o.Interval, o.Holds, o.Undecided = &at, lo && hi, lo != hi
}

// Above reports whether the expression asks for more than its bound.
func (g *Gate) Above() bool { return g.Op == More || g.Op == AtLeast }

// prove decides a gate that must be shown to hold, by the interval of sampling and by what this
// client can have done to the figure, and says what there is to know.
func (g *Gate) prove(o *Judgement, st *result.Stat, requests int64) string {
	at, ok := st.Intervals[g.Stat]
	if !ok {
		o.Undecided = true
		return "not shown: too few requests for a confidence interval"
	}
	sampling := at
	bar, measured := st.Error[g.Stat]
	if measured {
		at.Lo, at.Hi = min(at.Lo, bar.Lo), max(at.Hi, bar.Hi)
	}
	g.JudgeInterval(o, at)
	switch {
	case !o.Undecided:
		return ""
	case measured && bar.Lo < g.Bound && g.Bound < bar.Hi:
		o.More = fmt.Sprintf("this client can tell it only to be %s to %s, however many requests there are", number.Value(bar.Lo, g.Unit), number.Value(bar.Hi, g.Unit))
	default:
		o.More = g.more(o.Value, sampling, requests)
	}
	return "not shown: " + number.Value(g.Bound, g.Unit) + " lies within what it can be"
}

// doubt says that a figure might as well be on the other side of the bound.
func (g *Gate) doubt(st *result.Stat) string {
	if at, ok := st.Intervals[g.Stat]; ok && at.Lo <= g.Bound && g.Bound <= at.Hi {
		return within(g.Bound, at, g.Unit)
	}
	if bar, ok := st.Error[g.Stat]; ok && bar.Lo < g.Bound && g.Bound < bar.Hi {
		return fmt.Sprintf("%s lies within its error bar, %s to %s: this client cannot tell", number.Value(g.Bound, g.Unit), number.Value(bar.Lo, g.Unit), number.Value(bar.Hi, g.Unit))
	}
	return ""
}

func within(bound float64, at result.ConfidenceInterval, unit string) string {
	return fmt.Sprintf("%s lies within its 95 %% interval, %s to %s: the next run may end otherwise", number.Value(bound, unit), number.Value(at.Lo, unit), number.Value(at.Hi, unit))
}

// ratio is how many half widths a figure must be from the bound to be shown beyond it 4 times in 5.
const ratio = (1.96 + 0.84) / 1.96

// tooMany is a factor by which more requests are not practical.
const tooMany = 1000

// more says how many requests would show a figure to be on its side of the bound. The width of an
// interval falls with the root of their number.
func (g *Gate) more(value float64, at result.ConfidenceInterval, requests int64) string {
	if !g.Op.Holds(value, g.Bound) {
		return ""
	}
	side := value - at.Lo
	if !g.Above() {
		side = at.Hi - value
	}
	times := math.Pow(ratio*side/math.Abs(value-g.Bound), 2)
	if !(times <= tooMany) {
		return "it is too near to the bound to be shown within it"
	}
	if times <= 1 || requests == 0 {
		return ""
	}
	return fmt.Sprintf("if it is %s, about %s would show that, %s times as many", number.Value(value, g.Unit), number.Plural(Rounded(times*float64(requests)), "request"), Factor(times))
}

// Rounded is a number that is not known exactly, upwards to two digits.
func Rounded(v float64) int64 {
	if !(v >= 1) {
		return 1
	}
	step := math.Pow(10, math.Max(0, math.Floor(math.Log10(v))-1))
	return int64(math.Ceil(v/step) * step)
}

// Factor is how many times, with two digits or so.
func Factor(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return number.Count(Rounded(v))
}
