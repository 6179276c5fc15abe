package timedconn

import (
	"sync"
	"time"
)

// watchdog gives limits a timer once they have come near. A limit that is minutes
// away has none: the runtime looks through all of its timers when one of them moves,
// and thousands that never fire would make every other one dear.
type watchdog struct {
	clock *Clock
	stop  chan struct{}
	done  sync.WaitGroup

	mu    sync.Mutex
	conns map[*Conn]struct{}
}

const (
	// near is when a limit gets its timer.
	near = 5 * time.Second
	// watchEvery is how often the watchdog looks; it must not miss what comes near.
	watchEvery = time.Second
)

func newWatchdog(clock *Clock) *watchdog {
	w := &watchdog{clock: clock, stop: make(chan struct{}), conns: map[*Conn]struct{}{}}
	w.done.Go(w.watch)
	return w
}

func (w *watchdog) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.poll()
		}
	}
}

// poll gives a timer to the limits that have come near.
func (w *watchdog) poll() {
	now := w.clock.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		if far := time.Duration(c.limit.far.Load()); far != 0 && far-now <= near {
			c.limit.far.Store(0)
			// If the request has ended by then, the next one finds that the deadline
			// was not its own, and goes on.
			_ = c.limit.conn.SetDeadline(w.clock.start.Add(far))
		}
	}
}

func (w *watchdog) add(c *Conn) {
	w.mu.Lock()
	w.conns[c] = struct{}{}
	w.mu.Unlock()
}

func (w *watchdog) forget(c *Conn) {
	w.mu.Lock()
	delete(w.conns, c)
	w.mu.Unlock()
}

func (w *watchdog) close() {
	close(w.stop)
	w.done.Wait()
}
