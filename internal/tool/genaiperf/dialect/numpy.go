package dialect

import (
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/stat"
)

// The original's figures come out of numpy, whose sums are rounded in an order of
// their own. The same order here makes every digit of the JSON report the same.

const (
	lanes  = 8    // sums that are kept side by side
	block  = 128  // samples that are summed without splitting
	buffer = 8192 // integers are made floating-point so many at a time
)

// sum adds samples up as numpy does: pairwise.
func sum(x []float64) float64 {
	switch n := len(x); {
	case n < lanes:
		total := 0.0
		for _, v := range x {
			total += v
		}
		return total
	case n <= block:
		var r [lanes]float64
		copy(r[:], x)
		i := lanes
		for ; i < n-n%lanes; i += lanes {
			for j := range r {
				r[j] += x[i+j]
			}
		}
		total := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			total += x[i]
		}
		return total
	default:
		half := n / 2
		half -= half % lanes
		return sum(x[:half]) + sum(x[half:])
	}
}

// mean is the average. Of integers the samples are summed a buffer at a time.
func mean(x []float64, whole bool) float64 {
	if !whole {
		return sum(x) / float64(len(x))
	}
	total := 0.0
	for i := 0; i < len(x); i += buffer {
		total += sum(x[i:min(i+buffer, len(x))])
	}
	return total / float64(len(x))
}

func deviation(x []float64, avg float64) float64 {
	squares := make([]float64, len(x))
	for i, v := range x {
		d := v - avg
		squares[i] = d * d
	}
	return math.Sqrt(sum(squares) / float64(len(x)))
}

// describe fills in what the samples of a metric have besides their average.
func (s *Stat) describe(samples []float64, scale float64) {
	s.Std = deviation(samples, s.Avg) * scale
	sorted := slices.Sorted(slices.Values(samples))
	s.Min, s.Max = sorted[0]*scale, sorted[len(sorted)-1]*scale
	for _, p := range Percentiles() {
		s.PercentileList = append(s.PercentileList, stat.Linear.QuantileOf(sorted, float64(p)/100)*scale)
	}
}
