// Package timedconn opens connections whose reads and writes carry the time at
// which they happened: on Linux the kernel's own receive time, elsewhere the time
// at which the read returned.
package timedconn

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock is the clock of a run. Its offsets come from the monotonic clock; the
// kernel's wall-clock stamps are mapped onto it.
type Clock struct {
	now   func() time.Time // nil means time.Now
	start time.Time
	wall  atomic.Int64 // wall-clock nanoseconds at offset 0, as of the last look
	step  atomic.Int64 // largest step of the wall clock, in nanoseconds

	pollers pollers // of all that are measured by it
	// beat is when this program was last seen to run. Where the kernel does not say when data came, and
	// nobody looks at sockets but those who read them, that is the best that there is: a program that
	// runs reads what comes. It is no proof, because the one who reads may have waited for its turn.
	beat atomic.Int64
}

// NewClock starts a clock at offset 0.
func NewClock() *Clock { return NewClockAt(0) }

// NewClockAt starts a clock at an offset: that of a run that began elsewhere.
func NewClockAt(offset time.Duration) *Clock { return newClock(nil, time.Now(), offset) }

// NewClockBy starts a clock at an offset that goes by another than this machine's: a simulated one.
func NewClockBy(now func() time.Time, offset time.Duration) *Clock {
	return newClock(now, now(), offset)
}

func newClock(now func() time.Time, at time.Time, offset time.Duration) *Clock {
	c := &Clock{now: now, start: at.Add(-offset)}
	c.wall.Store(median(c.read(), c.read(), c.read()))
	return c
}

// Start is the wall-clock time of offset 0.
func (c *Clock) Start() time.Time { return c.start }

// Now is the offset of this time.
func (c *Clock) Now() time.Duration {
	if c.now != nil {
		return c.now().Sub(c.start)
	}
	return time.Since(c.start)
}

// FromWall maps a wall-clock stamp onto the run's clock.
func (c *Clock) FromWall(ns int64) time.Duration { return time.Duration(ns - c.wall.Load()) }

// Step is the largest step that the wall clock made since the start.
func (c *Clock) Step() time.Duration { return time.Duration(c.step.Load()) }

const (
	// lookEvery bounds the error that a slewed wall clock can bring in: at the
	// kernel's fastest slew of 500 ppm it moves 50 µs in this time.
	lookEvery = 100 * time.Millisecond
	// stepFloor tells a step from a slew between two looks.
	stepFloor = time.Millisecond
)

// Watch follows the wall clock until ctx ends.
func (c *Clock) Watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.adjust(median(c.read(), c.read(), c.read()))
		}
	}
}

// read tells where offset 0 lies on the wall clock. The two clocks are read one
// after the other: a thread that loses its core in between reads nonsense, though
// hardly twice in a row.
func (c *Clock) read() int64 {
	read := c.now
	if read == nil {
		read = time.Now
	}
	now := read()
	return now.UnixNano() - int64(now.Sub(c.start))
}

func median(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

// adjust takes in a new reading of where offset 0 lies on the wall clock.
func (c *Clock) adjust(wall int64) {
	moved := wall - c.wall.Swap(wall)
	if moved < 0 {
		moved = -moved
	}
	if moved >= int64(stepFloor) && moved > c.step.Load() {
		c.step.Store(moved)
	}
}
