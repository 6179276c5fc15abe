package prompt

import (
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Cancellation says which requests of a run are given up by their users, and when. Both follow from the
// seed and the number of a request, whoever sends it.
type Cancellation struct {
	share float64
	after *Lengths
	seed  uint64
}

// NewCancellation is that of a plan whose Cancel is on.
func NewCancellation(c plan.Cancel, seed uint64) *Cancellation {
	return &Cancellation{c.Share, NewCounts(c.After, Mix(seed^'a')), Mix(seed ^ 'c')}
}

// perShare is how many requests have the share exactly. One block gets what others lack of a
// request.
const perShare = 100

// After is how long after the request of a number was sent its user goes away; 0: never.
func (c *Cancellation) After(seq int64) time.Duration {
	first := seq - seq&(1<<turnShift-1)%perShare
	want := c.share * perShare
	chosen := int(want)
	if float64(Mix(c.seed+uint64(first)))/math.MaxUint64 < want-float64(chosen) {
		chosen++
	}
	own, before := c.rank(seq), 0
	for other := first; other < first+perShare; other++ {
		if c.rank(other) < own {
			before++
		}
	}
	if before >= chosen {
		return 0
	}
	return max(time.Duration(c.after.At(uint64(seq)))*time.Millisecond, 1) // at once, with 0
}

func (c *Cancellation) rank(seq int64) uint64 { return Mix(c.seed ^ uint64(seq)) }
