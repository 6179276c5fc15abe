package mersenne

import (
	"math"
	"math/bits"
)

// NumPy is numpy's older generator: numpy.random.RandomState(seed), and what numpy.random's own
// functions draw from after numpy.random.seed(seed).
type NumPy struct {
	bits *Twister
	kept float64 // the second of two normal numbers
	has  bool
}

// NewNumPy is a generator with a seed.
func NewNumPy(seed uint32) *NumPy { return &NumPy{bits: Seeded(seed)} }

// Float is a number from 0 to 1.
func (r *NumPy) Float() float64 { return r.bits.wide() }

// Below is an integer from 0 to n-1.
func (r *NumPy) Below(n int) int {
	if n <= 1 {
		return 0
	}
	most := uint32(n - 1)
	mask := uint32(1)<<bits.Len32(most) - 1
	for {
		if v := r.bits.Uint32() & mask; v <= most {
			return int(v)
		}
	}
}

// Permutation is the numbers from 0 to n-1 in a random order.
func (r *NumPy) Permutation(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := r.Below(i + 1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

func (r *NumPy) normal() float64 {
	if r.has {
		r.has = false
		return r.kept
	}
	for {
		x, y := 2*r.Float()-1, 2*r.Float()-1
		if d := float64(x*x) + float64(y*y); d < 1 && d != 0 {
			f := math.Sqrt(-2 * math.Log(d) / d)
			r.kept, r.has = f*x, true
			return f * y
		}
	}
}

func (r *NumPy) exponential() float64 { return -math.Log(1 - r.Float()) }

// Gamma is a number of the gamma distribution of a shape, more than 0, and scale one.
func (r *NumPy) Gamma(shape float64) float64 {
	switch {
	case shape == 1:
		return r.exponential()
	case shape < 1:
		return r.smallGamma(shape)
	}
	b := shape - 1.0/3
	c := 1 / math.Sqrt(9*b)
	for {
		x := r.normal()
		v := 1 + float64(c*x)
		for v <= 0 {
			x = r.normal()
			v = 1 + float64(c*x)
		}
		v = v * v * v
		u := r.Float()
		if u < 1-0.0331*(x*x)*(x*x) || math.Log(u) < 0.5*x*x+b*(1-v+math.Log(v)) {
			return b * v
		}
	}
}

func (r *NumPy) smallGamma(shape float64) float64 {
	for {
		u, v := r.Float(), r.exponential()
		if u <= 1-shape {
			if x := math.Pow(u, 1/shape); x <= v {
				return x
			}
			continue
		}
		y := -math.Log((1 - u) / shape)
		if x := math.Pow(1-shape+shape*y, 1/shape); x <= v+y {
			return x
		}
	}
}
