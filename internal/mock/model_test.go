package mock

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
)

func newSequence(n uint64) *sequence { return &sequence{rng: rand.New(rand.NewPCG(1, n))} }

func wordsOf(text string, block int) *wordCount {
	w := new(wordCount)
	w.reset(block)
	w.add([]byte(text))
	return w
}

const ms = int64(time.Millisecond)

func TestQueueIsFIFO(t *testing.T) {
	m := newModel(config.Latency{MaxSeqs: 2, BlockSize: 16, KVBlocks: 1})
	q := make([]*sequence, 6)
	for i := range q {
		q[i] = newSequence(uint64(i))
		if got, want := m.enter(q[i]), i < 2; got != want {
			t.Errorf("sequence %d admitted: %v, want %v", i, got, want)
		}
	}
	m.abandon(q[3])
	var order []int
	for range 4 {
		m.leave(q[0])
		for i := 2; i < len(q); i++ {
			select {
			case <-q[i].ready:
				order = append(order, i)
				q[i].ready = nil
			default:
			}
		}
	}
	if d := cmp.Diff([]int{2, 4, 5}, order); d != "" {
		t.Error(d)
	}
	if r, w := m.running.Load(), m.waiting.Load(); r != 1 || w != 0 {
		t.Errorf("running %d, waiting %d; want 1, 0", r, w)
	}
}

func TestAbandonAfterAdmission(t *testing.T) {
	m := newModel(config.Latency{MaxSeqs: 1, BlockSize: 16, KVBlocks: 1})
	a, b, c := newSequence(0), newSequence(1), newSequence(2)
	m.enter(a)
	m.enter(b)
	m.enter(c)
	m.leave(a) // b is in now
	m.abandon(b)
	select {
	case <-c.ready:
	default:
		t.Error("the place of a sequence that left right after it was admitted is lost")
	}
}

func TestPrefill(t *testing.T) {
	m := newModel(config.Latency{TTFT: 10 * time.Millisecond, PrefillPerToken: time.Millisecond, PrefillLanes: 1, PrefixCache: true, BlockSize: 2, KVBlocks: 8})
	steps := []struct {
		text   string
		cached int
		due    int64 // ms, admitted at 0
	}{
		{"a b c d e", 0, 15},
		{"a b c d f", 4, 16}, // one token, after the 5 ms that the lane is taken
		{"a b x y", 2, 18},
		{"a b", 0, 20}, // a hit, but the last block is computed anyway
		{"y b c", 0, 23},
	}
	for _, s := range steps {
		q := newSequence(0)
		m.enter(q)
		if due := m.first(0, q, wordsOf(s.text, 2), 1); q.cached != s.cached || due != s.due*ms {
			t.Errorf("%q: cached %d, due %v; want %d, %d ms", s.text, q.cached, time.Duration(due), s.cached, s.due)
		}
	}
}

func TestCacheForgets(t *testing.T) {
	c := newPrefixCache(3)
	c.visit([]uint64{1, 2, 3})
	c.visit([]uint64{1, 4}) // 3 goes, the end of the longest unused prompt
	for _, tt := range []struct {
		blocks []uint64
		want   int
	}{{[]uint64{1, 4}, 2}, {[]uint64{1, 2}, 2}, {[]uint64{3}, 0}} {
		if got := c.visit(slices.Clone(tt.blocks)); got != tt.want {
			t.Errorf("visit %v: %d hits, want %d", tt.blocks, got, tt.want)
		}
	}
	if len(c.blocks) != 3 || c.order.Len() != 3 {
		t.Errorf("%d blocks, %d in order, want 3", len(c.blocks), c.order.Len())
	}
}

func TestStepGrowsWithTheBatch(t *testing.T) {
	m := newModel(config.Latency{ITL: 10 * time.Millisecond, ITLPerSeq: time.Millisecond, BlockSize: 16, KVBlocks: 4})
	var at int64
	for n := int64(1); n <= 4; n++ {
		q := newSequence(0)
		m.enter(q)
		m.first(0, q, wordsOf("a b c", 0), 13)
		next := m.next(at, q)
		if got := next - at; got != (10+n)*ms {
			t.Errorf("step with %d running takes %v", n, time.Duration(got))
		}
		at = next
		if got := m.usage(); got != float64(n)/4 {
			t.Errorf("cache use with %d running: %v", n, got)
		}
	}
}

func TestDraws(t *testing.T) {
	for _, dist := range []string{config.DistNormal, config.DistLognormal} {
		m := newModel(config.Latency{ITL: 10 * time.Millisecond, ITLStddev: 2 * time.Millisecond, Dist: dist, BlockSize: 1, KVBlocks: 1})
		const n = 20000
		var sum, squares float64
		for i := range n {
			// One draw from each request's stream: they must be independent.
			v := float64(m.next(0, newSequence(uint64(i)))) / float64(ms)
			sum += v
			squares += v * v
		}
		mean := sum / n
		sd := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-10) > 0.06 || math.Abs(sd-2) > 0.06 {
			t.Errorf("%s: mean %.3f, sd %.3f; want 10, 2", dist, mean, sd)
		}
	}
}

func TestOutputLength(t *testing.T) {
	tests := []struct {
		name   string
		o      config.Output
		p      params
		n      int
		finish string
	}{
		{"default", config.Output{Tokens: 64}, params{max: -1, maxC: -1}, 64, "stop"},
		{"limit", config.Output{Tokens: 64}, params{max: 100, maxC: -1}, 100, "length"},
		{"least", config.Output{Tokens: 64}, params{max: -1, maxC: -1, min: 80}, 80, "stop"},
		{"no end", config.Output{Tokens: 64}, params{max: -1, maxC: -1, ignoreEOS: true}, 64, "length"},
		{"drawn, no end", config.Output{Tokens: 64, TokensStddev: 5}, params{max: 500, maxC: -1, ignoreEOS: true}, 500, "length"},
		{"drawn, cut", config.Output{Tokens: 64, TokensStddev: 5}, params{max: 10, maxC: -1}, 10, "length"},
	}
	for _, tt := range tests {
		n, finish := outputLength(&tt.o, &tt.p, newSequence(0).rng)
		if n != tt.n || finish != tt.finish {
			t.Errorf("%s: %d, %s; want %d, %s", tt.name, n, finish, tt.n, tt.finish)
		}
	}
	short := 0
	for i := range 100 {
		n, finish := outputLength(&config.Output{Tokens: 64, TokensStddev: 8}, &params{max: 64, maxC: -1}, newSequence(uint64(i)).rng)
		if n < 64 {
			short++
		}
		if (n < 64) != (finish == "stop") {
			t.Errorf("%d of 64 tokens, finish %s", n, finish)
		}
	}
	if short < 30 || short > 70 {
		t.Errorf("%d of 100 answers ended before the mean length", short)
	}
}
