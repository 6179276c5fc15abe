package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// StringEnd finds the closing quote of a JSON string whose body starts at offset i of data, and
// whether that holds escapes. !ok: end is the offset of a fault.
func StringEnd(data []byte, i int) (end int, escaped, ok bool) {
	for i < len(data) {
		for len(data)-i >= 8 {
			n := plainBytes(binary.LittleEndian.Uint64(data[i:]))
			i += n
			if n < 8 {
				break
			}
		}
		if i == len(data) {
			break
		}
		c := data[i]
		if c != '"' && c != '\\' && c >= 0x20 {
			i++
			continue
		}
		if c == '"' {
			return i, escaped, true
		}
		if c != '\\' {
			return i, escaped, false
		}
		escaped = true
		n := escapeLen(data[i:])
		if n == 0 {
			return i, escaped, false
		}
		i += n
	}
	return len(data), escaped, false
}

// plainBytes is how many of eight bytes, the first in the lowest bits, stand before
// the first quote, backslash or control character.
func plainBytes(v uint64) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := v^(ones*'"'), v^(ones*'\\')
	// A byte b below n sets its high bit in (b - n) &^ b. A borrow only reaches bytes after the
	// first hit.
	hits := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((v - ones*0x20) &^ v)
	return bits.TrailingZeros64(hits&high) / 8
}

// Kind says in words what a value is that begins with the given byte.
func Kind(first byte) string {
	switch {
	case first == '{':
		return "an object"
	case first == '[':
		return "an array"
	case first == '"':
		return "a string"
	case first == 't' || first == 'f':
		return "a boolean"
	case first == 'n':
		return "null"
	case first == '-' || first-'0' <= 9:
		return "a number"
	}
	return "invalid JSON"
}

// escapeLen is the length of the escape that b starts with; 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads the code unit of an escape \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case (c|0x20)-'a' <= 5:
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendUnescaped appends to dst what the body of a JSON string means. The body
// must be one that StringEnd accepts. A surrogate without its other half becomes U+FFFD.
func AppendUnescaped(dst, body []byte) []byte {
	for i := 0; i < len(body); {
		start := i
		for i < len(body) && body[i] != '\\' {
			i++
		}
		dst = append(dst, body[start:i]...)
		if i+1 >= len(body) {
			break
		}
		if body[i+1] != 'u' {
			dst = append(dst, simpleEscape(body[i+1]))
			i += 2
			continue
		}
		r, _ := hex4(body[i:])
		i = min(i+6, len(body))
		if utf16.IsSurrogate(r) {
			low, ok := hex4(body[i:])
			r = utf16.DecodeRune(r, low)
			if ok && r != utf8.RuneError {
				i += 6
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// simpleEscape is what a letter behind a backslash means.
func simpleEscape(c byte) byte {
	if i := strings.IndexByte("bfnrt", c); i >= 0 {
		return "\b\f\n\r\t"[i]
	}
	return c
}
