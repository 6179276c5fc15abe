package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Counters is what a running stage lets others see.
type Counters struct {
	counts  [lanes]count
	others  sync.Map // the number of a worker → its share
	windows []stageTimes
}

// share is what another process has sent, and has in flight.
type share struct{ sent, inFlight int64 }

// lanes is how many cores can count at a time without waiting for one another.
const lanes = 64

// count is what a part of the slots has sent. It fills the memory that cores fetch at a time,
// so that counting does not take it from a neighbour.
type count struct {
	sent, inFlight atomic.Int64
	_              [112]byte
}

func (l *Counters) send(slot int) {
	c := &l.counts[slot%lanes]
	c.sent.Add(1)
	c.inFlight.Add(1)
}

func (l *Counters) end(slot int) { l.counts[slot%lanes].inFlight.Add(-1) }

// InFlight is how many requests are in flight.
func (l *Counters) InFlight() (n int64) {
	for i := range l.counts {
		n += l.counts[i].inFlight.Load()
	}
	for _, s := range l.others.Range {
		n += s.(share).inFlight
	}
	return n
}

// Sent is how many requests were sent so far.
func (l *Counters) Sent() (n int64) {
	for i := range l.counts {
		n += l.counts[i].sent.Load()
	}
	for _, s := range l.others.Range {
		n += s.(share).sent
	}
	return n
}

// stageTimes is where a stage begins, and its steady part; these become known as the
// stage goes on.
type stageTimes struct{ begin, from, to atomic.Int64 }

// NewLive makes a Live for a run of so many stages. Those with a number below 0, which
// come before them, share one place: that of the last one begun.
func NewLive(stages int) *Counters {
	l := &Counters{windows: make([]stageTimes, stages+1)}
	for i := range l.windows {
		l.windows[i].reset()
	}
	return l
}

func (w *stageTimes) reset() {
	w.begin.Store(int64(record.NotYet))
	w.from.Store(int64(record.NotYet))
	w.to.Store(int64(record.NotYet))
}

func (l *Counters) stageTimes(stage int) *stageTimes {
	if stage < 0 {
		return &l.windows[len(l.windows)-1]
	}
	return &l.windows[stage]
}

// Follow keeps a stage that others send: what a worker has sent and has in flight. There may be
// any number of workers.
func (l *Counters) Follow(worker int, sent, inFlight int64) {
	l.others.Store(worker, share{sent, inFlight})
}

// Begun is when a stage begins.
func (l *Counters) Begun(stage int, at time.Duration) {
	w := l.stageTimes(stage)
	w.reset()
	w.begin.Store(int64(at))
}

// Measured is when its measured part begins.
func (l *Counters) Measured(stage int, at time.Duration) { l.stageTimes(stage).from.Store(int64(at)) }

// Halted is when it has sent its last request.
func (l *Counters) Halted(stage int, at time.Duration) { l.stageTimes(stage).to.Store(int64(at)) }

// Times are those of a stage, as far as they are known.
func (l *Counters) Times(stage int) record.StageTimes {
	w := l.stageTimes(stage)
	return record.StageTimes{
		Begin: time.Duration(w.begin.Load()), WarmupEnd: time.Duration(w.from.Load()), SendEnd: time.Duration(w.to.Load()),
		DrainEnd: record.NotYet,
	}
}
