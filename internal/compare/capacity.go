package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/stat/estimate"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Capacities are what searches for the capacity have found, side by side.
type Capacities struct {
	Sides []CapacitySide `json:"sides"`
	Rows  []CapacityRow  `json:"rows"` // one for each side but the first
}

// CapacitySide is what a side has found.
type CapacitySide struct {
	Side    int    `json:"side"`
	By      string `json:"by"`   // rate, concurrency
	Unit    string `json:"unit"` // of loads
	Outcome string `json:"outcome"`
	// Value is the highest load that meets the objectives, the mean over the runs of the side; left
	// out: none was found. Lo and Hi are between what it lies with 95 % confidence: left out, there
	// is no bound.
	Value *float64 `json:"value,omitempty"`
	Lo    *float64 `json:"lo,omitempty"`
	Hi    *float64 `json:"hi,omitempty"`
	Runs  int      `json:"runs"`
	// Sentence is the response in words, of the first run.
	Sentence string `json:"sentence"`
}

// CapacityRow compares a side with the first.
type CapacityRow struct {
	Side    int         `json:"side"`
	Delta   *Difference `json:"difference,omitempty"`
	Verdict string      `json:"verdict"`
	Why     string      `json:"reason,omitempty"` // why it is not known, or how it is
}

// capacitiesOf compares what searches have found; nil means not every run of every side is one.
func capacitiesOf(sides []Side, confidence float64) *Capacities {
	c := &Capacities{Rows: []CapacityRow{}}
	var values [][]float64
	for i := range sides {
		s, of := capacityOf(i, &sides[i])
		if s == nil {
			return nil
		}
		c.Sides, values = append(c.Sides, *s), append(values, of)
	}
	for i := 1; i < len(sides); i++ {
		r := CapacityRow{Side: i, Verdict: NotKnown}
		r.judge(&c.Sides[0], &c.Sides[i], values[0], values[i], confidence)
		c.Rows = append(c.Rows, r)
	}
	return c
}

// capacityOf is what the searches of a side have found, and the responses of those that found one.
func capacityOf(i int, s *Side) (*CapacitySide, []float64) {
	var out *CapacitySide
	var values []float64
	for k := range s.Runs {
		r := &s.Runs[k]
		if r.Saved == nil || r.Saved.Result.Capacity == nil {
			return nil, nil
		}
		a := r.Saved.Result.Capacity
		if a.Outcome == capacity.Found {
			values = append(values, a.Value)
		}
		if out == nil {
			out = &CapacitySide{Side: i, By: a.By, Unit: a.Unit, Outcome: a.Outcome, Sentence: a.Sentence}
			out.bounds(a)
		}
		out.Runs++
		if a.Outcome != out.Outcome {
			out.Outcome = capacity.Unknown
		}
	}
	if out == nil || out.Runs == 1 {
		return out, values
	}
	out.Value, out.Lo, out.Hi = nil, nil, nil
	if len(values) == out.Runs {
		over := estimate.OfRuns(values, estimate.Confidence)
		if out.Value = finite(over.Value); over.Known {
			out.Lo, out.Hi = finite(max(0, over.Lo)), finite(over.Hi)
		}
	}
	return out, values
}

// bounds fills in between what a response lies.
func (s *CapacitySide) bounds(a *capacity.Result) {
	switch a.Outcome {
	case capacity.Found:
		s.Value, s.Lo, s.Hi = finite(a.Value), finite(a.Lo), finite(a.Hi)
	case capacity.Always:
		s.Lo = finite(a.Lo)
	case capacity.Never:
		s.Hi = finite(a.Hi)
	}
}

// judge says how far apart two sides are.
func (r *CapacityRow) judge(a, b *CapacitySide, ofA, ofB []float64, confidence float64) {
	switch {
	case a.Unit != b.Unit || a.By != b.By:
		r.Why = fmt.Sprintf("one is in %s and the other in %s", a.Unit, b.Unit)
	case a.Value == nil || b.Value == nil:
		r.apart(a, b)
	case a.Runs > 1 && b.Runs > 1:
		if d := estimate.BetweenRuns(ofA, ofB, confidence); d.Known {
			r.between(*a.Value, d.Delta, d.Lo, d.Hi, estimate.Runs)
			r.Delta.P = finite(d.P)
			return
		}
		r.Delta, r.Why = difference(*a.Value, *b.Value-*a.Value), "too few runs to say"
	case a.Lo == nil || a.Hi == nil || b.Lo == nil || b.Hi == nil:
		r.Delta, r.Why = difference(*a.Value, *b.Value-*a.Value), "one of them has no interval"
	default:
		lo, hi := ratio(a, b)
		r.between(*a.Value, *b.Value-*a.Value, lo, hi, ofSearches)
	}
}

// ofSearches is the method of a difference between the responses of two searches.
const ofSearches = "searches"

// ratio is between what the difference of two responses lies by their intervals. Loads differ by
// factors: it is the intervals of the logarithms that are joined, or those of the loads themselves
// where one of them reaches 0.
func ratio(a, b *CapacitySide) (lo, hi float64) {
	va, la, ha, vb, lb, hb := *a.Value, *a.Lo, *a.Hi, *b.Value, *b.Lo, *b.Hi
	if !(min(va, la, vb, lb) > 0) {
		return vb - va - math.Hypot(vb-lb, ha-va), vb - va + math.Hypot(hb-vb, va-la)
	}
	at := math.Log(vb / va)
	lo, hi = at-math.Hypot(math.Log(vb/lb), math.Log(ha/va)), at+math.Hypot(math.Log(hb/vb), math.Log(va/la))
	return va * math.Expm1(lo), va * math.Expm1(hi)
}

// widest is the factor that the interval of a difference may span before nothing can be said: one
// that holds both half and twice as much finds no difference whatever there is.
const widest = 4

// between fills in a difference with its interval, and the word for it.
func (r *CapacityRow) between(a, delta, lo, hi float64, method string) {
	r.Delta = difference(a, delta)
	if finite(lo) == nil || finite(hi) == nil {
		r.Why = "there is no interval of the difference"
		return
	}
	r.Delta.Method = method
	r.Delta.Interval = &Interval{Lo: lo, Hi: hi, RelativeLo: shareOf(a, lo), RelativeHi: shareOf(a, hi)}
	switch {
	case lo > 0:
		r.Verdict = Better
	case hi < 0:
		r.Verdict = Worse
	case a+hi > widest*max(0, a+lo):
		r.Why = "the intervals of the searches are too wide to say"
	default:
		r.Verdict = NoneSeen
	}
}

// apart compares sides of which one has no response but a bound: that it is more than what was tried,
// or less.
func (r *CapacityRow) apart(a, b *CapacitySide) {
	above := func(x, y *CapacitySide) bool { return x.Lo != nil && y.Hi != nil && *x.Lo > *y.Hi }
	switch {
	case above(b, a):
		r.Verdict, r.Why = Better, "by how much is not known: "+bounded(a, b)
	case above(a, b):
		r.Verdict, r.Why = Worse, "by how much is not known: "+bounded(a, b)
	default:
		r.Why = bounded(a, b)
	}
}

func bounded(a, b *CapacitySide) string {
	var parts []string
	for _, s := range []struct {
		name string
		of   *CapacitySide
	}{{"the first side", a}, {"the other side", b}} {
		switch {
		case s.of.Value != nil:
		case s.of.Outcome == capacity.Always:
			parts = append(parts, s.name+" met the objectives at every load that was tried")
		case s.of.Outcome == capacity.Never:
			parts = append(parts, s.name+" missed the objectives at every load that was tried")
		default:
			parts = append(parts, s.name+" has no answer")
		}
	}
	return strings.Join(parts, ", ")
}

func difference(a, delta float64) *Difference {
	return &Difference{Value: delta, Relative: shareOf(a, delta)}
}

// shareOf is a difference as a share of a figure; nil means that is 0.
func shareOf(a, v float64) *float64 {
	if a == 0 {
		return nil
	}
	return finite(v / math.Abs(a))
}

// objectivesDiffer are the objectives of searches, where they are not those of the first side.
func objectivesDiffer(sides []Side) []Clash {
	first := sides[0].Runs[0].Plan.Capacity.Objectives
	var list []Clash
	for i := range sides {
		for k := range sides[i].Runs {
			of := sides[i].Runs[k].Plan.Capacity.Objectives
			if len(first) > 0 && len(of) > 0 && !slices.Equal(sorted(first), sorted(of)) {
				list = append(list, Clash{Field: "capacity.objectives", Side: i, First: brief(strings.Join(first, ", ")), Other: brief(strings.Join(of, ", ")), Matters: true})
				break
			}
		}
	}
	return list
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	for i, text := range list {
		list[i] = strings.Join(strings.Fields(text), "")
	}
	slices.Sort(list)
	return list
}
