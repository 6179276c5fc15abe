package prompt

import (
	"math"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
)

// DrawnLengths is a row of lengths that were drawn ahead of a run.
type DrawnLengths struct {
	all  int // where list is nil means each of them
	list []int32
}

// At is the i-th length; after the last one come the first again.
func (t DrawnLengths) At(i uint64) int {
	if t.list == nil {
		return t.all
	}
	return int(t.list[i%uint64(len(t.list))])
}

// DrawLengths draws n lengths, which may be 0, in the way of programs that have numpy draw all
// of them at once: the same state of the generator gives the same lengths. The numbers of a
// uniform distribution are from min to max+beyond before they are rounded and moved to the
// bounds. The zero distribution is drawn as a normal one of mean 0.
func DrawLengths(l plan.Length, n int, beyond float64, g *numpy.Generator) DrawnLengths {
	if l.Dist == plan.DistFixed {
		return DrawnLengths{all: int(l.Mean)}
	}
	t := DrawnLengths{list: make([]int32, max(n, 1))}
	normals := func(mean, stddev float64) func(int) float64 {
		return func(int) float64 { return mean + stddev*g.Normal() }
	}
	draw := normals(l.Mean, l.Stddev)
	switch l.Dist {
	case plan.DistUniform:
		least, width := float64(l.Min), float64(l.Max-l.Min)+beyond
		draw = func(int) float64 { return least + width*g.Float() }
	case plan.DistLognormal:
		draw = lognormals(l, g)
	case plan.DistSkew:
		draw = skewedNormals(l, n, g)
	case plan.DistPoisson:
		draw = func(int) float64 { return g.Poisson(l.Mean) }
	}
	most := float64(maxLength)
	if l.Max > 0 {
		most = float64(l.Max)
	}
	for i := range t.list {
		t.list[i] = int32(math.RoundToEven(min(max(draw(i), float64(l.Min), 0), most)))
	}
	return t
}

// lognormals draws from a lognormal distribution. One without a spread needs no numbers, unless
// it is shifted.
func lognormals(l plan.Length, g *numpy.Generator) func(int) float64 {
	mean, shift := l.Mean, 0.0
	if l.Shifted {
		shift = float64(l.Min)
		if mean -= shift; mean <= 0 {
			mean = 1
		}
	} else if l.Stddev == 0 {
		return func(int) float64 { return mean }
	}
	spread := l.Stddev / mean
	variance := math.Log(1 + spread*spread)
	mu, sigma := math.Log(mean)-variance/2, math.Sqrt(variance)
	return func(int) float64 { return shift + math.Exp(mu+sigma*g.Normal()) }
}

// skewedNormals draws from a skewed normal distribution: the numbers that decide on the side of
// each come before all others.
func skewedNormals(l plan.Length, n int, g *numpy.Generator) func(int) float64 {
	sides := make([]float64, max(n, 1))
	for i := range sides {
		sides[i] = g.Normal()
	}
	delta := l.Skew / math.Sqrt(1+l.Skew*l.Skew)
	return func(i int) float64 {
		z := delta*sides[i] + math.Sqrt(1-delta*delta)*g.Normal()
		if sides[i] < 0 {
			z = -z
		}
		return l.Mean + l.Stddev*z
	}
}
