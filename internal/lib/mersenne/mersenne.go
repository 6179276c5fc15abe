// Package mersenne draws the numbers that C++ programs draw from a std::mt19937 which they
// give no seed, so that what such programs do by chance can be done again.
package mersenne

import "math"

const (
	size, middle = 624, 397
	unseeded     = 5489 // mt19937's default seed
)

// Twister is a Mersenne Twister of 32 bits.
type Twister struct {
	state [size]uint32
	next  int
}

// New is a std::mt19937 without a seed.
func New() *Twister {
	t := &Twister{next: size}
	t.state[0] = unseeded
	for i := uint32(1); i < size; i++ {
		t.state[i] = 1812433253*(t.state[i-1]^t.state[i-1]>>30) + i
	}
	return t
}

// Uint32 draws the next number.
func (t *Twister) Uint32() uint32 {
	if t.next == size {
		t.twist()
	}
	y := t.state[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (t *Twister) twist() {
	for i := range t.state {
		y := t.state[i]&0x80000000 | t.state[(i+1)%size]&0x7fffffff
		x := t.state[(i+middle)%size] ^ y>>1
		if y&1 != 0 {
			x ^= 0x9908b0df
		}
		t.state[i] = x
	}
	t.next = 0
}

// Float64 is libstdc++'s std::generate_canonical<double, 53>: two numbers make one in [0, 1).
func (t *Twister) Float64() float64 {
	low, high := uint64(t.Uint32()), uint64(t.Uint32())
	return min(float64(low|high<<32)/(1<<64), math.Nextafter(1, 0))
}

// ExpFloat64 is libstdc++'s std::exponential_distribution of rate one.
func (t *Twister) ExpFloat64() float64 { return -math.Log(1 - t.Float64()) }
