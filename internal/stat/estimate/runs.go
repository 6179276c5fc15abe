package estimate

import (
	"math"
	"slices"
)

// OfRuns is the interval of a figure that several runs have measured: of its mean over runs.
func OfRuns(values []float64, confidence float64) Interval {
	e := overRuns(values)
	return e.interval(confidence)
}

func overRuns(values []float64) estimate {
	n := float64(len(values))
	var mean, square float64
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	if n == 0 {
		mean = math.NaN()
	}
	if n < 2 || math.IsNaN(square) || math.IsInf(square, 0) {
		return estimate{value: mean, blocks: n}
	}
	return around(mean, math.Sqrt(square/(n-1)/n), n-1)
}

// BetweenRuns is the difference between the means of a figure over the runs of two sides, by
// Welch's test; each needs at least two.
func BetweenRuns(a, b []float64, confidence float64) Difference {
	x, y := overRuns(a), overRuns(b)
	d := between(&x, &y, confidence)
	d.Method, d.runs = Runs, 2
	return d
}

// BetweenPairs is the mean difference between the sides of rounds: a[i] and b[i] were measured
// one after the other, so that what drifts between rounds cancels. It needs at least two.
func BetweenPairs(a, b []float64, confidence float64) Difference {
	x, y := overRuns(a), overRuns(b)
	d := Difference{A: x.value, B: y.value, Delta: y.value - x.value, P: math.NaN(), Least: math.NaN(), Method: Pairs, confidence: confidence}
	if len(a) != len(b) {
		return d
	}
	each := slices.Clone(b)
	for i := range each {
		each[i] -= a[i]
	}
	e := overRuns(each)
	d.Delta = e.value
	if e.known {
		d.Known, d.df, d.runs, d.ofB = true, e.df, 1, 0.5
		d.test(e.limits)
	}
	return d
}
