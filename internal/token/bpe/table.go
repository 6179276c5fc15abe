package bpe

import (
	"hash/maphash"
	"math/bits"
	"unicode/utf8"
)

// index finds ids by text. It holds ids and a part of each text's hash, and not the texts.
type index struct {
	seed  maphash.Seed
	slots []uint64 // upper half of the hash, and id+1; 0: free
}

func newIndex(n int) index {
	return index{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<bits.Len(uint(2*n+1)))}
}

func indexOf(tokens []string) index {
	x := newIndex(len(tokens))
	for id, text := range tokens {
		if text != "" {
			x.add(tokens, int32(id))
		}
	}
	return x
}

const hashHalf = 0xffffffff_00000000

// add makes the token of an id known. Of two ids with the same text the later counts.
func (x index) add(tokens []string, id int32) {
	mask := uint64(len(x.slots) - 1)
	text := tokens[id]
	h := maphash.String(x.seed, text)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := x.slots[i]
		if slot == 0 || slot&hashHalf == h&hashHalf && tokens[uint32(slot)-1] == text {
			x.slots[i] = h&hashHalf | uint64(id+1)
			return
		}
	}
}

func (x index) find(tokens []string, text string) int32 {
	mask := uint64(len(x.slots) - 1)
	h := maphash.String(x.seed, text)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := x.slots[i]
		if slot == 0 {
			return none
		}
		if slot&hashHalf == h&hashHalf && tokens[uint32(slot)-1] == text {
			return int32(uint32(slot)) - 1
		}
	}
}

func (x index) findBytes(tokens []string, text []byte) int32 {
	mask := uint64(len(x.slots) - 1)
	h := maphash.Bytes(x.seed, text)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := x.slots[i]
		if slot == 0 {
			return none
		}
		if slot&hashHalf == h&hashHalf && tokens[uint32(slot)-1] == string(text) {
			return int32(uint32(slot)) - 1
		}
	}
}

// pairs finds merges by two neighbours' ids, in a flat, open table that is at most half full.
type pairs struct {
	slots []pair
	shift uint8
}

type pair struct {
	key  uint64 // left and right; noPair: free
	rank uint32
	id   int32
}

const (
	noPair = ^uint64(0)
	noRank = ^uint32(0)
)

func newPairs(n int) pairs {
	size := bits.Len(uint(2*n + 1))
	p := pairs{slots: make([]pair, 1<<size), shift: uint8(64 - size)}
	for i := range p.slots {
		p.slots[i].key = noPair
	}
	return p
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// put adds a merge. Of two merges of the same pair the later counts.
func (p *pairs) put(g Merge) {
	key := pairKey(g.Left, g.Right)
	mask := uint64(len(p.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> p.shift; ; i = (i + 1) & mask {
		if s := &p.slots[i]; s.key == noPair || s.key == key {
			*s = pair{key, g.Rank, g.New}
			return
		}
	}
}

// get returns the rank of a merge and what it makes; noRank where there is none.
func (p *pairs) get(left, right int32) (uint32, int32) {
	key := pairKey(left, right)
	mask := uint64(len(p.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> p.shift; ; i++ {
		s := &p.slots[i&mask]
		if s.key == key {
			return s.rank, s.id
		}
		if s.key == noPair {
			return noRank, none
		}
	}
}

// units finds the ids of single characters. Its pages exist where a character of
// theirs is a token.
type units struct {
	pages [(utf8.MaxRune + 1) >> 8]*[256]int32
}

func (u *units) put(r rune, id int32) {
	page := u.pages[r>>8]
	if page == nil {
		page = new([256]int32)
		for i := range page {
			page[i] = none
		}
		u.pages[r>>8] = page
	}
	page[r&0xff] = id
}

func (u *units) get(r rune) int32 {
	if page := u.pages[uint32(r)>>8]; page != nil {
		return page[r&0xff]
	}
	return none
}

// joints is a set of pairs of characters that may hold more than was put into it,
// never less. It is small enough to stay in the processor's cache.
type joints []uint64

const jointBits = 20

func newJoints() joints { return make(joints, 1<<jointBits/64) }

func jointHash(a, b int32) uint64 {
	return (pairKey(a, b) * 0x9e3779b97f4a7c15) >> (64 - jointBits)
}

func (j joints) put(a, b int32) {
	h := jointHash(a, b)
	j[h/64] |= 1 << (h % 64)
}

func (j joints) has(a, b int32) bool {
	h := jointHash(a, b)
	return j[h/64]>>(h%64)&1 != 0
}
