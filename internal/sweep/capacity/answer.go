package capacity

import (
	"math"
)

// estimate is what is known of the capacity.
type estimate struct {
	value, lo, hi float64
	done          bool // precise enough
	belief        *belief
}

// answer works out the capacity from levels of which some meet the objectives and some do not.
func (s *Search) answer(levels []Level) *estimate {
	b := s.believe(levels)
	a := &estimate{value: b.at(0.5), lo: b.at(0.025), hi: b.at(0.975), belief: b}
	n := 0.0
	for i := range levels {
		if math.Abs(math.Log(levels[i].Load/a.value)) < near/2 {
			n++
		}
	}
	// How far levels differ is itself known from a few levels only, as with Student's t.
	widen := 1 + 1.6/(n+1)
	a.lo, a.hi = a.value*math.Pow(a.lo/a.value, widen), a.value*math.Pow(a.hi/a.value, widen)
	a.done = n >= fewest && (a.hi-a.lo)/2 <= s.Precision*a.value
	if s.Whole {
		a.done = a.done || n >= fewest && math.Floor(a.lo) == math.Floor(a.hi)
	}
	return a
}
