package bpe

import (
	"hash/maphash"
	"unicode/utf8"
)

// Worker encodes pieces for one goroutine at a time.
type Worker struct {
	m     *Model
	seed  maphash.Seed
	cache []entry
	merger
}

// entry is a piece that was encoded before. It fills one line of the processor's
// cache; longer pieces and longer results are not kept.
type entry struct {
	length uint8 // of the piece; 0: nothing here
	count  uint8 // of ids
	text   [maxText]byte
	ids    [maxIDs]int32
}

const (
	maxText   = 22
	maxIDs    = 10
	cacheSize = 1 << 14
)

// Encode appends the ids of a piece.
func (w *Worker) Encode(dst []int32, piece string) []int32 {
	m := w.m
	if m.segment && len(piece) > 0 {
		if m.ignoreMerges {
			if id := m.lookup(piece); id != none {
				return append(dst, id)
			}
		}
		return w.encodeSegments(dst, piece)
	}
	return w.encodeSegment(dst, piece)
}

// encodeCached encodes a short piece, from the cache where it is there.
func (w *Worker) encodeCached(dst []int32, piece string) []int32 {
	if w.cache == nil {
		w.cache = make([]entry, cacheSize)
	}
	e := &w.cache[maphash.String(w.seed, piece)%cacheSize]
	if int(e.length) == len(piece) && string(e.text[:e.length]) == piece {
		return append(dst, e.ids[:e.count]...)
	}
	start := len(dst)
	dst = w.encodeNew(dst, piece)
	if n := len(dst) - start; n <= maxIDs {
		e.length, e.count = uint8(len(piece)), uint8(n)
		copy(e.text[:], piece)
		copy(e.ids[:], dst[start:])
	}
	return dst
}

// encodeNew encodes a piece without looking into the cache.
func (w *Worker) encodeNew(dst []int32, piece string) []int32 {
	m := w.m
	if m.ignoreMerges && !m.segment {
		if id := m.lookup(piece); id != none {
			return append(dst, id)
		}
	}
	w.ids = w.ids[:0]
	if len(piece) > longRun && m.raw {
		w.ids = make([]int32, 0, len(piece))
	}
	if m.raw && m.suffix == "" && m.prefix == "" {
		for i := range len(piece) {
			id := m.byteID[piece[i]]
			if id == none {
				w.ids = m.appendUnits(w.ids[:0], piece)
				break
			}
			w.ids = append(w.ids, id)
		}
	} else {
		w.ids = m.appendUnits(w.ids, piece)
	}
	return w.merge(dst, &m.pairs)
}

// encodeSegments cuts a piece where no token can reach across, and encodes the parts. Beside a
// character that is no token it does not cut: such neighbours may become one.
func (w *Worker) encodeSegments(dst []int32, piece string) []int32 {
	m := w.m
	start, before := 0, int32(none)
	for i, r := range piece {
		id := m.units.get(r)
		if before != none && id != none && !m.joints.has(before, id) {
			dst = w.encodeSegment(dst, piece[start:i])
			start = i
		}
		if id == none && m.fallbackAll {
			if start < i {
				dst = w.encodeSegment(dst, piece[start:i])
			}
			size := utf8.RuneLen(r)
			for _, b := range []byte(piece[i : i+size]) {
				dst = append(dst, m.byteID[b])
			}
			start = i + size
		}
		before = id
	}
	if start < len(piece) {
		dst = w.encodeSegment(dst, piece[start:])
	}
	return dst
}

func (w *Worker) encodeSegment(dst []int32, text string) []int32 {
	if len(text) > maxText {
		return w.encodeNew(dst, text)
	}
	return w.encodeCached(dst, text)
}

// appendUnits appends the ids of a piece's bytes or characters, or what stands for them. An unknown
// character is held back until the next token, behind bytes that stand for characters, as in the
// reference.
func (m *Model) appendUnits(ids []int32, piece string) []int32 {
	held := 0 // unknown tokens to come
	for i := 0; i < len(piece); {
		size := 1
		if !m.raw {
			_, size = utf8.DecodeRuneInString(piece[i:])
		}
		text := m.dress(piece[i:i+size], i == 0, i+size == len(piece))
		id := m.lookup(text)
		i += size
		if id != none {
			if held > 0 {
				ids = append(ids, m.unknown)
				held = 0
			}
			ids = append(ids, id)
			continue
		}
		if m.fallback && !m.raw {
			if all, ok := m.appendBytes(ids, text); ok {
				ids = all
				continue
			}
		}
		if m.unknown == none {
			continue
		}
		if held > 0 && !m.fuse {
			ids = append(ids, m.unknown)
		}
		held = 1
	}
	if held > 0 {
		ids = append(ids, m.unknown)
	}
	return ids
}

// dress puts the prefix and the suffix of the vocabulary to one character of a piece.
func (m *Model) dress(text string, first, last bool) string {
	if !first && m.prefix != "" {
		text = m.prefix + text
	}
	if last && m.suffix != "" {
		text += m.suffix
	}
	return text
}

// appendBytes appends the tokens of a character's bytes; false: one has none.
func (m *Model) appendBytes(ids []int32, text string) ([]int32, bool) {
	for i := range len(text) {
		id := m.byteID[text[i]]
		if id == none {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}
