package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// upper and lower follow Unicode's full mappings, of which Go knows the one-to-one part only.
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
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) ||
		unicode.Is(unicode.Other_Uppercase, r)
}

// ignorable reports whether a letter does not count for the case of its neighbours.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·’․﹒＇．：︓﹕‘", r)
}

// upperSpecial are the letters whose capital form is several letters.
var upperSpecial = map[rune]string{
	'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "Ϊ́", 'ΰ': "Ϋ́", 'և': "ԵՒ", 'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
	'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST",
	'ὐ': "Υ̓", 'ὒ': "Υ̓̀", 'ὔ': "Υ̓́", 'ὖ': "Υ̓͂", 'ᾀ': "ἈΙ", 'ᾁ': "ἉΙ", 'ᾂ': "ἊΙ", 'ᾃ': "ἋΙ", 'ᾄ': "ἌΙ", 'ᾅ': "ἍΙ", 'ᾆ': "ἎΙ", 'ᾇ': "ἏΙ", 'ᾈ': "ἈΙ", 'ᾉ': "ἉΙ", 'ᾊ': "ἊΙ", 'ᾋ': "ἋΙ", 'ᾌ': "ἌΙ", 'ᾍ': "ἍΙ", 'ᾎ': "ἎΙ", 'ᾏ': "ἏΙ", 'ᾐ': "ἨΙ", 'ᾑ': "ἩΙ", 'ᾒ': "ἪΙ", 'ᾓ': "ἫΙ", 'ᾔ': "ἬΙ",
	'ᾕ': "ἭΙ", 'ᾖ': "ἮΙ", 'ᾗ': "ἯΙ", 'ᾘ': "ἨΙ", 'ᾙ': "ἩΙ", 'ᾚ': "ἪΙ", 'ᾛ': "ἫΙ", 'ᾜ': "ἬΙ", 'ᾝ': "ἭΙ", 'ᾞ': "ἮΙ", 'ᾟ': "ἯΙ", 'ᾠ': "ὨΙ", 'ᾡ': "ὩΙ", 'ᾢ': "ὪΙ", 'ᾣ': "ὫΙ", 'ᾤ': "ὬΙ", 'ᾥ': "ὭΙ", 'ᾦ': "ὮΙ", 'ᾧ': "ὯΙ", 'ᾨ': "ὨΙ", 'ᾩ': "ὩΙ", 'ᾪ': "ὪΙ", 'ᾫ': "ὫΙ", 'ᾬ': "ὬΙ", 'ᾭ': "ὭΙ",
	'ᾮ': "ὮΙ", 'ᾯ': "ὯΙ", 'ᾲ': "ᾺΙ", 'ᾳ': "ΑΙ", 'ᾴ': "ΆΙ", 'ᾶ': "Α͂", 'ᾷ': "Α͂Ι", 'ᾼ': "ΑΙ", 'ῂ': "ῊΙ", 'ῃ': "ΗΙ", 'ῄ': "ΉΙ", 'ῆ': "Η͂", 'ῇ': "Η͂Ι", 'ῌ': "ΗΙ", 'ῒ': "Ϊ̀", 'ΐ': "Ϊ́", 'ῖ': "Ι͂", 'ῗ': "Ϊ͂", 'ῢ': "Ϋ̀", 'ΰ': "Ϋ́", 'ῤ': "Ρ̓", 'ῦ': "Υ͂", 'ῧ': "Ϋ͂", 'ῲ': "ῺΙ", 'ῳ': "ΩΙ", 'ῴ': "ΏΙ", 'ῶ': "Ω͂", 'ῷ': "Ω͂Ι", 'ῼ': "ΩΙ",
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

// casefold is a text without regard to case. It is the small letter of the capital, but for
// Cherokee, whose capitals stand for both, and for the i without a dot.
func casefold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == 'ı':
			b.WriteRune(r)
		case unicode.Is(unicode.Cherokee, r):
			b.WriteRune(unicode.ToUpper(r))
		default:
			for _, c := range upper(lower(string(r))) {
				b.WriteString(lower(string(c)))
			}
		}
	}
	return b.String()
}

// swapcase makes capitals small and small letters capitals.
func swapcase(s string) string {
	letters := []rune(s)
	var b strings.Builder
	for i, r := range letters {
		switch {
		case r == 'Σ' && finalSigma(letters, i):
			b.WriteRune('ς')
		case unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r):
			b.WriteString(lower(string(r)))
		case unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r):
			b.WriteString(upper(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isTitle reports whether every run of letters begins with a capital and goes on without.
func isTitle(s string) bool {
	before, some := false, false
	for _, r := range s {
		capital := unicode.IsUpper(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Uppercase, r)
		if capital && before || !capital && cased(r) && !before {
			return false
		}
		before = cased(r)
		some = some || before
	}
	return some
}

// expandTabs puts blanks up to the next multiple of size in place of tabs.
func expandTabs(s string, size int) string {
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch {
		case r == '\t' && size > 0:
			n := size - column%size
			b.WriteString(strings.Repeat(" ", n))
			column += n
		case r == '\t':
		case r == '\n' || r == '\r':
			b.WriteRune(r)
			column = 0
		default:
			b.WriteRune(r)
			column++
		}
	}
	return b.String()
}

// isDigit is Python's isdigit: decimal digits and those that stand for a digit in another form.
func isDigit(r rune) bool { return unicode.IsDigit(r) || unicode.Is(digitForms, r) }

// isNumeric is Python's isnumeric: Chinese numerals count, too.
func isNumeric(r rune) bool { return unicode.IsNumber(r) || strings.ContainsRune(numerals, r) }

const numerals = "㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零參拾兩零六陸什𠀁𠁤𠃢𠄡𠤪𠦃𠦌𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭廾"

// digitForms are superscripts, digits in circles and the like.
var digitForms = &unicode.RangeTable{LatinOffset: 2, R16: []unicode.Range16{
	{0xb2, 0xb3, 1}, {0xb9, 0xb9, 1}, {0x1369, 0x1371, 1}, {0x19da, 0x19da, 1}, {0x2070, 0x2070, 1}, {0x2074, 0x2079, 1},
	{0x2080, 0x2089, 1}, {0x2460, 0x2468, 1}, {0x2474, 0x247c, 1}, {0x2488, 0x2490, 1}, {0x24ea, 0x24ea, 1}, {0x24f5, 0x24fd, 1},
	{0x24ff, 0x24ff, 1}, {0x2776, 0x277e, 1}, {0x2780, 0x2788, 1}, {0x278a, 0x2792, 1},
}, R32: []unicode.Range32{{0x10a40, 0x10a43, 1}, {0x10e60, 0x10e68, 1}, {0x11052, 0x1105a, 1}, {0x1f100, 0x1f10a, 1}}}
