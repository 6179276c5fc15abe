package sentencepiece

import "strings"

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
	for b := 0; m.byteFallback && b < 256; b++ {
		d.bytes[byteText(b)] = byte(b)
	}
	return d
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
	return string([]rune(string(b)))
}
