package mock

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"inferometer/internal/kserve"
)

// tally counts something and the time that it took.
type tally struct{ count, ns uint64 }

func (t *tally) add(n int, ns int64) {
	t.count += uint64(n)
	t.ns += uint64(max(ns, 0))
}

func (t tally) proto() *kserve.StatisticDuration {
	return &kserve.StatisticDuration{Count: t.count, Ns: t.ns}
}

// responseTally counts the responses that came at one place of their answers.
type responseTally struct{ infer, output, success, fail, empty, cancel tally }

// maxPlaces bounds the places that responses are counted for.
const maxPlaces = 1 << 14

// modelStats is what a model has done since it was loaded.
type modelStats struct {
	pending atomic.Int64 // requests that wait for a place

	mu                                         sync.Mutex
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
	s.inferences, s.executions, s.last, s.canceled, s.places = 0, 0, 0, 0, nil
	s.success, s.fail, s.queue, s.input, s.infer, s.output = tally{}, tally{}, tally{}, tally{}, tally{}, tally{}
}

// work is how long the parts of a request took.
type work struct{ queue, input, infer, output int64 }

func (w work) total() int64 { return w.queue + w.input + w.infer + w.output }

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

// countOnce puts the call into its model's statistics, if it is not there yet.
func (c *call) countOnce(now int64, whole bool) {
	if !c.t.counted {
		c.t.counted = true
		c.t.model.count(c, now, whole)
	}
}

// count puts a request that was accepted into the statistics. Triton calls a
// decoupled request that failed halfway a success, and so does this; one that never
// ran is a failure.
func (m *tritonModel) count(c *call, now int64, whole bool) {
	if c.admitted == 0 {
		m.stats.mu.Lock()
		m.stats.fail.add(1, now-c.arrived())
		m.stats.canceled++
		m.stats.mu.Unlock()
		return
	}
	doneAt := c.t.done
	if doneAt == 0 {
		doneAt = now
	}
	started := max(c.admitted, c.t.parsed)
	w := work{input: c.t.parsed - c.arrived(), queue: started - c.t.parsed, infer: max(doneAt-started, 0), output: now - max(doneAt, started)}
	wall := c.s.clock.base.Add(time.Duration(now)).UnixMilli()
	responses := len(c.t.made)
	if m.engine == nil {
		m.stats.served(1, c.choices, w, wall)
		m.stats.countPlaces(c, m, started, w.output, whole)
		return
	}
	// The text's way in is what reading the request took, its way out what sending took.
	m.before.stats.served(1, c.choices, work{infer: w.input}, wall)
	m.engine.stats.served(1, c.choices, work{queue: w.queue, infer: w.infer}, wall)
	m.engine.stats.countPlaces(c, m.engine, started, 0, whole)
	if responses > 0 {
		m.after.stats.served(responses, c.choices, work{infer: w.output}, wall)
	}
	// An ensemble's compute is the sum of its models', its queue its own.
	m.stats.mu.Lock()
	defer m.stats.mu.Unlock()
	s := &m.stats
	s.inferences += uint64(c.choices)
	s.executions++
	s.last = wall
	s.success.add(1, w.total())
	s.queue.add(1, 0)
	s.input.add(1, 0)
	s.infer.add(1, w.input+w.infer+w.output)
	s.output.add(1, 0)
}

// countPlaces counts the responses of a decoupled model, each at its place. A
// response's time to compute is the time since the one ahead of it.
func (s *modelStats) countPlaces(c *call, m *tritonModel, started, output int64, whole bool) {
	if !m.spec.decoupled {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	place := func(i int) *responseTally {
		for len(s.places) <= i {
			s.places = append(s.places, responseTally{})
		}
		return &s.places[i]
	}
	last := started
	for i, at := range c.t.made {
		if i >= maxPlaces {
			return
		}
		p := place(i)
		p.infer.add(1, at-last)
		p.success.add(1, at-last)
		p.output.add(1, 0)
		if i == len(c.t.made)-1 {
			p.output.ns += uint64(max(output, 0))
			p.success.ns += uint64(max(output, 0))
		}
		last = at
	}
	if n := len(c.t.made); n < maxPlaces {
		switch {
		case !whole:
			place(n).cancel.add(1, 0)
		case c.finish == "error":
			place(n).fail.add(1, 0)
		case c.t.convention == ConventionVLLM || c.t.convention == ConventionOld:
			place(n).empty.add(1, 0) // the mark of the end, whether it is asked for or not
		}
	}
}

// statistics are the model's, as gRPC gives them.
func (m *tritonModel) statistics() *kserve.ModelStatistics {
	s := &m.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &kserve.ModelStatistics{
		Name: m.name, Version: "1", LastInference: uint64(s.last), InferenceCount: s.inferences, ExecutionCount: s.executions,
		InferenceStats: &kserve.InferStatistics{
			Success: s.success.proto(), Fail: s.fail.proto(), Queue: s.queue.proto(), ComputeInput: s.input.proto(),
			ComputeInfer: s.infer.proto(), ComputeOutput: s.output.proto(), CacheHit: tally{}.proto(), CacheMiss: tally{}.proto(),
		},
	}
	if s.executions > 0 {
		out.BatchStats = []*kserve.InferBatchStatistics{{
			BatchSize: max(1, s.inferences/s.executions), ComputeInput: s.input.proto(), ComputeInfer: s.infer.proto(), ComputeOutput: s.output.proto(),
		}}
	}
	if len(s.places) > 0 {
		out.ResponseStats = make(map[string]*kserve.InferResponseStatistics, len(s.places))
	}
	for i, p := range s.places {
		out.ResponseStats[strconv.Itoa(i)] = &kserve.InferResponseStatistics{
			ComputeInfer: p.infer.proto(), ComputeOutput: p.output.proto(), Success: p.success.proto(),
			Fail: p.fail.proto(), EmptyResponse: p.empty.proto(), Cancel: p.cancel.proto(),
		}
	}
	return out
}
