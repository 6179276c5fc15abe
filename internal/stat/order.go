package stat

import (
	"math/bits"
	"slices"
	"sync"
)

// Order statistics are found by counting. The first pass counts samples in cells
// whose width grows with the distance from the least sample; the cells that hold a
// wanted rank are then looked into again, by collecting their samples where they are
// few and by counting in finer cells where they are many, until every wanted rank is
// a single value. Memory is bounded by the number of ranks, not of samples.

const (
	rootBits   = 11   // the root has 1<<rootBits cells for each power of two
	nodeBits   = 11   // other nodes have up to 1<<nodeBits cells
	fewSamples = 4096 // collected and sorted rather than counted
	sets       = int(Both) + 1
)

// cells counts samples by cell and by the sets they are in.
type cells [][sets]uint32

// root is the first level of cells.
type root struct {
	counts cells
	kids   []*node  // by cell; nil means no rank is wanted there
	open   []uint64 // a bit for each cell: whether it has had a kid
	all    *node    // in place of cells where there are few samples at all
	seen   int64    // samples
}

// newRoot prepares for n samples, the greatest of which lies so far from the least.
func newRoot(span uint64, n int64) *root {
	if n <= fewSamples {
		return &root{all: &node{vals: make([]uint64, 0, n)}}
	}
	return &root{counts: make(cells, rootIndex(span)+1)}
}

// merge adds the samples of another root of the same preparation.
func (r *root) merge(o *root) {
	r.seen += o.seen
	if r.all != nil {
		r.all.vals = append(r.all.vals, o.all.vals...)
		return
	}
	for i := range o.counts {
		from, to := &o.counts[i], &r.counts[i]
		for k := range to {
			to[k] += from[k]
		}
	}
}

// rootIndex is the cell of distance d: exact up to 1<<(rootBits+1), then rootBits bits behind the
// first.
func rootIndex(d uint64) int {
	e := max(bits.Len64(d)-rootBits-1, 0)
	return e<<rootBits + int(d>>e)
}

// rootCell is where cell i begins, and the logarithm of its width.
func rootCell(i int) (lo uint64, width int) {
	if i < 2<<rootBits {
		return uint64(i), 0
	}
	e := i>>rootBits - 1
	return uint64(i-e<<rootBits) << e, e
}

func (r *root) add(stored []int64, base int64) {
	r.seen += int64(len(stored))
	if r.all != nil {
		for _, s := range stored {
			r.all.vals = append(r.all.vals, pack(s, base))
		}
		return
	}
	counts := r.counts
	for i := 0; i < len(stored); {
		s, from := stored[i], i
		for i++; i < len(stored) && stored[i] == s; i++ {
		}
		counts[rootIndex(uint64(s>>setBits)-uint64(base))][s&int64(Both)] += uint32(i - from)
	}
}

// pack is a stored sample as distance and sets: packed values sort by distance.
func pack(s, base int64) uint64 { return uint64(s) - uint64(base)<<setBits }

type node struct {
	lo     uint64 // where it begins
	width  int    // logarithm of its width
	below  [2]int64
	wanted [2][]int64 // ranks of each set that lie in it, ascending

	vals   []uint64 // its samples, where they are few
	counts cells    // else its finer cells
	fine   int      // logarithm of their width
	kids   []*node
}

func newNode(lo uint64, width int, n int64) *node {
	if n <= fewSamples {
		return &node{lo: lo, width: width, vals: make([]uint64, 0, n)}
	}
	fine := max(width-nodeBits, 0)
	return &node{lo: lo, width: width, fine: fine, counts: make(cells, 1<<(width-fine))}
}

type selection struct {
	root   *root
	wanted [2][]int64
	found  [2]map[int64]uint64
	open   int // nodes to be filled by the next pass
	mu     sync.Mutex
}

// want asks for the ranks that the quantiles of a set of n samples need.
func (l *selection) want(set int, n int64, qs []float64, rule Rule) {
	if n == 0 {
		return
	}
	var ranks []int64
	for _, q := range qs {
		lo, hi, _ := rule.ranks(n, q)
		ranks = append(ranks, lo, hi)
	}
	l.wantRanks(set, ranks)
}

func (l *selection) wantRanks(set int, ranks []int64) {
	slices.Sort(ranks)
	l.wanted[set] = slices.Compact(ranks)
	l.found[set] = make(map[int64]uint64, len(ranks))
}

// begin looks for the ranks in the counted cells; those that are not found by that are open.
func (l *selection) begin() {
	r := l.root
	if r.all != nil {
		r.all.wanted = l.wanted
		l.pick(r.all)
		return
	}
	r.kids = make([]*node, len(r.counts))
	l.descend(r.counts, r.kids, [2]int64{}, l.wanted, rootCell)
	r.open = make([]uint64, len(r.counts)/64+1)
	for i, n := range r.kids {
		if n != nil {
			r.open[i/64] |= 1 << (i % 64)
		}
	}
}

// descend goes through counted cells in order and opens a node for each that holds a
// wanted rank. cell says where a cell begins and how wide it is.
func (l *selection) descend(counts cells, kids []*node, below [2]int64, wanted [2][]int64, cell func(int) (uint64, int)) {
	for i := range counts {
		if len(wanted[0]) == 0 && len(wanted[1]) == 0 {
			return
		}
		c := &counts[i]
		in := [2]int64{int64(c[First]) + int64(c[Both]), int64(c[Second]) + int64(c[Both])}
		var here [2][]int64
		for set := range here {
			k := 0
			for k < len(wanted[set]) && wanted[set][k] < below[set]+in[set] {
				k++
			}
			here[set], wanted[set] = wanted[set][:k], wanted[set][k:]
		}
		if len(here[0]) > 0 || len(here[1]) > 0 {
			lo, width := cell(i)
			if width == 0 {
				l.setRanks(here, lo)
			} else {
				n := newNode(lo, width, int64(c[First])+int64(c[Second])+int64(c[Both]))
				n.below, n.wanted = below, here
				kids[i] = n
				l.open++
			}
		}
		below[0] += in[0]
		below[1] += in[1]
	}
}

// setRanks records that the ranks have the value d.
func (l *selection) setRanks(ranks [2][]int64, d uint64) {
	for set := range ranks {
		for _, r := range ranks[set] {
			l.found[set][r] = d
		}
	}
}

// hit is equal samples that lie in a cell with a node.
type hit struct {
	cell   int
	stored int64
	equal  int
}

// fill adds samples to the nodes that are open in several selections, which have cells of the same kind:
// open has those of all. It may be called by several goroutines at a time: few samples lie in nodes, and those
// alone are put there under a lock.
func fill(all []*selection, open []uint64, stored []int64, base int64) {
	var hits [64]hit
	n := 0
	for i := 0; i < len(stored); {
		s, from := stored[i], i
		for i++; i < len(stored) && stored[i] == s; i++ {
		}
		cell := rootIndex(uint64(s>>setBits) - uint64(base))
		if open[cell/64]>>(cell%64)&1 == 0 {
			continue
		}
		hits[n] = hit{cell: cell, stored: s, equal: i - from}
		if n++; n == len(hits) {
			for _, l := range all {
				l.put(hits[:n], base)
			}
			n = 0
		}
	}
	for _, l := range all {
		l.put(hits[:n], base)
	}
}

// put adds hits to their nodes.
func (l *selection) put(hits []hit, base int64) {
	if len(hits) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range hits {
		d := uint64(h.stored>>setBits) - uint64(base)
		n := l.root.kids[h.cell]
		for n != nil && n.kids != nil {
			n = n.kids[(d-n.lo)>>n.fine]
		}
		switch {
		case n == nil:
		case n.counts != nil:
			n.counts[(d-n.lo)>>n.fine][h.stored&int64(Both)] += uint32(h.equal)
		default:
			for range h.equal {
				n.vals = append(n.vals, pack(h.stored, base))
			}
		}
	}
}

// resolveNodes takes the filled nodes below kids further: collected ones give their
// values and are closed, counted ones get nodes of their own.
func (l *selection) resolveNodes(kids []*node) {
	for i, n := range kids {
		switch {
		case n == nil:
		case n.kids != nil:
			l.resolveNodes(n.kids)
		case n.counts != nil:
			n.kids = make([]*node, len(n.counts))
			l.descend(n.counts, n.kids, n.below, n.wanted, func(j int) (uint64, int) {
				return n.lo + uint64(j)<<n.fine, n.fine
			})
			n.counts = nil
		default:
			l.pick(n)
			kids[i] = nil
		}
	}
}

// pick finds the wanted ranks of a node among its collected samples.
func (l *selection) pick(n *node) {
	slices.Sort(n.vals)
	rank := n.below
	wanted := n.wanted
	for _, v := range n.vals {
		for set := range wanted {
			if v&(1<<set) == 0 {
				continue
			}
			if len(wanted[set]) > 0 && wanted[set][0] == rank[set] {
				l.found[set][rank[set]] = v >> setBits
				wanted[set] = wanted[set][1:]
			}
			rank[set]++
		}
	}
	n.vals = nil
}

// quantiles reads off the quantiles of a set once its ranks are found.
func (l *selection) quantiles(set int, n, base int64, qs []float64, rule Rule) []float64 {
	if n == 0 || l.found[set] == nil {
		return nil
	}
	out := make([]float64, len(qs))
	for i, q := range qs {
		lo, hi, w := rule.ranks(n, q)
		out[i] = between(base+int64(l.found[set][lo]), base+int64(l.found[set][hi]), w)
	}
	return out
}
