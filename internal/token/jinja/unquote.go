package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unquote resolves a string's escapes as Python does. Other backslashes stand for themselves.
func unquote(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, err := escape(&b, s[i+1:])
		if err != nil {
			return "", err
		}
		i += 1 + n
	}
	return b.String(), nil
}

// escape writes what the escape after a backslash means, and returns its length.
func escape(b *strings.Builder, s string) (int, error) {
	if at := strings.IndexByte("abfnrtv\\'\"", s[0]); at >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v\\'\""[at])
		return 1, nil
	}
	switch c := s[0]; c {
	case '\n':
		return 1, nil
	case 'x', 'u', 'U':
		size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if len(s) <= size {
			return 0, fmt.Errorf(`the escape \%s is incomplete`, s)
		}
		v, err := strconv.ParseUint(s[1:1+size], 16, 32)
		if err != nil || v > utf8.MaxRune || (v >= 0xd800 && v < 0xe000) {
			return 0, fmt.Errorf(`the escape \%s is not a character`, s[:1+size])
		}
		b.WriteRune(rune(v))
		return 1 + size, nil
	case 'N':
		return 0, fmt.Errorf(`the escape \N is not supported`)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n, v := 0, rune(0)
		for n < 3 && n < len(s) && s[n]-'0' <= 7 {
			v = v<<3 | rune(s[n]-'0')
			n++
		}
		b.WriteRune(v)
		return n, nil
	}
	b.WriteByte('\\')
	return 0, nil
}
