package sentencepiece

import (
	"strings"
	"unicode/utf8"
)

// decoder turns pieces back into text.
type decoder struct {
	bytes    map[string]byte
	unknown  string
	surface  string
	trimOne  bool // the space that texts are given goes away again
	trimMany bool // and so do all that they begin with
}

func newDecoder(m *model) *decoder {
	d := &decoder{
		bytes: map[string]byte{}, unknown: m.pieces[m.unkID].text, surface: m.unkSurface,
		trimOne: m.dummyPrefix || m.removeExtra, trimMany: m.removeExtra,
	}
	for _, p := range m.pieces {
		if p.kind == bytePiece {
			d.bytes[p.text] = byteOf(p.text)
		}
	}
	return d
}

// byteOf reads the byte of a piece like <0x0A>.
func byteOf(text string) byte {
	var b byte
	for _, c := range []byte(strings.TrimSuffix(strings.TrimPrefix(text, "<0x"), ">")) {
		b <<= 4
		if c <= '9' {
			b |= c - '0'
		} else {
			b |= c - 'A' + 10
		}
	}
	return b
}

// Decode returns the texts of pieces.
func (d *decoder) Decode(pieces []string) []string {
	out := make([]string, 0, len(pieces))
	var raw []byte
	begun := false // text, or the one space that is dropped, was there
	flush := func() {
		if len(raw) > 0 {
			out = append(out, repaired(raw))
			raw, begun = raw[:0], true
		}
	}
	for _, p := range pieces {
		if b, ok := d.bytes[p]; ok {
			raw = append(raw, b)
			continue
		}
		flush()
		if p == d.unknown {
			out, begun = append(out, d.surface), true
			continue
		}
		if !begun && d.trimOne {
			rest, cut := strings.CutPrefix(p, space)
			p = rest
			begun = cut && !d.trimMany
		}
		if p != "" {
			out, begun = append(out, strings.ReplaceAll(p, space, " ")), true
		}
	}
	flush()
	return out
}

// repaired is text of bytes, with U+FFFD for each that is not part of a character.
func repaired(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		s.WriteRune(r)
		b = b[size:]
	}
	return s.String()
}
