// Package load describes when requests are sent: sequences of arrivals as values
// that a seed fixes, the number of slots over time, and how to wait for a moment
// precisely.
//
// All moments are offsets from the start of a stage.
package load

import (
	"fmt"
	"time"
)

// Arrivals is a sequence of moments at which requests are due. The moments never
// decrease. The sequence ends where ok is false, and stays ended. An Arrivals is
// used from one goroutine at a time.
type Arrivals interface {
	Next() (due time.Duration, ok bool)
}

// Shard is every of-th arrival of a, from the k-th on (the first is 0). The shards
// 0 to of-1 of equal sequences hold every arrival exactly once, so workers that
// know the seed share the load without talking. It panics unless 0 ≤ k < of.
func Shard(a Arrivals, k, of int) Arrivals {
	if k < 0 || k >= of {
		panic(fmt.Sprintf("load: shard %d of %d does not exist", k, of))
	}
	if of == 1 {
		return a
	}
	return &shard{from: a, skip: k, of: of}
}

type shard struct {
	from Arrivals
	skip int // arrivals of the others before the next of ours
	of   int
}

// Next implements Arrivals.
func (s *shard) Next() (time.Duration, bool) {
	for ; s.skip > 0; s.skip-- {
		if _, ok := s.from.Next(); !ok {
			return 0, false
		}
	}
	s.skip = s.of - 1
	return s.from.Next()
}
