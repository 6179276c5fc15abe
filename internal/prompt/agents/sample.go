package agents

import (
	"encoding/binary"
	"fmt"
	"math"

	"golang.org/x/crypto/blake2b"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
)

// sessionSeed is what all of a session is drawn from.
func sessionSeed(seed uint64, session int) (uint64, error) {
	h, err := blake2b.New(8, nil)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%d:%d", seed, session)
	return binary.BigEndian.Uint64(h.Sum(nil)), nil
}

// sample draws a whole number of a distribution; the zero one gives 0.
func sample(l plan.Length, r *numpy.Generator) int {
	var x float64
	switch l.Dist {
	case "", plan.DistFixed:
		return int(l.Mean)
	case plan.DistUniform:
		x = float64(l.Min) + float64(l.Max+1-l.Min)*r.Float()
	case plan.DistLognormal:
		x = l.Mean
		if l.Stddev > 0 {
			spread := l.Stddev / l.Mean
			variance := math.Log(1 + spread*spread)
			x = math.Exp(math.Log(l.Mean) - variance/2 + math.Sqrt(variance)*r.Normal())
		}
	case plan.DistSkew:
		delta := l.Skew / math.Sqrt(1+l.Skew*l.Skew)
		u, v := r.Normal(), r.Normal()
		z := delta*u + math.Sqrt(1-delta*delta)*v
		if u < 0 {
			z = -z
		}
		x = l.Mean + l.Stddev*z
	case plan.DistPoisson:
		mean := l.Mean
		if mean <= 0 {
			mean = 1
		}
		x = r.Poisson(mean)
	default:
		x = l.Mean + l.Stddev*r.Normal()
	}
	x = max(x, float64(l.Min))
	if l.Max > 0 {
		x = min(x, float64(l.Max))
	}
	return int(math.RoundToEven(x))
}
