package timedconn

import (
	"sync"
	"time"
)

// ticks have somebody look while nobody else does: a read after a long silence would else be known
// to have come at any time of it.
type ticks struct {
	stop chan struct{}
	done sync.WaitGroup
}

const (
	// tickEvery is how old a look may become.
	tickEvery = time.Millisecond
	// seldom is how far ticks are apart where pollers look often enough by themselves.
	seldom = 16 * time.Millisecond
)

// startTicks begins; nil means there is nothing to look at, or time is not this machine's.
func startTicks(clock *Clock, all []*poller) *ticks {
	if clock.now != nil || !looksByTicks(all) {
		return nil
	}
	t := &ticks{stop: make(chan struct{})}
	t.done.Go(func() { t.run(clock, all) })
	return t
}

func (t *ticks) run(clock *Clock, all []*poller) {
	every := tickEvery
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-timer.C:
		}
		clock.beat.Store(int64(clock.Now()))
		if tick(clock, all) {
			every = max(every/2, tickEvery) // by and by: a program that has much to do is not idle for long
		} else {
			every = min(2*every, seldom)
		}
		timer.Reset(every)
	}
}

func (t *ticks) end() {
	if t != nil {
		close(t.stop)
		t.done.Wait()
	}
}
