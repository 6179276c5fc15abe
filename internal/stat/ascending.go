package stat

import (
	"cmp"
	"slices"
)

// Ascending are the places of keys, at most 1<<32, in the order of their size; equal ones keep theirs.
// It sorts by the upper halves, and by the lower ones where those are equal.
func Ascending(keys []uint64) []uint32 {
	halves := make([]uint32, len(keys))
	for i, k := range keys {
		halves[i] = uint32(k >> 32)
	}
	order := AscendingShort(halves)
	for begin := 0; begin < len(order); {
		end, high := begin+1, keys[order[begin]]>>32
		for end < len(order) && keys[order[end]]>>32 == high {
			end++
		}
		if end-begin > 1 {
			byLower(keys, order[begin:end], halves[:end-begin])
		}
		begin = end
	}
	return order
}

// byLower sorts places of keys whose upper halves are equal. It has room for as many halves.
func byLower(keys []uint64, order, halves []uint32) {
	if len(order) <= mostCompared {
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
		return
	}
	for i, at := range order {
		halves[i] = uint32(keys[at])
	}
	sorted := AscendingShort(halves)
	for i, place := range sorted {
		sorted[i] = order[place]
	}
	copy(order, sorted)
}

// keyed is a key and its place.
type keyed struct{ key, at uint32 }

// mostCompared is up to how many keys are sorted by comparing them.
const mostCompared = 1 << 10

// AscendingShort is Ascending of keys of 32 bits. Many are sorted by one byte after the other, which reads
// memory in order; comparing would not.
func AscendingShort(keys []uint32) []uint32 {
	out := make([]uint32, len(keys))
	if slices.IsSorted(keys) {
		for i := range out {
			out[i] = uint32(i)
		}
		return out
	}
	list := make([]keyed, len(keys))
	for i, k := range keys {
		list[i] = keyed{k, uint32(i)}
	}
	if len(list) <= mostCompared {
		slices.SortFunc(list, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	} else {
		list = byBytes(list)
	}
	for i := range list {
		out[i] = list[i].at
	}
	return out
}

// byBytes sorts keys by their lowest byte first.
func byBytes(list []keyed) []keyed {
	var counts [4][256]int
	for i := range list {
		k := list[i].key
		counts[0][byte(k)]++
		counts[1][byte(k>>8)]++
		counts[2][byte(k>>16)]++
		counts[3][byte(k>>24)]++
	}
	other := make([]keyed, len(list))
	for b := range counts {
		next, shift := &counts[b], bitsInByte*b
		if next[byte(list[0].key>>shift)] == len(list) {
			continue // all have the same
		}
		begin := 0
		for i, n := range next {
			next[i], begin = begin, begin+n
		}
		for _, k := range list {
			to := &next[byte(k.key>>shift)]
			other[*to] = k
			*to++
		}
		list, other = other, list
	}
	return list
}
