package repository

import (
	"sync"
	"sync/atomic"
	"time"
)

// tally counts something and the time that it took.
type tally struct{ count, ns uint64 }

func (t *tally) add(n int, ns int64) {
	t.count += uint64(n)
	t.ns += uint64(max(ns, 0))
}

func (t tally) time() time.Duration { return time.Duration(t.ns) }

func (t tally) page() page { return page{"count", t.count, "ns", t.ns} }

// responseTally counts the responses that came at one place of their answers.
type responseTally struct{ infer, output, success, fail, empty, cancel tally }

// maxPlaces bounds the places that responses are counted for.
const maxPlaces = 1 << 14

// modelStats is what a model has done since it was loaded.
type modelStats struct {
	pending atomic.Int64 // requests that wait for a place

	mu sync.Mutex
	counts
}

// counts are what loading anew forgets.
type counts struct {
	inferences, executions                     uint64
	last                                       int64 // of the last inference, in milliseconds of the wall clock
	success, fail, queue, input, infer, output tally
	canceled                                   uint64
	places                                     []responseTally
}

// clear forgets everything, as loading anew does.
func (s *modelStats) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = counts{}
}

// work is how long the parts of a request took; elsewhere is what counts in its whole time alone.
type work struct{ queue, input, infer, output, elsewhere int64 }

func (w work) total() int64 { return w.queue + w.input + w.infer + w.output + w.elsewhere }

// served counts n executions on behalf of one request, of so many inferences each.
func (s *modelStats) served(n, batch int, w work, wall int64) {
	s.mu.Lock()
	s.inferences += uint64(n * batch)
	s.executions += uint64(n)
	s.last = wall
	s.success.add(n, w.total())
	s.queue.add(n, w.queue)
	s.input.add(n, w.input)
	s.infer.add(n, w.infer)
	s.output.add(n, w.output)
	s.mu.Unlock()
}

// Service is how a request was served. Moments are nanoseconds of one clock.
type Service struct {
	Arrived, Parsed int64
	Admitted        int64   // 0: it never was
	Made            []int64 // when each response was
	Done            int64   // when the last one was; 0: it has not been
	Now             int64
	Wall            int64 // now, in milliseconds of the wall clock
	Batch           int
	End             Ending
}

// Ending is how a response ended.
type Ending uint8

// The ways to end.
const (
	endedPlain Ending = iota
	EndedEmpty        // by a response that holds nothing, whether it is asked for or not
	EndedFailed
	EndedCancelled
)

// Count puts a request that was accepted into the statistics. Triton calls a
// decoupled request that failed halfway a success, and so does this; one that never
// ran is a failure.
func (m *Model) Count(v Service) {
	if v.Admitted == 0 {
		m.stats.mu.Lock()
		m.stats.fail.add(1, v.Now-v.Arrived)
		m.stats.canceled++
		m.stats.mu.Unlock()
		return
	}
	doneAt := v.Done
	if doneAt == 0 {
		doneAt = v.Now
	}
	started := max(v.Admitted, v.Parsed)
	w := work{input: v.Parsed - v.Arrived, queue: started - v.Parsed, infer: max(doneAt-started, 0), output: v.Now - max(doneAt, started)}
	if m.engine == nil {
		m.stats.served(1, v.Batch, w, v.Wall)
		m.countPlaces(v, started, w.output)
		return
	}
	// The text's way in is what reading the request took, its way out what sending took.
	m.before.stats.served(1, v.Batch, work{infer: w.input}, v.Wall)
	m.engine.stats.served(1, v.Batch, work{queue: w.queue, infer: w.infer}, v.Wall)
	m.engine.countPlaces(v, started, 0)
	if n := len(v.Made); n > 0 {
		m.after.stats.served(n, v.Batch, work{infer: w.output}, v.Wall)
	}
	// An ensemble's compute is the sum of its models'; its whole time has the engine's queue in it.
	m.stats.served(1, v.Batch, work{infer: w.input + w.infer + w.output, elsewhere: w.queue}, v.Wall)
}

// countPlaces counts the responses of a decoupled model, each at its place. A
// response's time to compute is the time since the one ahead of it.
func (m *Model) countPlaces(v Service, started, output int64) {
	if !m.Spec.Decoupled {
		return
	}
	s := &m.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	place := func(i int) *responseTally {
		for len(s.places) <= i {
			s.places = append(s.places, responseTally{})
		}
		return &s.places[i]
	}
	last := started
	for i, at := range v.Made {
		if i >= maxPlaces {
			return
		}
		p := place(i)
		p.infer.add(1, at-last)
		p.success.add(1, at-last)
		p.output.add(1, 0)
		if i == len(v.Made)-1 {
			p.output.ns += uint64(max(output, 0))
			p.success.ns += uint64(max(output, 0))
		}
		last = at
	}
	if n := len(v.Made); n < maxPlaces {
		switch v.End {
		case EndedCancelled:
			place(n).cancel.add(1, 0)
		case EndedFailed:
			place(n).fail.add(1, 0)
		case EndedEmpty:
			place(n).empty.add(1, 0)
		}
	}
}

// Waits counts requests that have begun, or ended, to wait for a place.
func (m *Model) Waits(n int64) { m.stats.pending.Add(n) }

// Totals are a model's counters, for a page of metrics.
type Totals struct {
	Succeeded, Cancelled, Inferences, Executions uint64
	Request, Queue, Input, Infer, Output         time.Duration
	Pending                                      int64
}

// Totals reads the counters.
func (m *Model) Totals() Totals {
	s := &m.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	return Totals{
		Succeeded: s.success.count, Cancelled: s.canceled, Inferences: s.inferences, Executions: s.executions,
		Request: s.success.time(), Queue: s.queue.time(), Input: s.input.time(), Infer: s.infer.time(), Output: s.output.time(),
		Pending: max(s.pending.Load(), 0),
	}
}
