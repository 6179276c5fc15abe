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
	by, side := truth-bound, d.Delta-d.Lo
	if !above {
		by, side = bound-truth, d.Hi-d.Delta
	}
	if !(side > 0) { // no error: what is beyond is seen
		if by > 0 {
			return 1
		}
		return 0
	}
	t := stat.StudentBound(1-d.confidence, d.df)
	return d.over(t - by/(side/t))
}

// Surely is how far beyond a bound the true difference must be for Beyond to be 80 %.
func (d Difference) Surely(above bool) float64 {
	side := d.Delta - d.Lo
	if !above {
		side = d.Hi - d.Delta
	}
	if !d.Known {
		return math.NaN()
	}
	t := stat.StudentBound(1-d.confidence, d.df)
	return side / t * (t + stat.StudentBound(2*(1-power), d.df))
}

// over is the probability that an error is more than t standard errors upwards.
func (d Difference) over(t float64) float64 {
	tail := stat.StudentTail(math.Abs(t), d.df) / 2
	if t < 0 {
		return 1 - tail
	}
	return tail
}
