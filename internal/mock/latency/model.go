// Package latency decides when the tokens of the built-in server are due, as a batch with a prefix cache does.
package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
)

// Model decides when tokens are due, in nanoseconds of the server's clock. It knows no connections.
type Model struct {
	cfg config.Latency

	Running atomic.Int64 // sequences in the batch
	Waiting atomic.Int64 // sequences in the queue
	blocks  atomic.Int64 // cache blocks that running sequences fill

	mu    sync.Mutex
	queue []*Sequence
	lanes []int64 // when each prefill lane is free
	cache *prefixCache
}

// Sequence is one request's place in the batch.
type Sequence struct {
	Prompt int // tokens
	Cached int // of them, found in the cache
	blocks int64
	Ready  chan struct{} // closed when a queued sequence is admitted
	Wake   func()        // called instead, where it is set
	Rand   *rand.Rand
}

// New makes the model of a server with these latencies.
func New(l config.Latency) *Model {
	m := &Model{cfg: l, lanes: make([]int64, l.PrefillLanes)}
	if l.PrefixCache {
		m.cache = newPrefixCache(l.KVBlocks)
	}
	return m
}

// Enter asks for a place in the batch. False: wait for q.ready.
func (m *Model) Enter(q *Sequence) bool {
	if m.cfg.MaxSeqs == 0 {
		m.Running.Add(1)
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Running.Load() < int64(m.cfg.MaxSeqs) {
		m.Running.Add(1)
		return true
	}
	if q.Wake == nil {
		q.Ready = make(chan struct{})
	}
	m.queue = append(m.queue, q)
	m.Waiting.Add(1)
	return false
}

// Leave gives the place to the one that waits longest.
func (m *Model) Leave(q *Sequence) {
	m.blocks.Add(-q.blocks)
	q.blocks = 0
	if m.cfg.MaxSeqs == 0 {
		m.Running.Add(-1)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		m.Running.Add(-1)
		return
	}
	next := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	m.Waiting.Add(-1)
	if next.Wake != nil {
		next.Wake()
		return
	}
	close(next.Ready)
}

// Abandon takes a sequence whose client left out of the queue, or of the batch if admitted.
func (m *Model) Abandon(q *Sequence) {
	m.mu.Lock()
	i := slices.Index(m.queue, q)
	if i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		m.Waiting.Add(-1)
	}
	m.mu.Unlock()
	if i < 0 {
		m.Leave(q)
	}
}

// ForgetPrompts empties the prefix cache.
func (m *Model) ForgetPrompts() {
	if m.cache == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cache.clear()
}

// First is when the first token of a sequence admitted now is due, by what the cache has of its
// prompt.
func (m *Model) First(now int64, q *Sequence, prompt, output int, blocks []uint64) int64 {
	q.Prompt = prompt
	q.Cached = 0
	size := m.cfg.BlockSize
	q.blocks = int64((prompt + output + size - 1) / size)
	m.blocks.Add(q.blocks)
	if m.cache != nil {
		m.mu.Lock()
		hits := m.cache.visit(blocks)
		m.mu.Unlock()
		q.Cached = hits * size
		if q.Cached == q.Prompt && hits > 0 {
			// The last token has to be computed to get the next one.
			q.Cached -= size
		}
	}
	prefill := int64(m.cfg.PrefillPerToken) * int64(q.Prompt-q.Cached)
	start := now
	if prefill > 0 && len(m.lanes) > 0 {
		start = m.lane(now, prefill)
	}
	return start + prefill + m.draw(q.Rand, m.cfg.TTFT, m.cfg.TTFTStddev)
}

// lane takes the prefill lane that is free first and returns when it starts.
func (m *Model) lane(now, prefill int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	least := 0
	for i, free := range m.lanes {
		if free < m.lanes[least] {
			least = i
		}
	}
	start := max(now, m.lanes[least])
	m.lanes[least] = start + prefill
	return start
}

// Next returns when the token after the one that was due at prev is due. It
// counts from the intended time, so that lateness does not add up.
func (m *Model) Next(prev int64, q *Sequence) int64 {
	step := m.draw(q.Rand, m.cfg.ITL, m.cfg.ITLStddev)
	if m.cfg.ITLPerSeq > 0 {
		step += int64(m.cfg.ITLPerSeq) * m.Running.Load()
	}
	return prev + step
}

// Steady says whether the time between tokens does not depend on other sequences.
func (m *Model) Steady() bool { return m.cfg.ITLPerSeq == 0 }

// Usage is the share of the cache that running sequences fill.
func (m *Model) Usage() float64 {
	return min(1, float64(m.blocks.Load())/float64(m.cfg.KVBlocks))
}

func (m *Model) draw(r *rand.Rand, mean, stddev time.Duration) int64 {
	if stddev == 0 {
		return int64(mean)
	}
	mu, sd := float64(mean), float64(stddev)
	if m.cfg.Dist == config.DistLognormal {
		variance := math.Log1p(sd * sd / (mu * mu))
		return clampTime(math.Exp(math.Log(mu) - variance/2 + math.Sqrt(variance)*r.NormFloat64()))
	}
	return clampTime(mu + sd*r.NormFloat64())
}

// clampTime keeps drawn times sane: none is negative or longer than a day.
func clampTime(ns float64) int64 {
	return int64(min(max(ns, 0), float64(24*time.Hour)))
}
