package stat

import "math"

// Rule says which value stands for a quantile that falls between two samples.
type Rule uint8

// The rules.
const (
	// Linear interpolates between the samples around (n−1)·q, as numpy's percentile by default.
	Linear Rule = iota
	// Nearest takes the sample at ⌊(n−1)·q + ½⌋.
	Nearest
)

// ranks are the positions in n sorted samples that quantile q needs, and the upper one's weight.
func (r Rule) ranks(n int64, q float64) (lo, hi int64, weight float64) {
	h := float64(n-1) * q
	if r == Nearest {
		at := min(int64(h+0.5), n-1)
		return at, at, 0
	}
	floor := math.Floor(h)
	lo = min(int64(floor), n-1)
	return lo, min(lo+1, n-1), h - floor
}

// between is the value at weight between lo and hi, from the nearer end: a weight of 1 is hi
// exactly.
func between[T int64 | float64](lo, hi T, weight float64) float64 {
	if lo == hi || weight == 0 {
		return float64(lo)
	}
	d := float64(hi - lo)
	if weight >= 0.5 {
		return float64(hi) - d*(1-weight)
	}
	return float64(lo) + d*weight
}

// Quantile is the quantile q, from 0 to 1, of sorted samples. It is NaN for none.
func (r Rule) Quantile(sorted []int64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	lo, hi, w := r.ranks(int64(len(sorted)), q)
	return between(sorted[lo], sorted[hi], w)
}

// confidence is how sure a percentile must be to count as measured.
const confidence = 0.99

// MinSamples is the least number of samples for the quantile q, between 0 and 1
// exclusive, to count as measured.
//
// It is the smallest n for which the second most extreme sample on the outer side
// bounds the true quantile with 99 % confidence, whatever the distribution:
//
//	P(Binomial(n, t) ≤ 1) = (1−t)ⁿ + n·t·(1−t)ⁿ⁻¹ ≤ 1 %,  t = min(q, 1−q)
//
// The second and not the first, so that the bound does not hang on a single sample.
// This gives 11 for the median, 64 for p90 and p10, 130 for p95, 662 for p99 and
// 6636 for p99.9: the numbers that MLPerf's early stopping needs before it states a
// percentile.
func MinSamples(q float64) int64 {
	t := min(q, 1-q)
	if !(t > 0) {
		return math.MaxInt64
	}
	enough := func(n int64) bool {
		// In logarithms: (1−t)ⁿ⁻¹ leaves float64's range for large n.
		logs := float64(n-1) * math.Log1p(-t)
		return math.Exp(logs)*(1-t+float64(n)*t) <= 1-confidence
	}
	hi := int64(2)
	for !enough(hi) {
		if hi > math.MaxInt64/4 {
			return math.MaxInt64
		}
		hi *= 2
	}
	lo := hi / 2 // not enough, or 1, which never is
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// QuantileOf is Quantile for samples that are not integers.
func (r Rule) QuantileOf(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	lo, hi, w := r.ranks(int64(len(sorted)), q)
	return between(sorted[lo], sorted[hi], w)
}
