package agents

import (
	"math"
	"math/bits"
	"sync"

	"github.com/inferometer/inferometer/internal/prompt"
)

// rng draws the numbers that numpy's default generator draws: PCG64 with a state made by
// its SeedSequence. Programs with numpy then get the same sessions: as many turns, tools,
// sub-agents and tokens.
type rng struct {
	hi, lo       uint64 // state
	incHi, incLo uint64
	half         uint32 // what is left of a number of which the lower half was used
	halved       bool
}

// newRNG is numpy.random.default_rng([seed, *path]).
func newRNG(seed uint64, path ...uint32) *rng {
	words := []uint32{uint32(seed)}
	if seed>>32 != 0 {
		words = append(words, uint32(seed>>32))
	}
	state := seedState(append(words, path...))
	r := &rng{incHi: state[2]<<1 | state[3]>>63, incLo: state[3]<<1 | 1}
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

func (r *rng) step() {
	const multHi, multLo = 2549297995355413924, 4865540595714422341
	hi, lo := bits.Mul64(r.lo, multLo)
	hi += r.hi*multLo + r.lo*multHi
	var carry uint64
	r.lo, carry = bits.Add64(lo, r.incLo, 0)
	r.hi, _ = bits.Add64(hi, r.incHi, carry)
}

// Uint64 is the next number.
func (r *rng) Uint64() uint64 {
	r.step()
	return bits.RotateLeft64(r.hi^r.lo, -int(r.hi>>58))
}

// float is a number from 0 to 1.
func (r *rng) float() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func (r *rng) uint32() uint32 {
	if r.halved {
		r.halved = false
		return r.half
	}
	v := r.Uint64()
	r.half, r.halved = uint32(v>>32), true
	return uint32(v)
}

// below is a whole number from 0 to n-1.
func (r *rng) below(n int) int {
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

// normal is a number of the standard normal distribution.
func (r *rng) normal() float64 {
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
				xx := -math.Log1p(-r.float()) / zigguratR
				yy := -math.Log1p(-r.float())
				if yy+yy > xx*xx {
					if m>>8&1 == 1 {
						return -(zigguratR + xx)
					}
					return zigguratR + xx
				}
			}
		}
		if (z.f[i-1]-z.f[i])*r.float()+z.f[i] < math.Exp(-0.5*x*x) {
			return x
		}
	}
}

// poisson is a number of the Poisson distribution.
func (r *rng) poisson(mean float64) float64 {
	if mean < 10 {
		n, product := 0.0, r.float()
		for limit := math.Exp(-mean); product > limit; product *= r.float() {
			n++
		}
		return n
	}
	return prompt.LargePoisson(mean, r.float)
}
