// Package gate is the language in which users say what a result must not be, or must be:
//
//	[at rate 40: | at concurrency 8: | at stage NAME:] METRIC[.STATISTIC] OP VALUE[UNIT]
//	ci(METRIC.STATISTIC) OP VALUE%
//
// A gate is read once, checked against the plan before anything is sent, and judged on the
// result. It says what is true; whether that is good depends on who asks: with --fail-if what
// holds is missed, with --fail-unless what is not shown to hold, and an objective is met.
package gate

import "fmt"

// Op is how a figure is compared with the bound.
type Op string

// The comparisons that there are.
const (
	More    Op = ">"
	AtLeast Op = ">="
	Less    Op = "<"
	AtMost  Op = "<="
)

// Holds reports whether a value is on the side of the bound that the comparison says.
func (o Op) Holds(value, bound float64) bool {
	switch o {
	case More:
		return value > bound
	case AtLeast:
		return value >= bound
	case Less:
		return value < bound
	case AtMost:
		return value <= bound
	}
	return false
}

// Gate is one expression.
type Gate struct {
	Text     string // as it was written
	Unless   bool   // it must be shown to hold: see ParseUnless
	At       At     // the levels that it is about
	Interval bool   // it is about the confidence interval: its half width as a share of the value
	Metric   Metric
	Stat     string // "avg", "p99"; of a metric that is one number always "avg"
	Op       Op
	Bound    float64 // in Unit
	Unit     string  // the metric's; Share: of the value, for an interval or a difference in per cent

	signed, percent bool
}

// Share is the unit of parts of one.
const Share = "share"

// Relative reports whether the gate is about a difference of sides: its bound has a sign.
func (g *Gate) Relative() bool { return g.signed }

// Percent reports whether a difference is a share of the first side, not in the metric's unit.
func (g *Gate) Percent() bool { return g.percent }

// Figure is the metric and the statistic, by short names: "ttft.p99", "goodput".
func (g *Gate) Figure() string {
	if !g.Metric.Spread {
		return g.Metric.Short
	}
	return g.Metric.Short + "." + g.Stat
}

// At says which levels a gate is about. The zero At is all of them.
type At struct {
	Rate        float64 // requests per second
	Concurrency int
	Stage       string // its name, or its number from 1
}

// All reports whether every level is meant.
func (a At) All() bool { return a == At{} }

// String is the level in words.
func (a At) String() string {
	switch {
	case a.Rate > 0:
		return "rate " + plain(a.Rate)
	case a.Concurrency > 0:
		return fmt.Sprintf("concurrency %d", a.Concurrency)
	case a.Stage != "":
		return "stage " + a.Stage
	}
	return "every level"
}

// Error is what is wrong with an expression and what to do about it.
type Error struct{ Text, Hint string }

// Error is both on one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Text
	}
	return e.Text + " (" + e.Hint + ")"
}

func faultf(hint, format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...), Hint: hint}
}
