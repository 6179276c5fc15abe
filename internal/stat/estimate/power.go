package estimate

import (
	"math"

	"github.com/inferometer/inferometer/internal/stat"
)

// Beyond is with which probability a comparison as long as this one has its whole interval above a
// bound, or below it, if the true difference is truth. It is NaN where that is not known.
func (d Difference) Beyond(bound, truth float64, above bool) float64 {
	if !d.Known || !finite(bound, truth) {
		return math.NaN()
	}
	by := truth - bound
	if !above {
		by = -by
	}
	se := d.errorAt(truth, above)
	if !(se > 0) { // what is beyond is seen
		if by > 0 {
			return 1
		}
		return 0
	}
	return d.over(stat.StudentBound(1-d.confidence, d.df) - by/se)
}

// Surely is how far beyond a bound the true difference must be for Beyond to be 80 %. It is NaN
// where that is not known, and infinite where no difference is noticed that often.
func (d Difference) Surely(bound float64, above bool) float64 {
	if !d.Known {
		return math.NaN()
	}
	sign := 1.0
	if !above {
		sign = -1
	}
	needs := stat.StudentBound(1-d.confidence, d.df) + stat.StudentBound(2*(1-power), d.df)
	by, last := 0.0, -1.0
	for i := 0; i < 200 && math.Abs(by-last) > 1e-9*by; i++ {
		last, by = by, needs*d.errorAt(bound+sign*by, above)
	}
	if math.Abs(by-last) > 1e-3*by {
		return math.Inf(1)
	}
	return by
}

// errorAt is the standard error, towards the bound, of a comparison whose true difference is truth.
// What takes longer also varies more: the error of side B grows with its figure.
func (d Difference) errorAt(truth float64, above bool) float64 {
	side := d.Delta - d.Lo
	if !above {
		side = d.Hi - d.Delta
	}
	se := side / stat.StudentBound(1-d.confidence, d.df)
	if !(d.A > 0 && d.B > 0 && d.A+truth > 0) {
		return se
	}
	grown := (d.A + truth) / d.B
	return se * math.Sqrt(1-d.ofB+d.ofB*grown*grown)
}

// over is the probability that an error is more than t standard errors upwards.
func (d Difference) over(t float64) float64 {
	tail := stat.StudentTail(math.Abs(t), d.df) / 2
	if t < 0 {
		return 1 - tail
	}
	return tail
}

// part is the share of the variance of a difference that comes from side B.
func part(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 0.5
	}
	top := max(a, b)
	a, b = a/top*a/top, b/top*b/top
	return b / (a + b)
}
