package result

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Gate is a condition under which the user wants the run to fail, and what was found.
type Gate struct {
	Gate  string  `json:"gate"`            // as it was written
	Stage int     `json:"stage"`           // -1: no stage is the one that it is about
	Where string  `json:"where,omitempty"` // the level in words
	Value float64 `json:"value"`
	Bound float64 `json:"bound"`
	Unit  string  `json:"unit"`
	// Interval is what the value lies in, for a difference between two sides.
	Interval *Interval `json:"interval,omitempty"`
	Missed   bool      `json:"missed"`
	Absent   bool      `json:"absent,omitempty"` // there is no such figure: Missed is true and Value says nothing
	Why      string    `json:"why,omitempty"`    // why there is none, or what to know about the figure
}

// Missed reports whether a gate is missed, or the objectives of a search at every load.
func (r *Result) Missed() bool {
	return slices.ContainsFunc(r.Gates, func(g Gate) bool { return g.Missed }) || r.Capacity != nil && r.Capacity.Outcome == capacity.Never
}

// Found is what the gate found, in words: the value, with as many digits as tell it from the bound.
func (g *Gate) Found() string {
	text := number.Value(g.Value, g.Unit)
	switch {
	case g.Absent:
		return "-"
	case g.Interval != nil:
		return fmt.Sprintf("%s (%s to %s)", signed(g.Value, g.Unit), signed(g.Interval.Lo, g.Unit), signed(g.Interval.Hi, g.Unit))
	case g.Value != g.Bound && text == number.Value(g.Bound, g.Unit):
		return strconv.FormatFloat(g.Value, 'g', -1, 64) + " " + g.Unit
	}
	return text
}

// signed is a difference in words.
func signed(v float64, unit string) string {
	text := number.Value(math.Abs(v), unit)
	switch {
	case v < 0:
		return "-" + text
	case v > 0:
		return "+" + text
	}
	return text
}

// Word says whether the gate is missed.
func (g *Gate) Word() string {
	if g.Missed {
		return "MISSED"
	}
	return "ok"
}

// SeveralLevels reports whether gates are about more than one level, so that each has to say its own.
func SeveralLevels(gates []Gate) bool {
	return slices.ContainsFunc(gates, func(g Gate) bool { return g.Stage != gates[0].Stage })
}

// CountMissed is how many gates are missed.
func CountMissed(gates []Gate) int {
	n := 0
	for i := range gates {
		if gates[i].Missed {
			n++
		}
	}
	return n
}
