package result

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Gate is a condition on which the user wants the run to fail or to pass, and what was found.
type Gate struct {
	Gate string `json:"gate"` // as it was written
	// Unless: the condition must be shown to hold, or the run fails; else it fails if it holds.
	Unless bool    `json:"fail_unless,omitempty"`
	Stage  int     `json:"stage"`           // -1: no stage is the one that it is about
	Where  string  `json:"where,omitempty"` // the level in words
	Value  float64 `json:"value"`
	Bound  float64 `json:"bound"`
	Unit   string  `json:"unit"`
	// Difference: value, bound and interval are about how far a side is from the first.
	Difference bool `json:"difference,omitempty"`
	// Interval is what the value lies in, for a difference and for a condition that must be shown
	// to hold.
	Interval *ConfidenceInterval `json:"interval,omitempty"`
	Failed   bool                `json:"missed"` // it fails the run
	// Undecided: the bound lies within the interval, or there is none, so that neither side of it
	// is shown. It fails the run only if the condition must be shown to hold.
	Undecided   bool         `json:"undecided,omitempty"`
	Sensitivity *Sensitivity `json:"sensitivity,omitempty"` // what a comparison could have shown
	More        string       `json:"more,omitempty"`        // in words: how much more to measure to decide it
	Absent      bool         `json:"absent,omitempty"`      // there is no such figure: Missed is true and Value says nothing
	Why         string       `json:"reason,omitempty"`      // why there is none, or what to know about the figure
}

// Sensitivity is what a gate about a difference could have shown, with as much as was measured.
type Sensitivity struct {
	Change float64  `json:"change"`         // a true difference, in the gate's unit
	Chance float64  `json:"chance"`         // how likely it is noticed: the gate is missed, or held if that must be shown
	Sure   *float64 `json:"sure,omitempty"` // the true difference that is noticed 4 times in 5
	Text   string   `json:"text"`
}

// Missed reports whether a gate is missed, or the objectives of a search at every load.
func (r *Result) Missed() bool {
	return slices.ContainsFunc(r.Gates, func(g Gate) bool { return g.Failed }) || r.Capacity != nil && r.Capacity.Outcome == capacity.Never
}

// Found is what the gate found, in words: the value, with as many digits as tell it from the bound.
func (g *Gate) Found() string {
	text := number.Value(g.Value, g.Unit)
	switch {
	case g.Absent:
		return "-"
	case g.Interval != nil:
		write := number.Value
		if g.Difference {
			write = Signed
		}
		return fmt.Sprintf("%s (%s to %s)", write(g.Value, g.Unit), write(g.Interval.Lo, g.Unit), write(g.Interval.Hi, g.Unit))
	case g.Difference:
		return Signed(g.Value, g.Unit)
	case g.Value != g.Bound && text == number.Value(g.Bound, g.Unit):
		return strconv.FormatFloat(g.Value, 'g', -1, 64) + " " + g.Unit
	}
	return text
}

// Signed is a difference in words.
func Signed(v float64, unit string) string {
	text := number.Value(math.Abs(v), unit)
	switch {
	case strings.HasPrefix(text, "<"): // too little to have a sign
		return text
	case v < 0:
		return "-" + text
	case v > 0:
		return "+" + text
	}
	return text
}

// Word is what came of the gate.
func (g *Gate) Word() string {
	switch {
	case g.Failed:
		return "MISSED"
	case g.Undecided:
		return "undecided"
	}
	return "held"
}

// Notes are what to know about the gate besides what it found.
func (g *Gate) Notes() []string {
	var list []string
	if g.Why != "" {
		list = append(list, g.Why)
	}
	if g.Sensitivity != nil {
		list = append(list, g.Sensitivity.Text)
	}
	if g.More != "" {
		list = append(list, g.More)
	}
	return list
}

// Condition is the gate as it was written, with the word of its flag where that is not --fail-if.
func (g *Gate) Condition() string {
	if g.Unless {
		return "unless " + g.Gate
	}
	return g.Gate
}

// Conditions are gates as a column of a table has them, with its title.
func Conditions(gates []Gate) (title string, cells []string) {
	title = "Fail if"
	several := slices.ContainsFunc(gates, func(g Gate) bool { return g.Unless })
	if several {
		title = "Fail"
	}
	for i := range gates {
		text := gates[i].Condition()
		if several && !gates[i].Unless {
			text = "if " + text
		}
		cells = append(cells, text)
	}
	return title, cells
}

// Headline counts what came of gates: "1 of 3 gates missed, 1 undecided".
func Headline(gates []Gate) string {
	missed, undecided := CountMissed(gates), CountUndecided(gates)
	all := number.Plural(int64(len(gates)), "gate")
	switch {
	case missed == 0 && undecided == 0:
		return all + " held"
	case missed == 0:
		return fmt.Sprintf("%d of %s undecided, none missed", undecided, all)
	case undecided == 0:
		return fmt.Sprintf("%d of %s missed", missed, all)
	}
	return fmt.Sprintf("%d of %s missed, %d undecided", missed, all, undecided)
}

// SeveralLevels reports whether gates are about more than one level, so that each has to say its own.
func SeveralLevels(gates []Gate) bool {
	return slices.ContainsFunc(gates, func(g Gate) bool { return g.Stage != gates[0].Stage })
}

// CountMissed is how many gates are missed.
func CountMissed(gates []Gate) int {
	n := 0
	for i := range gates {
		if gates[i].Failed {
			n++
		}
	}
	return n
}

// CountUndecided is how many gates are undecided and do not fail the run.
func CountUndecided(gates []Gate) int {
	n := 0
	for i := range gates {
		if gates[i].Undecided && !gates[i].Failed {
			n++
		}
	}
	return n
}
