package prompt

import (
	"math"
	"math/rand/v2"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
)

// maxLength bounds what an unbounded distribution can draw.
const maxLength = 10_000_000

// Lengths draws lengths from a distribution. Each has a number and depends on that
// and the seed alone, not on what was drawn before.
type Lengths struct {
	dist      plan.Length
	mu, sigma float64 // of the logarithm of a lognormal length
	shift     float64 // what is added to it
	least     int     // nothing is shorter
	seed      uint64
}

// NewLengths prepares to draw from a distribution that the plan has validated. The
// zero distribution draws zeros: no length is asked for.
func NewLengths(dist plan.Length, seed uint64) *Lengths {
	l := &Lengths{dist: dist, seed: seed, least: 1}
	mean := dist.Mean
	if dist.Shifted {
		l.shift = float64(dist.Min)
		if mean -= l.shift; mean <= 0 {
			mean = 1
		}
	}
	if dist.Dist == plan.DistLognormal && mean > 0 {
		spread := dist.Stddev / mean
		variance := math.Log1p(spread * spread)
		l.mu, l.sigma = math.Log(mean)-variance/2, math.Sqrt(variance)
	}
	return l
}

// NewCounts prepares to draw numbers of things, which unlike lengths may be 0.
func NewCounts(dist plan.Length, seed uint64) *Lengths {
	l := NewLengths(dist, seed)
	l.least = 0
	return l
}

// At is the n-th length: at least 1, and within the bounds of the distribution,
// where what lies outside is moved to the bound. Mean and standard deviation are
// those of the lengths before they are rounded and moved; of a skewed normal length
// they are those of the normal one that it is made from.
func (l *Lengths) At(n uint64) int {
	if l.dist == (plan.Length{}) {
		return 0
	}
	if l.dist.Dist == plan.DistFixed {
		return l.within(l.dist.Mean)
	}
	rng := rand.New(rand.NewPCG(l.seed, Mix(n)))
	switch l.dist.Dist {
	case plan.DistUniform:
		least := max(l.dist.Min, l.least)
		return least + rng.IntN(max(l.dist.Max-least, 0)+1)
	case plan.DistLognormal:
		return l.within(l.shift + math.Exp(l.mu+l.sigma*rng.NormFloat64()))
	case plan.DistSkew:
		return l.within(l.dist.Mean + l.dist.Stddev*skewed(rng, l.dist.Skew))
	case plan.DistPoisson:
		return l.within(poisson(rng, l.dist.Mean))
	default:
		return l.within(l.dist.Mean + l.dist.Stddev*rng.NormFloat64())
	}
}

func (l *Lengths) within(x float64) int {
	most := maxLength
	if l.dist.Max > 0 {
		most = l.dist.Max
	}
	return int(math.Round(min(max(x, float64(l.dist.Min), float64(l.least)), float64(most))))
}

// skewed draws from the standard skew-normal distribution of a shape, by Azzalini's
// method of two normal numbers.
func skewed(rng *rand.Rand, shape float64) float64 {
	delta := 1.0
	if !math.IsInf(shape*shape, 0) {
		delta = math.Abs(shape) / math.Sqrt(1+shape*shape)
	}
	z := delta*math.Abs(rng.NormFloat64()) + math.Sqrt(1-delta*delta)*rng.NormFloat64()
	if shape < 0 {
		return -z
	}
	return z
}

// poisson draws from the Poisson distribution: small means by multiplying until the
// product is small enough, others by Hörmann's transformed rejection (PTRS, 1993).
func poisson(rng *rand.Rand, mean float64) float64 {
	switch {
	case !(mean > 0):
		return 0
	case mean > 1e12: // the mean is beyond every bound
		return mean
	case mean < 30:
		n, product := 0.0, rng.Float64()
		for limit := math.Exp(-mean); product > limit; n++ {
			product *= rng.Float64()
		}
		return n
	}
	return numpy.LargePoisson(mean, rng.Float64)
}

// Mix spreads a number over all 64 bits. No two numbers give the same.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Sizes are the lengths of prompts and responses.
type Sizes struct {
	input, output interface{ At(uint64) int }
	ahead         bool // they are a table, which every stage begins at its first entry
}

// NewSizes prepares to draw the lengths that d asks for, or draws them where d wants that done
// ahead: first those of all prompts, then those of all responses, from one generator.
func NewSizes(d plan.Data, seed uint64) Sizes {
	if d.Ahead == (plan.Ahead{}) {
		return Sizes{input: NewLengths(d.Input, Mix(seed^'i')), output: NewLengths(d.Output, Mix(seed^'o'))}
	}
	g := numpy.New(seed)
	input := DrawLengths(d.Input, d.Ahead.Input, 0, g)
	return Sizes{input: input, output: DrawLengths(d.Output, d.Ahead.Output, 0, g), ahead: true}
}

// Input is the length of a prompt by its number, which is that of its place unless prompts come
// again.
func (s *Sizes) Input(number uint64, at Position) int {
	if s.ahead {
		return max(s.input.At(at.I), 1)
	}
	return s.input.At(number)
}

// Output is how many tokens are asked for; 0: the server decides.
func (s *Sizes) Output(at Position) int {
	if s.ahead {
		return s.output.At(at.I)
	}
	return s.output.At(at.Number())
}
