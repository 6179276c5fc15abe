package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// warmup counts the requests of a warm-up that have ended, for a stage whose measured part
// waits for the last of them.
type warmup struct {
	ended atomic.Int64
	done  chan struct{} // closed when all have
}

func (w *warmup) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// endWarmup notes that a request has ended, or that it will never go.
func (st *stage) endWarmup(p record.Phase) {
	if st.load.WarmupDrains && p == record.Warmup && st.warmup.ended.Add(1) == st.load.WarmupRequests {
		close(st.warmup.done)
	}
}

// awaitWarmup waits until all requests of the warm-up have ended; false: the stage was
// halted first. Who comes here has seen the last of them begin.
func (st *stage) awaitWarmup() bool {
	select {
	case <-st.warmup.done:
		return true
	case <-st.stop:
		return false
	}
}

// warmLanes are the slots of a closed loop whose sessions are warmed up with calls of their own.
type warmLanes struct {
	mu  sync.Mutex
	of  []bool // those that are warm
	all int
}

// laneWarmed notes that the session in a slot is warm. The measured part begins when all are.
func (st *stage) laneWarmed(slot int) {
	if st.load.WarmupLanes == 0 {
		return
	}
	st.warm.mu.Lock()
	defer st.warm.mu.Unlock()
	if st.warm.of[slot] {
		return
	}
	st.warm.of[slot] = true
	if st.warm.all++; st.warm.all == st.load.WarmupLanes {
		st.measureFrom(st.e.cfg.Now())
	}
}

// warmedAt is when all sessions were warm; 0: they are not warmed up.
func (st *stage) warmedAt() time.Duration {
	if st.load.WarmupLanes == 0 {
		return 0
	}
	return time.Duration(st.warmEnd.Load())
}

// awaitWarm waits until all sessions are warm; false: the stage was halted first.
func (st *stage) awaitWarm() bool {
	if st.load.WarmupLanes == 0 {
		return true
	}
	select {
	case <-st.warmed:
		return true
	case <-st.stop:
		return false
	}
}

// notBefore is the time before which a request of a phase was not meant to go, whenever
// its slot was free.
func (st *stage) notBefore(p record.Phase) time.Duration {
	if !st.load.WarmupDrains || p == record.Warmup {
		return 0
	}
	return time.Duration(st.warmEnd.Load())
}
