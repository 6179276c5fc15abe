// Package unidata has the character tables that tokenizers need. The reference's libraries, Hugging
// Face tokenizers', each know another Unicode, so these tables are sweeps of what it does, made by
// scripts/tokens/unidata.py.
package unidata

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

//go:embed sets.txt
var setsFile string

//go:embed properties.txt
var propertiesFile string

// Range is the characters from Lo to Hi, both included.
type Range struct{ Lo, Hi rune }

// Set is a set of characters that is fast to look into. NewSet makes one.
type Set struct {
	index  [(unicode.MaxRune + 1) >> 8]uint16
	blocks [][4]uint64
}

// NewSet makes a set of ranges in any order.
func NewSet(ranges []Range) *Set {
	s := &Set{blocks: [][4]uint64{{}}}
	full := uint16(0)
	for _, r := range ranges {
		for c := max(r.Lo, 0); c <= min(r.Hi, unicode.MaxRune); c++ {
			at := c >> 8
			if c&255 == 0 && c+255 <= r.Hi {
				if full == 0 {
					full = uint16(len(s.blocks))
					s.blocks = append(s.blocks, [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)})
				}
				s.index[at] = full
				c += 255
				continue
			}
			if s.index[at] == full && full != 0 {
				continue
			}
			if s.index[at] == 0 {
				s.index[at] = uint16(len(s.blocks))
				s.blocks = append(s.blocks, [4]uint64{})
			}
			s.blocks[s.index[at]][c>>6&3] |= 1 << (c & 63)
		}
	}
	return s
}

// Has tells whether r is in the set.
func (s *Set) Has(r rune) bool {
	if uint32(r) > unicode.MaxRune {
		return false
	}
	return s.blocks[s.index[r>>8]][r>>6&3]>>(r&63)&1 != 0
}

// Union is the ranges of both, in order, without overlap.
func Union(a, b []Range) []Range {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y Range) int { return int(x.Lo - y.Lo) })
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && r.Lo <= out[n-1].Hi+1 {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Not is the ranges of the characters outside a, which must be in order and without overlap.
func Not(a []Range) []Range {
	var out []Range
	next := rune(0)
	for _, r := range a {
		if r.Lo > next {
			out = append(out, Range{next, r.Lo - 1})
		}
		next = r.Hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, Range{next, unicode.MaxRune})
	}
	return out
}

// And is the ranges of the characters in both, which must be in order and without
// overlap.
func And(a, b []Range) []Range {
	return Not(Union(Not(a), Not(b)))
}

// HasIn tells whether r is in ranges that are in order.
func HasIn(ranges []Range, r rune) bool {
	_, ok := slices.BinarySearchFunc(ranges, r, func(x Range, r rune) int {
		switch {
		case x.Hi < r:
			return -1
		case x.Lo > r:
			return 1
		}
		return 0
	})
	return ok
}

// Property is the characters of a property of the reference's regular expressions: a category, a
// script, a block or another, by any name, whatever its case, spaces, hyphens and underscores.
func Property(name string) ([]Range, bool) {
	key := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '_' {
			return -1
		}
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
	packed, ok := properties()[key]
	if !ok {
		return nil, false
	}
	return unpack(packed), true
}

var properties = sync.OnceValue(func() map[string]string {
	m := keyed(propertiesFile)
	for name, packed := range m {
		if other, ok := strings.CutPrefix(packed, "="); ok {
			m[name] = m[other]
		}
	}
	return m
})

var sets = sync.OnceValue(func() map[string]string { return keyed(setsFile) })

// keyed splits the lines of a table into names and values.
func keyed(file string) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(file) {
		name, packed, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		m[name] = packed
	}
	return m
}

// unpack reads ranges that are written as gaps and lengths.
func unpack(packed string) []Range {
	var out []Range
	at := rune(0)
	for word := range strings.FieldsSeq(packed) {
		gap, length, found := strings.Cut(word, ",")
		n := rune(1)
		if found {
			n = hex(length)
		}
		lo := at + hex(gap)
		out = append(out, Range{lo, lo + n - 1})
		at = lo + n
	}
	return out
}

// hex reads a number of a table, which is part of the program: a wrong one is a mistake in it.
func hex(s string) rune {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		panic(fmt.Sprintf("unidata: a table has %q where a hexadecimal number belongs", s))
	}
	return rune(n)
}
