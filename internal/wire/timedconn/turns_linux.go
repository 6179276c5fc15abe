//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"sync"
	"sync/atomic"
	"time"
)

// turns see to it that reading does not wait for sending.
//
// Goroutines run in the order in which they became ready, and the poller only when they all have
// had their turn. Where a thousand of them have a request to send, which takes tens of
// microseconds, those that have something to read would wait for all of them: events that come
// meanwhile for one connection are read as one, late. So who is about to send looks itself where
// nobody has for a while.
type turns struct {
	looks   atomic.Int64 // when somebody last looked
	waiting atomic.Int32 // connections that were woken and have not gone on yet

	one     sync.Mutex // held by the sender that looks
	lookout lookout    // the sender's
}

// often is how long requests are sent without a look. One costs less than asking the kernel how many
// segments a read had, which need not be asked where looks are that near to each other.
const often = 80 * time.Microsecond

func (t *turns) looked(at time.Duration) { t.looks.Store(int64(at)) }

// woke notes that so many connections are about to go on.
func (t *turns) woke(n int) { t.waiting.Add(int32(n)) }

// lookFirst is called by who is about to send, and looks where nobody has for a while; true: that
// took its time. Where many have been woken and still wait for their turn it does not: more would
// not fit into the queue of the core.
func (p *poller) lookFirst(now time.Duration) bool {
	t := &p.turns
	if int64(now)-t.looks.Load() < int64(often) || t.waiting.Load() >= batch/2 || !t.one.TryLock() {
		return false
	}
	defer t.one.Unlock()
	_ = p.raw.Control(func(ep uintptr) { p.poll(ep, &t.lookout) })
	if woken := t.lookout.woken; len(woken) > 0 {
		p.wake(woken, false)
		t.lookout.woken = woken[:0]
	}
	return true
}
