package token

import "unicode/utf8"

// AppendValid appends b to dst with U+FFFD in place of what is not valid UTF-8: one
// for each longest beginning of a character, as most decoders of servers do.
func AppendValid(dst, b []byte) []byte {
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			dst = append(dst, b[0])
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if r != utf8.RuneError || size > 1 {
			dst = append(dst, b[:size]...)
		} else {
			size = broken(b)
			dst = append(dst, "\uFFFD"...)
		}
		b = b[size:]
	}
	return dst
}

// broken is how many bytes of b, which begins with no character, are the beginning of
// one; 1 where there is no such beginning.
func broken(b []byte) int {
	low, high := byte(0x80), byte(0xbf)
	need := 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			low = 0xa0
		}
		if c == 0xed {
			high = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			low = 0x90
		}
		if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= low && b[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}
