package mock

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
)

// model decides when tokens are due. It knows nothing of connections: times are
// nanoseconds of the server's clock, in and out.
type model struct {
	cfg config.Latency

	running atomic.Int64
	waiting atomic.Int64
	blocks  atomic.Int64 // cache blocks that running sequences fill

	mu    sync.Mutex
	queue []*sequence
	lanes []int64 // when each prefill lane is free
	cache *prefixCache
}

// sequence is one request's place in the batch.
type sequence struct {
	prompt int
	cached int
	blocks int64
	ready  chan struct{} // closed when a queued sequence is admitted
	wake   func()        // called instead, where it is set
	rng    *rand.Rand
}

func newModel(l config.Latency) *model {
	m := &model{cfg: l, lanes: make([]int64, l.PrefillLanes)}
	if l.PrefixCache {
		m.cache = newPrefixCache(l.KVBlocks)
	}
	return m
}

// enter asks for a place in the batch. False: wait for q.ready.
func (m *model) enter(q *sequence) bool {
	if m.cfg.MaxSeqs == 0 {
		m.running.Add(1)
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running.Load() < int64(m.cfg.MaxSeqs) {
		m.running.Add(1)
		return true
	}
	if q.wake == nil {
		q.ready = make(chan struct{})
	}
	m.queue = append(m.queue, q)
	m.waiting.Add(1)
	return false
}

// leave gives the place to the one that waits longest.
func (m *model) leave(q *sequence) {
	m.blocks.Add(-q.blocks)
	q.blocks = 0
	if m.cfg.MaxSeqs == 0 {
		m.running.Add(-1)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		m.running.Add(-1)
		return
	}
	next := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	m.waiting.Add(-1)
	if next.wake != nil {
		next.wake()
		return
	}
	close(next.ready)
}

// abandon takes a sequence whose client left out of the queue, or out of the
// batch if it was admitted meanwhile.
func (m *model) abandon(q *sequence) {
	m.mu.Lock()
	i := slices.Index(m.queue, q)
	if i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		m.waiting.Add(-1)
	}
	m.mu.Unlock()
	if i < 0 {
		m.leave(q)
	}
}

// first returns when the first token of a sequence admitted now is due, after
// looking its prompt up in the cache.
func (m *model) first(now int64, q *sequence, words *wordCount, output int) int64 {
	q.prompt = words.n
	q.cached = 0
	size := m.cfg.BlockSize
	q.blocks = int64((words.n + output + size - 1) / size)
	m.blocks.Add(q.blocks)
	if m.cache != nil {
		m.mu.Lock()
		hits := m.cache.visit(words.blocks)
		m.mu.Unlock()
		q.cached = hits * size
		if q.cached == q.prompt && hits > 0 {
			// The last token has to be computed to get the next one.
			q.cached -= size
		}
	}
	prefill := int64(m.cfg.PrefillPerToken) * int64(q.prompt-q.cached)
	start := now
	if prefill > 0 && len(m.lanes) > 0 {
		start = m.lane(now, prefill)
	}
	return start + prefill + m.draw(q.rng, m.cfg.TTFT, m.cfg.TTFTStddev)
}

// lane takes the prefill lane that is free first and returns when it starts.
func (m *model) lane(now, prefill int64) int64 {
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

// next returns when the token after the one that was due at prev is due. It
// counts from the intended time, so that lateness does not add up.
func (m *model) next(prev int64, q *sequence) int64 {
	step := m.draw(q.rng, m.cfg.ITL, m.cfg.ITLStddev)
	if m.cfg.ITLPerSeq > 0 {
		step += int64(m.cfg.ITLPerSeq) * m.running.Load()
	}
	return prev + step
}

// steady says whether the time between tokens does not depend on other sequences.
func (m *model) steady() bool { return m.cfg.ITLPerSeq == 0 }

// usage is the share of the cache that running sequences fill.
func (m *model) usage() float64 {
	return min(1, float64(m.blocks.Load())/float64(m.cfg.KVBlocks))
}

func (m *model) draw(r *rand.Rand, mean, stddev time.Duration) int64 {
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

// outputLength is how many tokens an answer has, and why it ends.
func outputLength(o *config.Output, p *params, r *rand.Rand) (n int, finish string) {
	limit := p.limit()
	natural := o.Tokens
	switch {
	case o.TokensStddev > 0:
		natural = max(1, int(math.Round(float64(o.Tokens)+float64(o.TokensStddev)*r.NormFloat64())))
	case limit > 0:
		natural = limit
	}
	natural = max(natural, p.min)
	switch {
	case limit > 0 && (p.ignoreEOS || natural >= limit):
		return limit, "length"
	case p.ignoreEOS:
		return natural, "length"
	}
	return natural, "stop"
}
