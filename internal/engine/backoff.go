package engine

import (
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// A slot of a closed loop that gets nowhere takes a breather before its next request:
// shortestBreather, then twice as long each time, up to longestBreather. It begins after the
// second request in a row that found no server, and after the fifth in a row that failed in
// any other way: a share of failures, which is data, does not slow the load down.
const (
	shortestBreather = time.Millisecond
	longestBreather  = 100 * time.Millisecond
	fewestUnserved   = 2
	fewestRefused    = 5
)

// backoffs are the rests of a closed loop's slots.
type backoffs []breather

// breather counts the requests in a row of one slot that went wrong. Requests of one session
// may share a slot.
type breather struct {
	unserved atomic.Int32 // found no server
	refused  atomic.Int32 // failed in another way
	until    atomic.Int64 // when the server wants to be asked again; 0: it did not say
}

// observe notes how a request of slot i went.
func (b backoffs) observe(i int, rec *record.Exchange) {
	switch {
	case b == nil: // arrivals keep their own time
	case unanswered(rec) || refusedHandshake(rec):
		b[i].unserved.Add(1)
	case rec.Failure != nil && !rec.Failure.Left():
		b[i].refused.Add(1)
		zero(&b[i].unserved)
	default:
		zero(&b[i].unserved)
		zero(&b[i].refused)
	}
}

// zero writes only what changes: slots share its memory.
func zero(n *atomic.Int32) {
	if n.Load() != 0 {
		n.Store(0)
	}
}

// refusedHandshake reports whether a request got no further than a handshake that failed.
func refusedHandshake(rec *record.Exchange) bool {
	return rec.Failure != nil && rec.Failure.Class == record.TLSFailed
}

// wait is how long slot i waits before its next request.
func (b backoffs) wait(i int) time.Duration {
	return max(backingOff(b[i].unserved.Load(), fewestUnserved), backingOff(b[i].refused.Load(), fewestRefused))
}

// backingOff is the breather after so many failures in a row, of which the first ones are followed
// by none.
func backingOff(failures, fewest int32) time.Duration {
	if failures < fewest {
		return 0
	}
	wait := shortestBreather
	for ; failures > fewest && wait < longestBreather; failures-- {
		wait *= 2
	}
	return min(wait, longestBreather)
}

// rest waits until slot i may send again, whose last request was over at a given time. It gives the time
// from which it may; false: the stage was halted first.
func (st *stage) rest(i int, over time.Duration) (time.Duration, bool) {
	wait := st.rests.wait(i)
	asked := time.Duration(st.rests[i].until.Swap(0)) - over
	if asked > 0 {
		defer func() {
			st.asked.Add(1)
			st.askedFor.Add(int64(min(asked, st.e.cfg.Now()-over)))
		}()
	}
	if wait = max(wait, asked); wait == 0 {
		return over, true
	}
	ok := st.await(over + wait)
	return st.e.cfg.Now(), ok
}
