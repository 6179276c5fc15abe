//go:build linux && !386 && !s390x

package clock

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// turns see to it that reading comes before sending.
//
// Goroutines run in the order in which they became ready, and the poller only when they all have
// had their turn. Where a thousand of them have a request to send, which takes tens of
// microseconds, those that have something to read would wait for all of them: events that come
// meanwhile for one connection are read as one, late. So who is about to send looks itself where
// nobody has for a while, and lets those go first that have been ready to read for as long.
type turns struct {
	looks   atomic.Int64 // when somebody last looked
	waiting atomic.Int32 // connections that were woken and have not gone on yet
	since   atomic.Int64 // when the first of them was woken

	one     sync.Mutex // held by the sender that looks
	lookout lookout    // the sender's
}

const (
	// often is how long requests are sent without a look. One costs less than asking the
	// kernel how many segments a read had, which need not be asked where looks are that near to each
	// other.
	often = 80 * time.Microsecond
	// turn is how long requests may be sent while others wait to read.
	turn = time.Millisecond
	// yields is how often at most a sender lets others go first: it has to go, too, where there is
	// always something to read.
	yields = 4
)

func (t *turns) looked(at time.Duration) { t.looks.Store(int64(at)) }

// woke notes that so many connections are about to go on.
func (t *turns) woke(n int, clock *Clock) {
	if t.waiting.Add(int32(n)) == int32(n) {
		t.since.Store(int64(clock.Now()))
	}
}

// lookAgain has who is about to send look, where nobody has for a while; false: somebody has.
func (p *poller) lookAgain(now time.Duration) bool {
	t := &p.turns
	if int64(now)-t.looks.Load() < int64(often) || t.waiting.Load() >= batch/2 || !t.one.TryLock() {
		return false
	}
	defer t.one.Unlock()
	_ = p.raw.Control(func(ep uintptr) { p.look(ep, &t.lookout) })
	if woken := t.lookout.woken; len(woken) > 0 {
		p.wake(woken, false)
		t.lookout.woken = woken[:0]
	}
	return true
}

// giveWay is called by who is about to send; true: that took its time.
func (p *poller) giveWay(now time.Duration) (gave bool) {
	gave = p.lookAgain(now)
	t := &p.turns
	for i := 0; i < yields && t.waiting.Load() > 0 && int64(now)-t.since.Load() > int64(turn); i++ {
		runtime.Gosched()
		gave = true
	}
	return gave
}
