package mersenne

import "math/bits"

// Python is Python's random.Random.
type Python struct{ bits *Twister }

// NewPython is random.Random(seed).
func NewPython(seed uint64) *Python {
	key := []uint32{uint32(seed)}
	if seed>>32 != 0 {
		key = append(key, uint32(seed>>32))
	}
	return &Python{SeededBy(key...)}
}

// Float is random(): a number from 0 to 1.
func (r *Python) Float() float64 { return r.bits.wide() }

// Below is an integer from 0 to n-1, such as the place that choice() takes of n.
func (r *Python) Below(n int) int {
	width := bits.Len(uint(n))
	for {
		if v := int(r.bits.Uint32() >> (32 - width)); v < n {
			return v
		}
	}
}

// Shuffle is shuffle() of n things, of which swap exchanges two.
func (r *Python) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.Below(i+1))
	}
}
