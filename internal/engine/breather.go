package engine

import (
	"sync/atomic"
	"time"

	"inferometer/internal/record"
)

// A slot of a closed loop that found no server takes a breather before its next request.
// One failure in a row is none; the second is followed by shortestBreather, each further
// one by twice as long up to longestBreather.
const (
	shortestBreather = time.Millisecond
	longestBreather  = 100 * time.Millisecond
)

// breathers counts, for each slot, the requests in a row that found no server.
type breathers []atomic.Int32

// note notes how a request of slot i went. Requests of one session may share a slot.
func (b breathers) note(i int, rec *record.Record) {
	switch {
	case b == nil: // arrivals keep their own time
	case unanswered(rec) || refusedHandshake(rec):
		b[i].Add(1)
	case b[i].Load() != 0: // not written to unless it changes: slots share its memory
		b[i].Store(0)
	}
}

// refusedHandshake reports whether a request got no further than a handshake that failed.
func refusedHandshake(rec *record.Record) bool {
	return rec.Failure != nil && rec.Failure.Class == record.TLSFailed
}

// of is how long slot i waits before its next request.
func (b breathers) of(i int) time.Duration {
	misses := b[i].Load()
	if misses < 2 {
		return 0
	}
	wait := shortestBreather
	for ; misses > 2 && wait < longestBreather; misses-- {
		wait *= 2
	}
	return min(wait, longestBreather)
}

// rest waits until slot i may send again; false: the stage was halted first.
func (st *stage) rest(i int) bool {
	wait := st.rests.of(i)
	return wait == 0 || st.await(st.e.cfg.Now()+wait)
}
