package abort

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// A closed loop is ended when its first alikeRequests all failed in the same way and
// alikeTime has passed: what is wrong is not going to pass, and further requests say nothing
// new. A server that is only starting up has that time.
const (
	alikeRequests = 50
	alikeTime     = 3 * time.Second
)

// SameFailure watches for stages whose requests all fail in the same way, as a fold of all workers.
type SameFailure struct {
	stop  func(reason record.StopReason)
	stage atomic.Int64 // the current one; watched while open
	open  atomic.Bool  // no request of it has been answered well, or in another way

	mu     sync.Mutex
	failed int
	class  record.Class
	status int
	first  time.Duration // earliest time at which one could go
	last   time.Duration // latest end
}

// NewSameFailure makes one that ends a stage by calling stop.
func NewSameFailure(stop func(reason record.StopReason)) *SameFailure {
	return &SameFailure{stop: stop}
}

// Begin begins a stage. Arrivals of an open loop go on whatever becomes of them.
func (a *SameFailure) Begin(stage int, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = 0
	a.stage.Store(int64(stage))
	a.open.Store(closed)
}

// Add implements collect.Consumer.
func (a *SameFailure) Add(rec *record.Record) {
	if !a.open.Load() || int64(rec.Stage) != a.stage.Load() {
		return
	}
	f := rec.Failure
	if f == nil {
		a.open.Store(false)
		return
	}
	if f.Class.EndedHere() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.failed == 0:
		a.class, a.status, a.first, a.last = f.Class, f.Status, rec.Ready, rec.End
	case f.Class != a.class || f.Status != a.status:
		a.open.Store(false)
		return
	}
	a.failed++
	a.first, a.last = min(a.first, rec.Ready), max(a.last, rec.End)
	if a.failed >= alikeRequests && a.last-a.first >= alikeTime {
		a.open.Store(false)
		a.stop(record.StopAlike)
	}
}

// fewestEnded is how many requests must have ended before their share of failures
// can end a run.
const fewestEnded = 20

// ErrorLimit counts requests that fail, and stops a run that has too many of them.
type ErrorLimit struct {
	most          plan.MaxErrors
	stop          Stopper
	ended, failed atomic.Int64
}

// NewErrorLimit makes one that stops a run at a plan's limits.
func NewErrorLimit(most plan.MaxErrors, stop Stopper) *ErrorLimit {
	return &ErrorLimit{most: most, stop: stop}
}

// Count takes note of how a request ended; "": well.
func (f *ErrorLimit) Count(class record.Class) {
	ended := f.ended.Add(1)
	if class == "" || class.EndedHere() {
		return
	}
	failed := f.failed.Add(1)
	if f.most.Count > 0 && failed >= f.most.Count ||
		f.most.Share > 0 && ended >= fewestEnded && float64(failed) > f.most.Share*float64(ended) {
		f.stop.Stop(record.StopErrors)
	}
}
