package capacity

import (
	"math"
	"slices"
)

const (
	// changeOdds is the logarithm of how much likelier levels are to be those of two servers, one after
	// the other, than those of one, for it to be said that the server changed.
	changeOdds = 9
	// between is how many times as much as its parts levels differ, for reasons that last longer
	// than one.
	between = 3
	// overOdds bounds what a level tells that the server did not keep up with.
	overOdds = 12
)

// changed is how many of the levels were of a server that was another than it is now; 0: none.
func (s *Search) changed(levels []Trial) (n int) {
	best := float64(changeOdds)
	for j := range s.Objectives {
		odds := s.apart(levels, j)
		for k := 1; k < len(odds); k++ {
			if odds[k] > best {
				n, best = k, odds[k]
			}
		}
	}
	return n
}

// apart is by how much likelier, in logarithms, the levels are where those before each and those
// from it on have a curve of their own.
func (s *Search) apart(levels []Trial, j int) []float64 {
	o := &s.Objectives[j]
	deviance := o.deviance()
	all := make([]evidence, len(levels))
	var alike [scales]dispersion
	for i := range levels {
		all[i] = evidence{load: math.Log(levels[i].Load), unknown: true}
		if seen := element(levels[i].Seen, j); seen != nil {
			all[i] = o.evidenceOf(&levels[i], seen)
			for k := range alike {
				alike[k].chi2, alike[k].df = alike[k].chi2+all[i].alike[k].chi2, alike[k].df+all[i].alike[k].df
			}
		}
	}
	clumps := between * clumped(alike)
	if o.Allowed == 0 {
		clumps = between
	}
	before, after := lowest(len(levels)+1), lowest(len(levels)+1)
	lo, hi := o.steepness()
	sums := make([]float64, len(levels)+1)
	for i := range levels {
		if slices.ContainsFunc(all[:i], func(e evidence) bool { return e.load == all[i].load }) {
			continue
		}
		for _, off := range []float64{-0.5, -0.15, -0.04, -0.005, 0.005, 0.04, 0.15, 0.5} {
			knee := all[i].load + off
			for slope := lo; slope <= hi; slope *= 3 {
				for k := range all {
					fit := 0.0
					if !all[k].unknown {
						fit = deviance(&all[k], slope*(all[k].load-knee), clumps)
					}
					if d := (knee - all[k].load) / overMargin; levels[k].Grew && d > 0 {
						fit += min(d*d, 2*overOdds)
					}
					sums[k+1] = sums[k] - min(fit, 2*overOdds)/2
				}
				for k := range sums {
					before[k], after[k] = max(before[k], sums[k]), max(after[k], sums[len(levels)]-sums[k])
				}
			}
		}
	}
	odds := make([]float64, len(levels))
	for k := range odds {
		odds[k] = before[k] + after[k] - before[len(levels)]
	}
	return odds
}

func lowest(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.Inf(-1)
	}
	return list
}
