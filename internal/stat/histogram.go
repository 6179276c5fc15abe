package stat

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Histogram counts samples in buckets that grow with the value, so that a quantile
// read from it is within 1.6 % of the exact one. It is for views that must be
// ready at any moment: results come from columns. It may be written and read from many
// goroutines; one per writer, merged by the reader, keeps writers apart. The zero
// value is empty.
type Histogram struct {
	counts [histBuckets]atomic.Uint64
}

const (
	histBits    = 5 // each power of two has 1<<histBits buckets
	histBuckets = (63-histBits-1)<<histBits + 2<<histBits
)

// histIndex is the bucket of v.
func histIndex(v uint64) int {
	e := max(bits.Len64(v)-histBits-1, 0)
	return e<<histBits + int(v>>e)
}

// Add counts v. Negative values count as 0.
func (h *Histogram) Add(v int64) {
	h.counts[histIndex(uint64(max(v, 0)))].Add(1)
}

// Merge adds the counts of other.
func (h *Histogram) Merge(other *Histogram) {
	for i := range other.counts {
		if n := other.counts[i].Load(); n > 0 {
			h.counts[i].Add(n)
		}
	}
}

// Count is the number of samples.
func (h *Histogram) Count() int64 {
	var n uint64
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return int64(n)
}

// Quantile is about the quantile q, from 0 to 1; false when there are no samples.
func (h *Histogram) Quantile(q float64) (int64, bool) {
	n := h.Count()
	if n == 0 {
		return 0, false
	}
	rank := uint64(math.Round(q * float64(n-1)))
	var below uint64
	last := 0
	for i := range h.counts {
		c := h.counts[i].Load()
		if c == 0 {
			continue
		}
		last = i
		below += c
		if below > rank {
			break
		}
	}
	return histMiddle(last), true
}

// histMiddle is the middle of bucket i.
func histMiddle(i int) int64 {
	if i < 2<<histBits {
		return int64(i)
	}
	e := i>>histBits - 1
	lo := int64(i-e<<histBits) << e
	return lo + int64(1)<<e/2
}
