package timedconn

import (
	"runtime"
	"sync/atomic"
	"time"
)

// coalescer lets arrivals gather for a moment where they come thick and fast, as a
// network card does with its interrupts: being woken and entering the kernel cost
// more than the bytes. What waits has the kernel's stamp already, so that little is
// lost by reading it a moment later: only segments of one connection that come within
// that time share a stamp, and those are too close together to matter.
//
// It acts only where reads are many and small. A core that is full finds much at each
// read by itself, and is left alone.
type coalescer struct {
	reads   atomic.Int64 // small ones in this period
	since   atomic.Int64 // when it began
	dense   atomic.Bool  // the period before had many
	resting atomic.Bool  // somebody is letting arrivals gather
	rest    func()       // does that
	_       [96]byte     // keeps those of other cores out of the same cache line
}

const (
	// period is what the rate of reads is taken over.
	period = 500 * time.Microsecond
	// many small reads in a period make it dense: more than 80,000 a second.
	many = 40
	// small reads alone count: a large one has gathered enough already.
	small = 4 << 10
	// gathered is how many reads of others make a rest needless.
	gathered = 16
)

// after is called with each read of n bytes at the given time, before the next.
func (m *coalescer) after(n int, now time.Duration) {
	if m == nil || n >= small || !m.count(now) || !m.resting.CompareAndSwap(false, true) {
		return
	}
	before := m.reads.Load()
	runtime.Gosched() // whoever is ready too comes first
	if got := m.reads.Load() - before; got >= 0 && got < gathered {
		m.rest()
	}
	m.resting.Store(false)
}

// count counts a read and reports whether reads come thick and fast.
func (m *coalescer) count(now time.Duration) bool {
	n := m.reads.Add(1)
	since := m.since.Load()
	if took := int64(now) - since; took > int64(period) && m.since.CompareAndSwap(since, int64(now)) {
		m.reads.Store(0)
		m.dense.Store(n*int64(period) > many*took)
	}
	return m.dense.Load()
}
