package prompt

import (
	"math"
	"math/rand/v2"

	"inferometer/internal/plan"
)

// maxLength bounds what an unbounded distribution can draw.
const maxLength = 10_000_000

// Lengths draws lengths from a distribution. Each has a number and depends on that
// and the seed alone, not on what was drawn before. It is used from one goroutine at
// a time.
type Lengths struct {
	dist      plan.Length
	mu, sigma float64 // of the logarithm of a lognormal length
	seed      uint64
	pcg       *rand.PCG
	rng       *rand.Rand
}

// NewLengths prepares to draw from a distribution that the plan has validated. The
// zero distribution draws zeros: no length is asked for.
func NewLengths(dist plan.Length, seed uint64) *Lengths {
	pcg := rand.NewPCG(0, 0)
	l := &Lengths{dist: dist, seed: seed, pcg: pcg, rng: rand.New(pcg)}
	if dist.Dist == plan.DistLognormal && dist.Mean > 0 {
		spread := dist.Stddev / dist.Mean
		variance := math.Log1p(spread * spread)
		l.mu, l.sigma = math.Log(dist.Mean)-variance/2, math.Sqrt(variance)
	}
	return l
}

// At is the n-th length: at least 1, and within the bounds of the distribution,
// where what lies outside is moved to the bound. Mean and standard deviation are
// those of the lengths before they are rounded and moved.
func (l *Lengths) At(n uint64) int {
	if l.dist == (plan.Length{}) {
		return 0
	}
	if l.dist.Dist == plan.DistFixed {
		return l.within(l.dist.Mean)
	}
	l.pcg.Seed(l.seed, Mix(n))
	switch l.dist.Dist {
	case plan.DistUniform:
		least := max(l.dist.Min, 1)
		return least + l.rng.IntN(max(l.dist.Max-least, 0)+1)
	case plan.DistLognormal:
		return l.within(math.Exp(l.mu + l.sigma*l.rng.NormFloat64()))
	default:
		return l.within(l.dist.Mean + l.dist.Stddev*l.rng.NormFloat64())
	}
}

func (l *Lengths) within(x float64) int {
	most := maxLength
	if l.dist.Max > 0 {
		most = l.dist.Max
	}
	return int(math.Round(min(max(x, float64(l.dist.Min), 1), float64(most))))
}

// Mix spreads a number over all 64 bits. No two numbers give the same.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
