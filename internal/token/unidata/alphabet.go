package unidata

// ByteRune is the character that stands for a byte in the alphabet of byte-level tokenizers:
// itself where it can be seen, and otherwise the next free one from U+0100.
func ByteRune(b byte) rune {
	switch {
	case b <= ' ':
		return 0x100 + rune(b)
	case b <= '~', 0xa1 <= b && b != 0xad:
		return rune(b)
	case b <= 0xa0:
		return 0x100 + rune(b) - 0x7f + '!'
	}
	return 0x143
}

// alphabet maps the characters that stand for bytes to these bytes; -1: it stands for none.
var alphabet = func() (table [0x144]int16) {
	for i := range table {
		table[i] = -1
	}
	for b := range 256 {
		table[ByteRune(byte(b))] = int16(b)
	}
	return table
}()

// AppendRaw appends the bytes that a text in the byte-level alphabet stands for; false: dst as it
// was, where a character is not in it. Beyond ASCII all in it take two bytes.
func AppendRaw(dst, text []byte) ([]byte, bool) {
	start := len(dst)
	for i := 0; i < len(text); {
		if c := text[i]; c >= '!' && c <= '~' {
			dst = append(dst, c)
			i++
			continue
		}
		r := rune(0) // which is not in the alphabet
		if i+1 < len(text) && text[i] >= 0xc2 && text[i] <= 0xc5 && text[i+1]&0xc0 == 0x80 {
			r = rune(text[i]&0x1f)<<6 | rune(text[i+1]&0x3f)
		}
		if int(r) >= len(alphabet) || alphabet[r] < 0 {
			return dst[:start], false
		}
		dst = append(dst, byte(alphabet[r]))
		i += 2
	}
	return dst, true
}
