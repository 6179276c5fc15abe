package adapters

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/prompt"
)

// deck deals out adapters, block by block: each block has its shares in a random order.
type deck struct {
	shares []float64
	block  int
	exact  bool // a block has an integer of each share
	seed   uint64
	last   atomic.Pointer[hand] // the block that was made last, or nil

	mu    sync.Mutex
	given []int    // by adapter, in the counts that are known
	known [][]int8 // how many each adapter has in a block, by block
}

// hand is a shuffled block.
type hand struct {
	stage, number uint64
	cards         []int
}

// The length of a block: a server cannot tell what comes next, and a short stage has its shares.
const (
	shortest = 20
	longest  = 100
)

// block is how many prompts have an integer of each share; not exact: about.
func block(shares []float64) (n int, exact bool) {
	for n := 1; n <= longest; n++ {
		whole := true
		for _, s := range shares {
			_, rest := math.Modf(s*float64(n) + 1e-6)
			whole = whole && rest < 2e-6
		}
		if whole {
			return (shortest + n - 1) / n * n, true
		}
	}
	return longest, false
}

func (d *deck) adapter(p prompt.Position) int {
	number, i := p.I/uint64(d.block), p.I%uint64(d.block)
	h := d.last.Load()
	if h == nil || h.number != number || h.stage != p.Stage {
		h = d.shuffle(p.Stage, number)
		d.last.Store(h)
	}
	return h.cards[i]
}

func (d *deck) shuffle(stage, number uint64) *hand {
	h := &hand{stage: stage, number: number, cards: make([]int, 0, d.block)}
	for i, n := range d.count(number) {
		for range n {
			h.cards = append(h.cards, i)
		}
	}
	rng := rand.New(rand.NewPCG(d.seed, prompt.Mix(prompt.Position{Stage: stage, I: number}.Number())))
	rng.Shuffle(len(h.cards), func(i, j int) { h.cards[i], h.cards[j] = h.cards[j], h.cards[i] })
	return h
}

// count is how many each adapter has in a block. What a share lacks of an integer is
// kept for the blocks that follow: no adapter is ever a whole prompt off at the end of a block.
func (d *deck) count(number uint64) []int8 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.exact {
		number = 0 // all are alike
	}
	for number >= uint64(len(d.known)) {
		dealt := float64(d.block * (len(d.known) + 1))
		before := slices.Clone(d.given)
		for range d.block {
			most, lack := 0, math.Inf(-1)
			for i, share := range d.shares {
				if l := share*dealt - float64(d.given[i]); l > lack {
					most, lack = i, l
				}
			}
			d.given[most]++
		}
		counts := make([]int8, len(d.given))
		for i := range counts {
			counts[i] = int8(d.given[i] - before[i])
		}
		d.known = append(d.known, counts)
	}
	return d.known[number]
}
