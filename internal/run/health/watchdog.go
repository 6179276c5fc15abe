package health

import (
	"context"
	"sync"
	"time"
)

const (
	// tick is how often a Watchdog looks at the clock.
	tick = 10 * time.Millisecond
	// Standstill is the shortest pause that counts. On a busy machine a program waits a tenth of a
	// second for a core at times, which shows in what was late.
	Standstill = 250 * time.Millisecond
)

// Watchdog finds out when this program stood still: it was stopped, its machine was, or
// it had no core. A program that stands still is late for nothing by its own account, since
// it does not notice that there was something to do.
type Watchdog struct {
	now func() time.Duration

	mu      sync.Mutex
	last    time.Duration // when it looked last
	total   time.Duration
	longest time.Duration // since Take was called last
}

// NewWatchdog makes a Watchdog on a clock that goes on while the program stands still.
func NewWatchdog(now func() time.Duration) *Watchdog {
	return &Watchdog{now: now, last: now()}
}

// Watch looks at the clock until ctx ends.
func (w *Watchdog) Watch(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			w.poll()
		}
	}
}

// poll counts the time since the last look where it is a pause.
func (w *Watchdog) poll() {
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if pause := now - w.last - tick; pause >= Standstill {
		w.total += pause
		w.longest = max(w.longest, pause)
	}
	w.last = now
}

// Pauses is the time in pauses so far, and the longest that ended since the last Take.
func (w *Watchdog) Pauses() (total, longest time.Duration) {
	w.poll()
	w.mu.Lock()
	defer w.mu.Unlock()
	longest, w.longest = w.longest, 0
	return w.total, longest
}
