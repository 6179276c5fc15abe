package target

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
)

// forms are the ways in which a server can give a secret back: as it is, in base64 as in an
// Authorization header, percent-encoded as in an address, and each of them as JSON writers escape
// it. A secret of plain letters and digits has few.
func forms(secret string) []string {
	bare := []string{secret}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		bare = append(bare, e.EncodeToString([]byte(secret))) // what pads it is no secret
	}
	var list []string
	for _, s := range bare {
		list = append(list, jsonForms(s)...)
		list = append(list, percentForms(s)...)
	}
	return list
}

// percentForms are a text as addresses have it: what is escaped differs, and so do the digits.
func percentForms(s string) []string {
	var all strings.Builder
	for i := range len(s) {
		if c := s[i]; alphanumeric(rune(c)) {
			all.WriteByte(c)
		} else {
			fmt.Fprintf(&all, "%%%02X", c)
		}
	}
	list := []string{url.QueryEscape(s), url.PathEscape(s), url.UserPassword("", s).String()[1:], all.String()}
	for _, f := range list {
		list = append(list, lowerDigits(f))
	}
	return list
}

// lowerDigits writes the digits of percent escapes in lower case.
func lowerDigits(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// jsonForms are a text as JSON writers put it between quotes: all must escape quotes and control
// characters, some do so with signs of HTML, with slashes, with all that is not ASCII.
func jsonForms(s string) []string {
	var list []string
	for _, coded := range []func(rune) bool{
		func(r rune) bool { return r < ' ' },
		func(r rune) bool { return r < ' ' || strings.ContainsRune("<>&", r) },
		func(r rune) bool { return r < ' ' || strings.ContainsRune("<>&'=", r) },
		func(r rune) bool { return r < ' ' || r > '~' },
		func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("<>&", r) },
		func(r rune) bool { return !alphanumeric(r) },
	} {
		for _, slash := range []string{"/", `\/`} {
			for _, digits := range []string{`\u%04x`, `\u%04X`} {
				list = append(list, escaped(s, coded, slash, digits))
			}
		}
	}
	return list
}

// escaped writes a text with those of its characters as numbers that coded says.
func escaped(s string, coded func(rune) bool, slash, digits string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case coded(r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, digits, unit)
			}
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '/':
			b.WriteString(slash)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func alphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
