package jsonscan

import (
	"encoding/binary"
	"math"
)

// Member is a member of an object by name, and how its value is read into a T.
type Member[T any] struct {
	Name string
	Read func(s *Scanner, to *T)
}

// Members are those of an object that a program has written, which has them in the same order
// every time. It is never changed, and may be used by many goroutines.
type Members[T any] struct {
	list   []Member[T]
	keys   []key
	byName map[string]uint8
}

// Order is which member came behind which in the last object that was read.
type Order []uint8

// NewMembers makes a table of members, of which there can be 254. No name needs an escape.
func NewMembers[T any](list ...Member[T]) *Members[T] {
	m := &Members[T]{list: list, byName: map[string]uint8{}}
	for i := range list {
		m.keys = append(m.keys, newKey(list[i].Name))
		m.byName[list[i].Name] = uint8(i + 1)
	}
	return m
}

// Read reads the object that comes next, and skips members that are not in the table. What came
// behind a member in the last object is what is looked for behind it first.
func (m *Members[T]) Read(s *Scanner, order *Order, to *T) {
	if *order == nil {
		*order = make(Order, len(m.list)+1)
	}
	s.Object()
	after, last := *order, uint8(0)
	for {
		next := after[last]
		if next == 0 || !s.isKey(&m.keys[next-1]) {
			key, ok := s.Key()
			if !ok {
				return
			}
			if next = m.byName[string(key)]; next == 0 {
				s.Skip()
				continue
			}
			after[last] = next
		}
		m.list[next-1].Read(s, to)
		last = next
	}
}

// key is the name of a member as it stands behind another member: a comma, the name in quotes, a colon.
type key struct {
	text        string
	first, last uint64 // its first eight bytes, and its last; of a shorter one those that there are
	mask        uint64 // of the bytes in first
}

func newKey(name string) key {
	k := key{text: `,"` + name + `":`, mask: math.MaxUint64}
	bytes := append([]byte(k.text), make([]byte, 8)...)
	k.first = binary.LittleEndian.Uint64(bytes)
	if n := len(k.text); n < 8 {
		k.mask >>= 8 * (8 - n)
	} else {
		k.last = binary.LittleEndian.Uint64(bytes[n-8:])
	}
	return k
}

// isKey takes a key if it is this one, with nothing between.
func (s *Scanner) isKey(k *key) bool {
	rest := s.data[s.pos:]
	n := len(k.text)
	switch {
	case s.fresh || len(rest) < n+8:
		text := k.text
		if s.fresh {
			text = text[1:]
		}
		if n = len(text); len(rest) < n || string(rest[:n]) != text {
			return false
		}
	case binary.LittleEndian.Uint64(rest)&k.mask != k.first:
		return false
	case n > 8 && binary.LittleEndian.Uint64(rest[n-8:]) != k.last, n > 16 && string(rest[8:n-8]) != k.text[8:n-8]:
		return false
	}
	s.pos += n
	s.fresh = false
	return true
}
