//go:build linux

package adversary

import (
	"sync"
	"time"
)

// watchdog measures how late this process is for its own appointments: what a starved
// server says of its moments is worth no more than that.
type watchdog struct {
	done  chan struct{}
	idle  sync.WaitGroup
	begin time.Time
	mu    sync.Mutex
	worst time.Duration
	area  float64 // of the delays: what they cost somebody who comes at any moment, times the time, in s²
}

const tick = 2 * time.Millisecond

func watch() *watchdog {
	w := &watchdog{done: make(chan struct{}), begin: time.Now()}
	w.idle.Go(w.run)
	return w
}

func (w *watchdog) run() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for last := time.Now(); ; {
		select {
		case <-w.done:
			return
		case <-t.C:
		}
		now := time.Now()
		late := now.Sub(last) - tick
		last = now
		w.mu.Lock()
		w.worst = max(w.worst, late)
		w.area += late.Seconds() * late.Seconds() / 2
		w.mu.Unlock()
	}
}

// late is the most that it was late by.
func (w *watchdog) late() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.worst
}

// mean is by how much something that is due at any moment is late on average.
func (w *watchdog) mean() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.area / time.Since(w.begin).Seconds() * float64(time.Second))
}

func (w *watchdog) stop() {
	select {
	case <-w.done:
	default:
		close(w.done)
	}
	w.idle.Wait()
}
