package timeline

import (
	"maps"
	"math"
	"slices"
)

// Fine is how many buckets of a Histogram there are for each power of two, as a power of
// two: its schema, in the words of Prometheus.
const Fine = 5

// NativeHistogram counts values in buckets that grow by 2^(1/32) each, so that a quantile read from
// it is within 1.1 % of the exact one. Bucket i ends with, and includes, 2^(i/32). The zero
// value is empty.
type NativeHistogram struct {
	Count   uint64
	Zero    uint64 // values that are not above 0
	Sum     float64
	buckets map[int]uint64
}

// Add counts a value.
func (h *NativeHistogram) Add(v float64) {
	h.Count++
	h.Sum += v
	if v <= 0 {
		h.Zero++
		return
	}
	if h.buckets == nil {
		h.buckets = map[int]uint64{}
	}
	h.buckets[int(math.Ceil(math.Log2(v)*(1<<Fine)))]++
}

// Merge adds the values of other.
func (h *NativeHistogram) Merge(other *NativeHistogram) {
	h.Count, h.Zero, h.Sum = h.Count+other.Count, h.Zero+other.Zero, h.Sum+other.Sum
	if h.buckets == nil && other.buckets != nil {
		h.buckets = make(map[int]uint64, len(other.buckets))
	}
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
}

// Quantile is about the quantile q, from 0 to 1; 0 where there are no values.
func (h *NativeHistogram) Quantile(q float64) float64 {
	rank := uint64(math.Round(q * float64(max(h.Count, 1)-1)))
	below := h.Zero
	if below > rank || len(h.buckets) == 0 {
		return 0
	}
	last := 0
	for _, i := range slices.Sorted(maps.Keys(h.buckets)) {
		last = i
		if below += h.buckets[i]; below > rank {
			break
		}
	}
	return math.Exp2((float64(last) - 0.5) / (1 << Fine))
}

// Coarse are the buckets with 2^schema for each power of two, by number: Fine or less.
func (h *NativeHistogram) Coarse(schema int) map[int]uint64 {
	out := make(map[int]uint64, len(h.buckets))
	for i, n := range h.buckets {
		out[(i-1)>>(Fine-schema)+1] += n
	}
	return out
}
