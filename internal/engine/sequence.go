package engine

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// sequences are those that a stage has begun and not ended. A server keeps a place for each
// of them, and may have few: one that is left open is missing in the next stage, and in the
// next run.
type sequences struct {
	mu   sync.Mutex
	open map[uint64]closing // by id

	// Of an open loop, so that a sequence can be ended while others are in flight.
	due  map[uint64]int // requests of a sequence that were let through and have not been answered
	over bool           // no more are let through
	late bool           // some do not know their sequence yet
}

// enter takes down that a request was let through.
func (s *sequences) enter(p *prompt.Prompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = s.late || p.Late != nil && p.Sequence.ID == 0
	if p.Sequence.ID == 0 {
		return
	}
	if s.due == nil {
		s.due = map[uint64]int{}
	}
	s.due[p.Sequence.ID]++
}

// leave takes down that a request was answered, or is not sent after all, and reports whether
// its sequence has none to come.
func (s *sequences) leave(id uint64) bool {
	if id == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due[id]--
	if s.due[id] > 0 {
		return false
	}
	delete(s.due, id)
	return s.over && !s.late
}

// idle takes down that no more requests are let through, and gives the open sequences that have
// none in flight.
func (s *sequences) idle() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.late {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.open)), func(id uint64) bool { return s.due[id] > 0 })
}

// closing is what ends a sequence. The prompt is nil where its end was sent ahead of its start,
// or is in flight.
type closing struct {
	last  *prompt.Prompt
	first int64 // the request that began it
}

// begin takes down that a request is about to be sent. Requests that do not wait for one
// another may come in any order.
func (s *sequences) begin(p *prompt.Prompt) {
	q := &p.Sequence
	if q.ID == 0 || q.Start == q.End {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[uint64]closing{}
	}
	if _, other := s.open[q.ID]; other {
		delete(s.open, q.ID)
		return
	}
	s.open[q.ID] = closing{q.Last, p.Seq}
}

// end gives what ends a sequence that is open; no prompt: it is not, or nothing does. It is
// open until that is about to be sent, and given once.
func (s *sequences) end(id uint64) closing {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.open[id]
	if c.last != nil {
		s.open[id] = closing{nil, c.first}
	}
	return c
}

// forget takes down that a sequence is not open after all.
func (s *sequences) forget(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

func (s *sequences) ids() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open))
}

// atATime is how many sequences are ended at a time.
const atATime = 64

// closeSequences ends those that are open when all requests have been answered.
func (st *stage) closeSequences() {
	open := st.open.ids()
	many := min(atATime, len(open))
	if st.load.MaxSlots > 0 {
		many = min(many, st.load.MaxSlots)
	}
	ids := make(chan uint64)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			for id := range ids {
				st.closeSequence(i, id)
			}
		})
	}
	for _, id := range open {
		ids <- id
	}
	close(ids)
	all.Wait()
}

// closeSequence ends a sequence if it is open: the stage is over, or a request of it has
// failed. Where requests are aborted there is no time for it.
func (st *stage) closeSequence(slot int, id uint64) {
	end := st.open.end(id)
	if end.last == nil || st.ctx.Err() != nil {
		return
	}
	p := *end.last
	p.Seq = prompt.Ending(end.first)
	call, err := st.e.cfg.Prepare(&p)
	if err != nil {
		st.fail(fmt.Errorf("preparing the end of sequence %d: %w", id, err))
		return
	}
	now := st.e.cfg.Now()
	phase := record.Closing
	select {
	case <-st.stop:
		if st.load.CountEnds && time.Duration(st.warmEnd.Load()) != record.Never {
			phase = record.Measured
		}
	default:
	}
	if rec := st.do(slot, preparedRequest{prompt: p, call: call, admission: admission{due: now, phase: phase}}, now); rec != nil {
		st.e.cfg.Sink.Put(rec)
	}
}
