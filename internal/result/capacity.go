package result

import "github.com/inferometer/inferometer/internal/sweep/capacity"

// CapacityFigure is a number of the response of a search for the capacity.
type CapacityFigure struct {
	Stat  string // value, lo or hi
	Value float64
}

// CapacityFigures are the numbers that a search has found: the capacity and its interval. Bounds
// that there are none of are left out; nil means there was no search, or it has no response.
func (r *Result) CapacityFigures() []CapacityFigure {
	a := r.Capacity
	if a == nil {
		return nil
	}
	var list []CapacityFigure
	for _, f := range []CapacityFigure{{"value", a.Value}, {"lo", a.Lo}, {"hi", a.Hi}} {
		if f.Value > 0 || a.Outcome == capacity.Found {
			list = append(list, f)
		}
	}
	return list
}

// CapacityLevel is a level of a search for the capacity.
type CapacityLevel = capacity.Trial
