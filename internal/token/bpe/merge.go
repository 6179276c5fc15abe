package bpe

import "slices"

type merger struct {
	ids   []int32  // of the symbols
	ranks []uint32 // of merging symbol i with the next
	news  []int32  // what that makes
	next  []int32
	prev  []int32
	heap  []uint64 // rank and position
}

// linear is up to how many symbols looking at all of them for each merge is faster
// than a heap.
const linear = 80

func (w *merger) merge(dst []int32, p *pairs) []int32 {
	if len(w.ids) > longRun {
		defer w.release()
		if !w.mergeLong(p, longRun) {
			return append(dst, w.ids...)
		}
	}
	n := len(w.ids)
	if n < 2 {
		return append(dst, w.ids...)
	}
	if cap(w.ranks) < n {
		w.ranks = make([]uint32, n+n/2)
		w.news = make([]int32, n+n/2)
	}
	w.ranks, w.news = w.ranks[:n], w.news[:n]
	for i := range n - 1 {
		w.ranks[i], w.news[i] = p.get(w.ids[i], w.ids[i+1])
	}
	w.ranks[n-1] = noRank
	if n > linear {
		return w.mergeHeap(dst, p)
	}
	return w.mergeLinear(dst, p)
}

// release gives up the memory of an unusually long run.
func (w *merger) release() { *w = merger{} }

// mergeLinear merges a short run of symbols.
func (w *merger) mergeLinear(dst []int32, p *pairs) []int32 {
	ids, ranks, news := w.ids, w.ranks, w.news
	for {
		best, at := noRank, 0
		for i, r := range ranks {
			if r < best {
				best, at = r, i
			}
		}
		if best == noRank {
			return append(dst, ids...)
		}
		ids[at] = news[at]
		n := len(ids) - 1
		copy(ids[at+1:], ids[at+2:])
		copy(ranks[at:], ranks[at+1:])
		copy(news[at:], news[at+1:])
		ids, ranks, news = ids[:n], ranks[:n], news[:n]
		if at > 0 {
			ranks[at-1], news[at-1] = p.get(ids[at-1], ids[at])
		}
		if at < n-1 {
			ranks[at], news[at] = p.get(ids[at], ids[at+1])
		}
	}
}

// mergeHeap merges a long run of symbols in n log n steps.
func (w *merger) mergeHeap(dst []int32, p *pairs) []int32 {
	n := len(w.ids)
	if cap(w.next) < n {
		w.next, w.prev = make([]int32, n+n/2), make([]int32, n+n/2)
	}
	w.next, w.prev, w.heap = w.next[:n], w.prev[:n], w.heap[:0]
	for i := range n {
		w.next[i], w.prev[i] = int32(i+1), int32(i-1)
		if w.ranks[i] != noRank {
			w.heap = append(w.heap, uint64(w.ranks[i])<<32|uint64(i))
		}
	}
	// Sorted, it is a heap. What repeats itself is nearly sorted from the start.
	slices.Sort(w.heap)
	for len(w.heap) > 0 {
		top := w.pop()
		at := int32(uint32(top))
		if w.ranks[at] != uint32(top>>32) {
			continue // the symbols there have changed
		}
		gone := w.next[at]
		w.ids[at] = w.news[at]
		w.ranks[gone], w.ids[gone] = noRank, none
		after := w.next[gone]
		w.next[at] = after
		if int(after) < n {
			w.prev[after] = at
			w.rate(at, after, p)
		} else {
			w.ranks[at] = noRank
		}
		if before := w.prev[at]; before >= 0 {
			w.rate(before, at, p)
		}
	}
	for i := int32(0); int(i) < n; i = w.next[i] {
		dst = append(dst, w.ids[i])
	}
	return dst
}

// rate looks up the merge of two neighbours and queues it.
func (w *merger) rate(a, b int32, p *pairs) {
	w.ranks[a], w.news[a] = p.get(w.ids[a], w.ids[b])
	if w.ranks[a] == noRank {
		return
	}
	w.push(uint64(w.ranks[a])<<32 | uint64(a))
}

// push adds an entry to the heap, each node of which has four children.
func (w *merger) push(v uint64) {
	w.heap = append(w.heap, v)
	h, i := w.heap, len(w.heap)-1
	for i > 0 {
		up := (i - 1) / 4
		if h[up] <= v {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = v
}

func (w *merger) pop() uint64 {
	h := w.heap
	top, v := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	w.heap = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(h)); c++ {
			if h[c] < h[least] {
				least = c
			}
		}
		if v <= h[least] {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = v
	return top
}
