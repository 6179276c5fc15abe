package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// upper and lower follow Unicode's full mappings, of which Go's own functions know
// the one-to-one part only.
func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	for _, r := range s {
		if t, ok := upperSpecial[r]; ok {
			b.WriteString(t)
			continue
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	letters := []rune(s)
	var b strings.Builder
	for i, r := range letters {
		switch {
		case r == 'İ':
			b.WriteString("i̇")
		case r == 'Σ' && finalSigma(letters, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// finalSigma reports whether a sigma ends a word.
func finalSigma(s []rune, i int) bool {
	before, after := i-1, i+1
	for before >= 0 && ignorable(s[before]) {
		before--
	}
	for after < len(s) && ignorable(s[after]) {
		after++
	}
	return before >= 0 && cased(s[before]) && !(after < len(s) && cased(s[after]))
}

func cased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

// ignorable reports whether a letter does not count for the case of its neighbours.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·’․﹒＇．：︓﹕‘", r)
}

// upperSpecial are the letters whose capital form is several letters.
var upperSpecial = map[rune]string{
	'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "Ϊ́", 'ΰ': "Ϋ́", 'և': "ԵՒ", 'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
	'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST",
	'ﬓ': "ՄՆ", 'ﬔ': "ՄԵ", 'ﬕ': "ՄԻ", 'ﬖ': "ՎՆ", 'ﬗ': "ՄԽ",
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// titleWords begins every run of letters with a capital.
func titleWords(s string) string {
	var b strings.Builder
	before := false
	for _, r := range s {
		if before {
			b.WriteString(lower(string(r)))
		} else {
			b.WriteString(titleLetter(r))
		}
		before = cased(r)
	}
	return b.String()
}

func titleLetter(r rune) string {
	if t, ok := upperSpecial[r]; ok {
		first, n := utf8.DecodeRuneInString(t)
		return string(first) + lower(t[n:])
	}
	return string(unicode.ToTitle(r))
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return titleLetter(r) + lower(s[n:])
}

func isUpper(s string) bool {
	some := false
	for _, r := range s {
		if unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) {
			return false
		}
		some = some || unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
	}
	return some
}

func isLower(s string) bool {
	some := false
	for _, r := range s {
		if unicode.IsUpper(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Uppercase, r) {
			return false
		}
		some = some || unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r)
	}
	return some
}
