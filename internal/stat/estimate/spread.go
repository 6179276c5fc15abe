package estimate

import "math"

// The fewest and the most waves that the error of a sum is worked out of.
const (
	leastWaves = 8
	mostWaves  = 64
)

// spread is the standard error of the sum of scores, which depend on their neighbours, and its
// degrees of freedom; not ok: there are too few to say.
func spread(scores []float64) (se, df float64, ok bool) {
	n := len(scores)
	if n < 2*leastWaves {
		return 0, 0, false
	}
	var mean float64
	for _, v := range scores {
		mean += v / float64(n)
	}
	var square, next float64
	for i, v := range scores {
		square += (v - mean) * (v - mean)
		if i > 0 {
			next += (v - mean) * (scores[i-1] - mean)
		}
	}
	if square == 0 {
		return 0, mostWaves, true
	}
	phi := max(0.01, min(0.999, next/square+1/float64(n)))
	k := int(min(mostWaves, float64(n)/4, float64(n)/math.Pi*(1-phi)/math.Sqrt(phi)*math.Sqrt(0.15)))
	if k < leastWaves {
		return 0, 0, false
	}
	var power float64
	for j := 1; j <= k; j++ {
		var wave float64
		for i, v := range scores {
			wave += v * math.Cos(math.Pi*float64(j)*(float64(i)+0.5)/float64(n))
		}
		power += 2 * wave * wave / float64(n)
	}
	return math.Sqrt(power / float64(k) * float64(n)), float64(k), true
}
