package pyjson

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Style is a compact JSON text as Python's json writes it: a space behind commas and colons, ASCII.
func Style(compact []byte) []byte {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	text, escaped := false, false
	for i := 0; i < len(compact); {
		c := compact[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(compact[i:])
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			i += n
			continue
		}
		out = append(out, c)
		i++
		switch {
		case escaped:
			escaped = false
		case text:
			escaped, text = c == '\\', c != '"'
		case c == '"':
			text = true
		case c == ',' || c == ':':
			out = append(out, ' ')
		}
	}
	return out
}
