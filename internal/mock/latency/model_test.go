package latency

import (
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
)

func newSequence(n uint64) *Sequence { return &Sequence{Rand: rand.New(rand.NewPCG(1, n))} }

// blocksOf returns how many words a text has, and for each full block of them a hash of the text up to its end.
func blocksOf(text string, size int) (int, []uint64) {
	words := strings.Fields(text)
	var blocks []uint64
	for n := size; n <= len(words); n += size {
		h := fnv.New64()
		_, _ = io.WriteString(h, strings.Join(words[:n], " "))
		blocks = append(blocks, h.Sum64())
	}
	return len(words), blocks
}

const ms = int64(time.Millisecond)

func TestQueueIsFIFO(t *testing.T) {
	m := New(config.Latency{MaxSeqs: 2, BlockSize: 16, KVBlocks: 1})
	q := make([]*Sequence, 6)
	for i := range q {
		q[i] = newSequence(uint64(i))
		if got, want := m.Enter(q[i]), i < 2; got != want {
			t.Errorf("sequence %d admitted: %v, want %v", i, got, want)
		}
	}
	m.Abandon(q[3])
	var order []int
	for range 4 {
		m.Leave(q[0])
		for i := 2; i < len(q); i++ {
			select {
			case <-q[i].Ready:
				order = append(order, i)
				q[i].Ready = nil
			default:
			}
		}
	}
	if d := cmp.Diff([]int{2, 4, 5}, order); d != "" {
		t.Error(d)
	}
	if r, w := m.Running.Load(), m.Waiting.Load(); r != 1 || w != 0 {
		t.Errorf("running %d, waiting %d; want 1, 0", r, w)
	}
}

func TestAbandonAfterAdmission(t *testing.T) {
	m := New(config.Latency{MaxSeqs: 1, BlockSize: 16, KVBlocks: 1})
	a, b, c := newSequence(0), newSequence(1), newSequence(2)
	m.Enter(a)
	m.Enter(b)
	m.Enter(c)
	m.Leave(a) // b is in now
	m.Abandon(b)
	select {
	case <-c.Ready:
	default:
		t.Error("the place of a sequence that left right after it was admitted is lost")
	}
}

func TestPrefill(t *testing.T) {
	m := New(config.Latency{TTFT: 10 * time.Millisecond, PrefillPerToken: time.Millisecond, PrefillLanes: 1, PrefixCache: true, BlockSize: 2,
		KVBlocks: 8})
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
		m.Enter(q)
		n, blocks := blocksOf(s.text, 2)
		if due := m.First(0, q, n, 1, blocks); q.Cached != s.cached || due != s.due*ms {
			t.Errorf("%q: cached %d, due %v; want %d, %d ms", s.text, q.Cached, time.Duration(due), s.cached, s.due)
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
	m := New(config.Latency{ITL: 10 * time.Millisecond, ITLPerSeq: time.Millisecond, BlockSize: 16, KVBlocks: 4})
	var at int64
	for n := int64(1); n <= 4; n++ {
		q := newSequence(0)
		m.Enter(q)
		m.First(0, q, 3, 13, nil)
		next := m.Next(at, q)
		if got := next - at; got != (10+n)*ms {
			t.Errorf("step with %d running takes %v", n, time.Duration(got))
		}
		at = next
		if got := m.Usage(); got != float64(n)/4 {
			t.Errorf("cache use with %d running: %v", n, got)
		}
	}
}

func TestDraws(t *testing.T) {
	for _, dist := range []string{config.DistNormal, config.DistLognormal} {
		m := New(config.Latency{ITL: 10 * time.Millisecond, ITLStddev: 2 * time.Millisecond, Dist: dist, BlockSize: 1, KVBlocks: 1})
		const n = 20000
		var sum, squares float64
		for i := range n {
			// One draw from each request's stream: they must be independent.
			v := float64(m.Next(0, newSequence(uint64(i)))) / float64(ms)
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
