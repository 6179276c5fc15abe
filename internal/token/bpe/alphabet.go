package bpe

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
// stands for; false, and dst as it was, where a character is not in the alphabet. All
// that is in it beyond ASCII takes two bytes.
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
