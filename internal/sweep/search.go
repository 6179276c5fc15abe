package sweep

import (
	"math"

	"github.com/inferometer/inferometer/internal/plan"
)

// Search yields the levels of a plan, each one in the light of how those before it
// went.
type Search struct {
	levels plan.Levels
	whole  bool // levels are integers
	i      int64
	over   bool

	// Of a binary search: the highest level that passed and the lowest that failed.
	lo, hi float64
	probed int // of the two ends
	last   float64
}

// NewSearch starts a search. whole: the levels are concurrencies.
func NewSearch(l plan.Levels, whole bool) *Search {
	return &Search{levels: l, whole: whole, lo: l.Start, hi: l.End}
}

// Next is the next level; false: there are no more.
func (s *Search) Next() (float64, bool) {
	if s.over {
		return 0, false
	}
	level, ok := s.next()
	s.over = !ok
	s.last = level
	return level, ok
}

func (s *Search) next() (float64, bool) {
	l := &s.levels
	switch {
	case len(l.List) > 0:
		if s.i >= int64(len(l.List)) {
			return 0, false
		}
		s.i++
		return l.List[s.i-1], true
	case l.Search == plan.SearchBinary:
		return s.bisect()
	}
	v := l.Value(s.i)
	s.i++
	return v, l.End == 0 || v <= l.End || s.i == 1
}

func (s *Search) bisect() (float64, bool) {
	switch s.probed {
	case 0:
		return s.lo, true
	case 1:
		return s.hi, s.hi > s.lo
	}
	if s.hi-s.lo <= s.levels.Step {
		return 0, false
	}
	mid := (s.lo + s.hi) / 2
	if s.whole {
		mid = math.Floor(mid)
	}
	if mid <= s.lo || mid >= s.hi {
		return 0, false
	}
	return mid, true
}

// Observe says how the last level went. A range ends with the first failed level, a list at its
// end.
func (s *Search) Observe(passed bool) {
	l := &s.levels
	switch {
	case len(l.List) > 0:
	case l.Search != plan.SearchBinary:
		s.over = s.over || !passed
	case s.probed == 0: // the lowest
		s.probed++
		s.over = !passed
	case s.probed == 1: // the highest
		s.probed++
		s.over = passed
	case passed:
		s.lo = s.last
	default:
		s.hi = s.last
	}
}

// unbounded is how many levels there are at most where a latency threshold alone ends
// them.
const unbounded = 10_000

// MaxLevels is the largest number of levels that a search can yield.
func MaxLevels(l plan.Levels) int {
	switch {
	case !l.On():
		return 0
	case len(l.List) > 0:
		return len(l.List)
	case l.Search == plan.SearchBinary:
		return 2 + 64 // each step halves what is left of at most 2^53
	case l.End == 0:
		return unbounded
	}
	return max(int(math.Floor((l.End-l.Start)/l.Step))+2, 1)
}
