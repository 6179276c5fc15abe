package bpe

import "slices"

// longRun is how many symbols mergeHeap may take: it needs some 40 bytes for each of them. Of
// more, as in a text of megabytes without a space, mergeLong needs a quarter.
const longRun = 1 << 20

// mergeLong merges w.ids until no more than floor symbols are left or nothing merges any more. It
// makes the merges of mergeHeap in the same order, but queues only the next of them: those up to
// some rank, found anew whenever they are used up. Symbols that are gone stay as none until then.
// It reports whether there may be more to merge.
func (w *merger) mergeLong(p *pairs, floor int) (more bool) {
	for len(w.ids) > floor {
		rank, alone, ok := w.band(p)
		switch {
		case !ok:
			return false
		case alone:
			w.sweep(p, rank)
		default:
			w.mergeBand(p, rank)
		}
		w.ids = slices.DeleteFunc(w.ids, func(id int32) bool { return id == none })
	}
	w.heap = nil
	return true
}

// band is up to which rank to merge next: about an eighth of all merges, by a sample. A rank with
// far more than its share is merged alone, without a queue. !ok: nothing can be merged.
func (w *merger) band(p *pairs) (rank uint32, alone, ok bool) {
	const samples = 4096
	var seen []uint32
	for i := 0; i+1 < len(w.ids); i += max(1, len(w.ids)/samples) {
		if r, _ := p.get(w.ids[i], w.ids[i+1]); r != noRank {
			seen = append(seen, r)
		}
	}
	least := noRank
	for i := range len(w.ids) - 1 {
		r, _ := p.get(w.ids[i], w.ids[i+1])
		least = min(least, r)
	}
	if least == noRank || len(seen) == 0 {
		return noRank - 1, false, least != noRank
	}
	slices.Sort(seen)
	rank = seen[len(seen)/8]
	first, _ := slices.BinarySearch(seen, rank)
	last, _ := slices.BinarySearch(seen, rank+1)
	switch {
	case last-first <= len(seen)/4:
		return rank, false, true
	case least < rank:
		return rank - 1, false, true
	}
	return rank, true, true
}

func (w *merger) mergeBand(p *pairs, rank uint32) {
	bound := uint64(rank+1) << 32
	n := 0
	for i := range len(w.ids) - 1 {
		if r, _ := p.get(w.ids[i], w.ids[i+1]); r <= rank {
			n++
		}
	}
	w.heap = slices.Grow(w.heap[:0], n)
	for i := range len(w.ids) - 1 {
		if r, _ := p.get(w.ids[i], w.ids[i+1]); r <= rank {
			w.heap = append(w.heap, uint64(r)<<32|uint64(i))
		}
	}
	slices.Sort(w.heap)
	w.drain(p, bound, bound)
}

// sweep makes all merges of the least rank from left to right, and lesser ones that come up.
func (w *merger) sweep(p *pairs, rank uint32) {
	w.heap = w.heap[:0]
	for at := 0; at < len(w.ids); {
		bound := uint64(rank)<<32 | uint64(at)
		w.drain(p, bound, bound)
		next := w.after(at)
		if w.ids[at] == none || next == len(w.ids) {
			at = next
			continue
		}
		if r, made := p.get(w.ids[at], w.ids[next]); r == rank {
			w.join(at, next, made, p, bound)
		} else {
			at = next
		}
	}
	w.drain(p, uint64(rank+1)<<32, uint64(rank+1)<<32)
}

// drain makes the queue's merges before a bound, and queues what comes up before the other.
func (w *merger) drain(p *pairs, until, bound uint64) {
	for len(w.heap) > 0 && w.heap[0] < until {
		top := w.pop()
		at := int(uint32(top))
		next := w.after(at)
		if w.ids[at] == none || next == len(w.ids) {
			continue
		}
		if r, made := p.get(w.ids[at], w.ids[next]); r == uint32(top>>32) {
			w.join(at, next, made, p, bound)
		}
	}
}

// join makes one symbol of two, and queues the merges with its neighbours that are before a bound.
func (w *merger) join(at, next int, made int32, p *pairs, bound uint64) {
	w.ids[at], w.ids[next] = made, none
	queue := func(a, b int) {
		if r, _ := p.get(w.ids[a], w.ids[b]); r != noRank && uint64(r)<<32|uint64(a) < bound {
			w.push(uint64(r)<<32 | uint64(a))
		}
	}
	if next = w.after(next); next < len(w.ids) {
		queue(at, next)
	}
	before := at - 1
	for before >= 0 && w.ids[before] == none {
		before--
	}
	if before >= 0 {
		queue(before, at)
	}
}

// after is the place of the next symbol that is not gone. What is gone was part of the one before:
// there are never more of them in a row than a token has.
func (w *merger) after(at int) int {
	for at++; at < len(w.ids) && w.ids[at] == none; at++ {
	}
	return at
}
