package stat

import (
	"math"
	"slices"
	"testing"
)

// Values counted together come to what they come to one by one, whatever neighbours share a bucket.
func TestHistogramAddAll(t *testing.T) {
	type bucket struct {
		low, high int64
		n         uint64
	}
	buckets := func(h *Histogram) (all []bucket) {
		h.Buckets(func(low, high int64, n uint64) bool {
			all = append(all, bucket{low, high, n})
			return true
		})
		return all
	}
	for _, values := range [][]int64{
		nil, {0}, {7}, {7, 7, 7}, {1, 2, 2, 3, 3, 3, 1}, {-5, -1, 0, 4}, {1 << 40, 1<<40 + 1, 3, 1 << 40},
		{-3, 9, 9, -3}, {math.MaxInt64},
	} {
		var together, single Histogram
		together.AddAll(values)
		for _, v := range values {
			single.Add(v)
		}
		if !slices.Equal(buckets(&together), buckets(&single)) || together.Sum() != single.Sum() || together.Count() != int64(len(values)) {
			t.Errorf("%v together: %v with the sum %d; one by one %v with %d",
				values, buckets(&together), together.Sum(), buckets(&single), single.Sum())
		}
	}
}
