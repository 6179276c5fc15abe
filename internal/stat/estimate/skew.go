package estimate

import "math"

// The most skew that is made up for, and of how many blocks it is worked out.
const (
	mostSkew   = 0.5
	skewBlocks = 32
)

// skewness is that of the sum of scores, by blocks of neighbours.
func skewness(scores []float64) float64 {
	n := len(scores)
	var sums [skewBlocks]float64
	var top float64
	for i := range sums {
		for _, v := range scores[i*n/skewBlocks : (i+1)*n/skewBlocks] {
			sums[i] += v
		}
		top = max(top, math.Abs(sums[i]))
	}
	if top == 0 {
		return 0
	}
	var square, cube float64
	for _, sum := range sums {
		sum /= top
		square += sum * sum
		cube += sum * sum * sum
	}
	return max(-mostSkew, min(mostSkew, cube/math.Pow(square, 1.5)))
}

// unskewed is how far out a studentized mean of skewed samples is as seldom as one without skew
// is at t, by Hall's transformation.
func unskewed(t, skew float64) float64 {
	if math.Abs(skew) < 1e-3 {
		return t
	}
	return 3 / skew * (math.Cbrt(1+skew*(t-skew/6)) - 1)
}

// digamma is the derivative of the logarithm of the gamma function, for x > 0.
func digamma(x float64) float64 {
	var s float64
	for x < 8 {
		s -= 1 / x
		x++
	}
	y := 1 / (x * x)
	return s + math.Log(x) - 1/(2*x) - y*(1./12-y*(1./120-y/252))
}

// trigamma is the derivative of digamma.
func trigamma(x float64) float64 {
	var s float64
	for x < 8 {
		s += 1 / (x * x)
		x++
	}
	y := 1 / (x * x)
	return s + 1/x + y/2 + y/x*(1./6-y*(1./30-y/42))
}

// inverseTrigamma is the x whose trigamma is v.
func inverseTrigamma(v float64) float64 {
	lo, hi := 1e-3, 1e6
	for range 60 {
		if mid := math.Sqrt(lo * hi); trigamma(mid) > v {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
