package unigram

import "hash/maphash"

// lattice is the working memory of Encode, for one goroutine at a time. It remembers
// pieces: most words of a text come again.
type lattice struct {
	nodes []node
	path  []step
	seed  maphash.Seed
	known []entry
}

// entry is a piece that was encoded before. It fills one line of the processor's cache;
// longer pieces and longer results are not kept.
type entry struct {
	length uint8 // of the piece; 0: nothing here
	count  uint8 // of ids
	text   [maxText]byte
	ids    [maxIDs]int32
}

const (
	maxText = 30
	maxIDs  = 8
	entries = 1 << 14
)

// recall appends the ids of a short piece, from those that are known where it is there.
func (l *lattice) recall(dst []int32, piece string, m *Model) []int32 {
	if l.known == nil {
		l.known = make([]entry, entries)
	}
	e := &l.known[maphash.String(l.seed, piece)%entries]
	if int(e.length) == len(piece) && string(e.text[:e.length]) == piece {
		return append(dst, e.ids[:e.count]...)
	}
	start := len(dst)
	dst = m.encode(dst, l, piece)
	if n := len(dst) - start; n <= maxIDs {
		e.length, e.count = uint8(len(piece)), uint8(n)
		copy(e.text[:], piece)
		copy(e.ids[:], dst[start:])
	}
	return dst
}
