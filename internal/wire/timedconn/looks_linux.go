//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"sync"
	"sync/atomic"
	"time"
)

// looks are when a poller saw all that there was to see: what it reports only
// later had not come by then.
type looks struct{ at atomic.Int64 }

// last is the latest of them; 0: there was none.
func (l *looks) last() time.Duration { return time.Duration(l.at.Load()) }

// found notes the time right before a look that missed nothing.
func (l *looks) found(at time.Duration) {
	for {
		old := l.at.Load()
		if old >= int64(at) || l.at.CompareAndSwap(old, int64(at)) {
			return
		}
	}
}

// arrivals are what a connection knows of the time before which nothing of its next read had
// come. Its poller reports, its reader asks; neither waits for the other.
//
// Reports count by epochs, which begin with each receive: only the first report of an epoch tells
// of data that no receive has seen. A receive asks, and begins the next epoch, before it takes
// data. Were it to do that afterwards, data that came in between would be reported in the old
// epoch and, when a later look reports the connection again, pass for data that came after it.
type arrivals struct {
	epoch atomic.Uint32 // the reader's
	after atomic.Int64  // set with the first report of an epoch
	known uint32        // that epoch and one more; the poller's
	added time.Duration // when the poller had it: looks before that saw nothing of it
}

// reported notes that the connection has something to read, of which nothing had come at the
// moment before.
func (a *arrivals) reported(before time.Duration) {
	if before < a.added {
		before = 0 // it may have come ahead of the poller
	}
	if epoch := a.epoch.Load() + 1; epoch != a.known {
		a.known = epoch
		a.after.Store(int64(before))
	}
}

// receiving is called before each receive. What a socket that was empty before now holds came
// after the time that it gives.
func (a *arrivals) receiving() time.Duration {
	after := a.after.Load()
	a.epoch.Add(1)
	return time.Duration(after)
}

// turns see to it that reading does not wait for sending.
//
// Goroutines run in the order they became ready, and the poller only when they all have
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

// lookFirst is called before a send, and looks where it was not done for a while; true: that
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
