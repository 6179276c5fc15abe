package bpe

import "unicode/utf8"

// alphabet maps the characters that stand for bytes in the files of byte-level
// tokenizers to these bytes: printable characters of Latin-1 stand for themselves,
// the other bytes take the characters from U+0100 on, in order.
var alphabet = func() (table [0x144]int16) {
	for i := range table {
		table[i] = none
	}
	next := 0x100
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			table[b] = int16(b)
			continue
		}
		table[next] = int16(b)
		next++
	}
	return table
}()

// AppendRaw appends the bytes that a text in the alphabet of byte-level tokenizers
// stands for; false, and dst as it was, where a character is not in the alphabet.
func AppendRaw(dst, text []byte) ([]byte, bool) {
	start := len(dst)
	for i := 0; i < len(text); {
		if c := text[i]; c >= '!' && c <= '~' {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if int(r) >= len(alphabet) || alphabet[r] < 0 {
			return dst[:start], false
		}
		dst = append(dst, byte(alphabet[r]))
		i += size
	}
	return dst, true
}
