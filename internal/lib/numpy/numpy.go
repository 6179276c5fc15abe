// Package numpy draws the numbers that numpy draws from the same seed, so that data which
// programs with numpy make can be made again.
package numpy

import (
	"math"
	"math/bits"
	"sync"
)

// Generator is numpy's default generator: PCG64 with a state made by its SeedSequence.
type Generator struct {
	hi, lo       uint64 // state
	incHi, incLo uint64
	half         uint32 // what is left of a number of which the lower half was used
	halved       bool
}

// New is numpy.random.default_rng([seed, *path]), which without a path is default_rng(seed).
func New(seed uint64, path ...uint32) *Generator {
	words := []uint32{uint32(seed)}
	if seed>>32 != 0 {
		words = append(words, uint32(seed>>32))
	}
	state := seedState(append(words, path...))
	r := &Generator{incHi: state[2]<<1 | state[3]>>63, incLo: state[3]<<1 | 1}
	r.step()
	var carry uint64
	r.lo, carry = bits.Add64(r.lo, state[1], 0)
	r.hi, _ = bits.Add64(r.hi, state[0], carry)
	r.step()
	return r
}

// seedState is SeedSequence(words).generate_state(4, uint64).
func seedState(words []uint32) (out [4]uint64) {
	const (
		initA, multA = 0x43b0d7e5, 0x931e8875
		initB, multB = 0x8b51f9dd, 0x58f38ded
		mixL, mixR   = 0xca01f9dd, 0x4973f715
	)
	var pool [4]uint32
	key := uint32(initA)
	hash := func(v uint32) uint32 {
		v ^= key
		key *= multA
		v *= key
		return v ^ v>>16
	}
	mix := func(x, y uint32) uint32 {
		v := mixL*x - mixR*y
		return v ^ v>>16
	}
	for i := range pool {
		v := uint32(0)
		if i < len(words) {
			v = words[i]
		}
		pool[i] = hash(v)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				pool[to] = mix(pool[to], hash(pool[from]))
			}
		}
	}
	for i := len(pool); i < len(words); i++ {
		for to := range pool {
			pool[to] = mix(pool[to], hash(words[i]))
		}
	}
	key = initB
	for i := range 8 {
		v := pool[i%4] ^ key
		key *= multB
		v *= key
		v ^= v >> 16
		out[i/2] |= uint64(v) << (32 * (i % 2))
	}
	return out
}

func (r *Generator) step() {
	const multHi, multLo = 2549297995355413924, 4865540595714422341
	hi, lo := bits.Mul64(r.lo, multLo)
	hi += r.hi*multLo + r.lo*multHi
	var carry uint64
	r.lo, carry = bits.Add64(lo, r.incLo, 0)
	r.hi, _ = bits.Add64(hi, r.incHi, carry)
}

// Uint64 is the next number.
func (r *Generator) Uint64() uint64 {
	r.step()
	return bits.RotateLeft64(r.hi^r.lo, -int(r.hi>>58))
}

// Float is a number from 0 to 1.
func (r *Generator) Float() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func (r *Generator) uint32() uint32 {
	if r.halved {
		r.halved = false
		return r.half
	}
	v := r.Uint64()
	r.half, r.halved = uint32(v>>32), true
	return uint32(v)
}

// Below is an integer from 0 to n-1.
func (r *Generator) Below(n int) int {
	if n <= 1 {
		return 0
	}
	m := uint64(r.uint32()) * uint64(n)
	if left := uint32(m); left < uint32(n) {
		for least := -uint32(n) % uint32(n); left < least; left = uint32(m) {
			m = uint64(r.uint32()) * uint64(n)
		}
	}
	return int(m >> 32)
}

// Permutation is the numbers from 0 to n-1 in a random order.
func (r *Generator) Permutation(n int) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		p[i] = uint32(i)
	}
	for i := n - 1; i > 0; i-- {
		mask := uint32(1)<<bits.Len32(uint32(i)) - 1
		j := r.uint32() & mask
		for j > uint32(i) {
			j = r.uint32() & mask
		}
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// ziggurat has the tables of the method by Marsaglia and Tsang, in 256 layers.
type ziggurat struct {
	k    [256]uint64
	w, f [256]float64
}

const zigguratR = 3.6541528853610087963519472518

var normalTables = sync.OnceValue(func() *ziggurat {
	const scale = 1 << 52
	z := &ziggurat{}
	density := func(x float64) float64 { return math.Exp(-0.5 * x * x) }
	area := zigguratR*density(zigguratR) + math.Sqrt(math.Pi/2)*math.Erfc(zigguratR/math.Sqrt2)
	z.w[255], z.f[255] = zigguratR/scale, density(zigguratR)
	z.k[0] = uint64(zigguratR * density(zigguratR) / area * scale)
	z.w[0], z.f[0] = area/density(zigguratR)/scale, 1
	for i, x := 254, zigguratR; i >= 1; i-- {
		next := math.Sqrt(-2 * math.Log(area/x+density(x)))
		z.k[i+1] = uint64(next / x * scale)
		z.w[i], z.f[i] = next/scale, density(next)
		x = next
	}
	return z
})

// Normal is a number of the standard normal distribution.
func (r *Generator) Normal() float64 {
	z := normalTables()
	for {
		v := r.Uint64()
		i := v & 0xff
		v >>= 8
		sign := v & 1
		m := v >> 1 & (1<<52 - 1)
		x := float64(m) * z.w[i]
		if sign == 1 {
			x = -x
		}
		if m < z.k[i] {
			return x
		}
		if i == 0 {
			for {
				xx := -math.Log1p(-r.Float()) / zigguratR
				yy := -math.Log1p(-r.Float())
				if yy+yy > xx*xx {
					if m>>8&1 == 1 {
						return -(zigguratR + xx)
					}
					return zigguratR + xx
				}
			}
		}
		if (z.f[i-1]-z.f[i])*r.Float()+z.f[i] < math.Exp(-0.5*x*x) {
			return x
		}
	}
}

// Poisson is a number of the Poisson distribution.
func (r *Generator) Poisson(mean float64) float64 {
	if mean < 10 {
		n, product := 0.0, r.Float()
		for limit := math.Exp(-mean); product > limit; product *= r.Float() {
			n++
		}
		return n
	}
	return LargePoisson(mean, r.Float)
}

// LargePoisson draws from a Poisson distribution of mean 10 or more by transformed rejection, as
// numpy.
func LargePoisson(mean float64, float func() float64) float64 {
	root, logMean := math.Sqrt(mean), math.Log(mean)
	b := 0.931 + 2.53*root
	a := -0.059 + 0.02483*b
	inverse := 1.1239 + 1.1328/(b-3.4)
	top := 0.9277 - 3.6224/(b-2)
	for {
		u, v := float()-0.5, float()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + mean + 0.43)
		if us >= 0.07 && v <= top {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		gamma, _ := math.Lgamma(k + 1)
		if math.Log(v)+math.Log(inverse)-math.Log(a/(us*us)+b) <= -mean+k*logMean-gamma {
			return k
		}
	}
}
