package load

import (
	"math"
	"time"
)

// Intervals is a sequence of arrivals with given times between them, over and over:
// the first at the end of the first interval. No intervals, no arrivals.
func Intervals(list []time.Duration) Arrivals {
	if len(list) == 0 {
		return none{}
	}
	return &intervals{list: list}
}

type intervals struct {
	list []time.Duration
	i    int
	due  time.Duration
}

// Next implements Arrivals.
func (v *intervals) Next() (time.Duration, bool) {
	if d := v.list[v.i]; v.due <= math.MaxInt64-d {
		v.due += d
	}
	v.i = (v.i + 1) % len(v.list)
	return v.due, true
}
