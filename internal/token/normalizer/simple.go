package normalizer

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/unidata"
)

// strip drops white space at the ends.
type strip struct {
	left, right bool
	space       *unidata.Set
}

func stripFromJSON(raw []byte) (Normalizer, error) {
	var d struct {
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}
	err := component.Fields(raw, &d, "strip_left", "strip_right")
	return strip{d.Left, d.Right, unidata.RustSpace()}, err
}

func (t strip) Normalize(s string) string {
	if t.left {
		s = strings.TrimLeftFunc(s, t.space.Has)
	}
	if t.right {
		s = strings.TrimRightFunc(s, t.space.Has)
	}
	return s
}

// stripAccents drops combining marks.
type stripAccents struct{ marks *unidata.Set }

// Normalize drops them.
func (t stripAccents) Normalize(s string) string { return drop(s, t.marks) }

func drop(s string, set *unidata.Set) string {
	i := 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if set.Has(r) {
			break
		}
		i += size
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, i, len(s))
	copy(b, s)
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !set.Has(r) {
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return string(b)
}

// nmt drops control characters and makes spaces of others.
type nmt struct{}

// Normalize does both.
func (nmt) Normalize(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, 0x200b <= r && r <= 0x200f,
			r == 0x2028, r == 0x2029, r == 0x2581, r == 0xfeff, r == 0xfffd:
			return ' '
		case 1 <= r && r <= 8, r == 0xb, 0xe <= r && r <= 0x1f, r == 0x7f, r == 0x8f, r == 0x9f:
			return -1
		}
		return r
	}, s)
}

// byteLevel writes every byte as a character that can be seen.
type byteLevel struct{}

// Normalize writes s as characters.
func (byteLevel) Normalize(s string) string {
	b := make([]byte, 0, len(s)+len(s)/2)
	for i := range len(s) {
		b = utf8.AppendRune(b, unidata.ByteRune(s[i]))
	}
	return string(b)
}

// pages is what characters become in lower case, in pages of 256.
type pages [][]rune

// twoLower is the one character that becomes two in lower case.
const (
	twoLower   = 'İ'
	twoLowered = "i̇"
)

var lowerPages = sync.OnceValue(func() pages {
	p := make(pages, 0x110000>>8)
	for r, l := range unidata.Lower() {
		if r == twoLower {
			continue
		}
		if p[r>>8] == nil {
			p[r>>8] = make([]rune, 256)
			for i := range p[r>>8] {
				p[r>>8][i] = r&^255 + rune(i)
			}
		}
		to, _ := utf8.DecodeRuneInString(l)
		p[r>>8][r&255] = to
	}
	return p
})

// lowercase makes letters small, one by one: what stands around them does not count.
type lowercase struct{ pages pages }

// Normalize makes letters small.
func (l lowercase) Normalize(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z') {
		i++
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, i, len(s)+8)
	copy(b, s)
	return string(l.append(b, s[i:]))
}

// append appends s in small letters.
func (l lowercase) append(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch page := l.pages[r>>8]; {
		case r == twoLower:
			b = append(b, twoLowered...)
		case page == nil || page[r&255] == r:
			b = append(b, s[i:i+size]...)
		default:
			b = utf8.AppendRune(b, page[r&255])
		}
		i += size
	}
	return b
}
