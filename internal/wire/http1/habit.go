package http1

import (
	"sync"
	"sync/atomic"
	"time"
)

// habit is what a server has shown of how many requests it takes on a connection. Some close
// after each response, or after every so many, and do not say so: a request that sets out at that
// moment is lost. Once that is known, a connection is given up before its server does.
type habit struct {
	takes atomic.Int64 // requests that the server takes on a connection; 0: nothing is known
	most  atomic.Int64 // that any connection has carried
	mu    sync.Mutex
	seen  int64 // after how many requests connections were closed the last few times
	times int   // how often in a row
}

const (
	// habitual is how many connections closed in a row after as many requests make a habit.
	habitual = 3
	// promptly is how soon after a response a server closes that has had enough of the
	// connection. One whose time for idle connections is over waits for longer.
	promptly = 100 * time.Millisecond
)

// answered notes that a connection has carried so many requests.
func (h *habit) answered(carried int64) {
	for most := h.most.Load(); carried > most && !h.most.CompareAndSwap(most, carried); {
		most = h.most.Load()
	}
}

// closed notes that the server closed a connection after so many requests and idle for a while.
func (h *habit) closed(carried int64, idle time.Duration) {
	if carried == 0 || idle > promptly {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if carried != h.seen {
		h.seen, h.times = carried, 0
	}
	h.times++
	if h.times >= habitual && h.most.Load() <= carried {
		h.takes.Store(carried)
	}
}

// spent reports whether a connection that has carried so many requests would be closed by the server.
func (h *habit) spent(carried int64) bool {
	takes := h.takes.Load()
	return takes > 0 && carried >= takes
}
