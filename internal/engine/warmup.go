package engine

import (
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

// notBefore is the time before which a request of a phase was not meant to go, whenever
// its slot was free.
func (st *stage) notBefore(p record.Phase) time.Duration {
	if !st.load.WarmupDrains || p == record.Warmup {
		return 0
	}
	return time.Duration(st.warmEnd.Load())
}
