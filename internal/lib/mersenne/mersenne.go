// Package mersenne draws the numbers that programs draw from a Mersenne Twister, so that what they do
// by chance can be done again: C++ from a std::mt19937 which they give no seed, numpy's older generator
// and Python's random module from a seed.
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
func New() *Twister { return Seeded(unseeded) }

// Seeded is one with a seed.
func Seeded(seed uint32) *Twister {
	t := &Twister{next: size}
	t.state[0] = seed
	for i := uint32(1); i < size; i++ {
		t.state[i] = 1812433253*(t.state[i-1]^t.state[i-1]>>30) + i
	}
	return t
}

// SeededBy is one whose seed is several numbers, at least one.
func SeededBy(key ...uint32) *Twister {
	t := Seeded(19650218)
	at := uint32(1)
	next := func() {
		if at++; at == size {
			t.state[0], at = t.state[size-1], 1
		}
	}
	before := func() uint32 { return t.state[at-1] ^ t.state[at-1]>>30 }
	for k := range max(size, len(key)) {
		j := k % len(key)
		t.state[at] = (t.state[at] ^ before()*1664525) + key[j] + uint32(j)
		next()
	}
	for range size - 1 {
		t.state[at] = (t.state[at] ^ before()*1566083941) - at
		next()
	}
	t.state[0] = 1 << 31
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

// wide is a number from 0 to 1 as numpy and Python make it of two: with 53 bits.
func (t *Twister) wide() float64 {
	high, low := t.Uint32()>>5, t.Uint32()>>6
	return (float64(high)*(1<<26) + float64(low)) / (1 << 53)
}
