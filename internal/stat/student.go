package stat

import "math"

// StudentTail is the probability that Student's t of df degrees of freedom is further from 0 than
// ±t.
func StudentTail(t, df float64) float64 {
	return incompleteBeta(df/2, 0.5, df/(df+t*t))
}

// StudentBound is the t that Student's distribution with df degrees of freedom exceeds, on
// either side, with the given probability.
func StudentBound(probability, df float64) float64 {
	lo, hi := 0.0, 1.0
	for StudentTail(hi, df) > probability && hi < 1e9 {
		hi *= 2
	}
	for range 60 {
		mid := (lo + hi) / 2
		if StudentTail(mid, df) > probability {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// incompleteBeta is the regularized incomplete beta function, by its continued fraction.
func incompleteBeta(a, b, x float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	if x > (a+1)/(a+b+2) { // where the fraction converges slowly
		return 1 - incompleteBeta(b, a, 1-x)
	}
	lab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 300 {
		m := float64(i / 2)
		var num float64
		switch {
		case i == 0:
			num = 1
		case i%2 == 0:
			num = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			num = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 + num*d
		if math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		c = 1 + num/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		f *= c * d
		if math.Abs(1-c*d) < 1e-12 {
			break
		}
	}
	return front * (f - 1)
}
