// Package screen has what any text for a person needs: lines that fit a width, and colour
// where it was asked for.
//
// It knows nothing of benchmarks. The console report and the live view are built on it.
package screen

import (
	"slices"
	"strings"
	"unicode"
)

// Clean makes text of unknown origin safe for a terminal and fit for one line:
// control characters, which could move the cursor or change colours, and white
// space of any kind become single spaces.
func Clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = b.Len() > 0
			continue
		}
		// Format characters turn the direction of text around or have no
		// width; both upset a table.
		if unicode.Is(unicode.Cf, r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Width is the number of terminal columns that s takes. Colour sequences of
// Style take none.
func Width(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case escape:
			escape = r != 'm'
		case r == '\x1b':
			escape = true
		default:
			n += runeWidth(r)
		}
	}
	return n
}

// runeWidth is 0 for marks that stand on the character before, 2 for the
// characters that terminals draw double, and 1 for all others.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115F, // Hangul initials
		r >= 0x2E80 && r <= 0x303E,   // CJK radicals and punctuation
		r >= 0x3041 && r <= 0xA4CF,   // kana, CJK, Yi
		r >= 0xAC00 && r <= 0xD7A3,   // Hangul
		r >= 0xF900 && r <= 0xFAFF,   // CJK compatibility
		r >= 0xFE30 && r <= 0xFE6F,   // CJK forms
		r >= 0xFF00 && r <= 0xFF60,   // full-width forms
		r >= 0xFFE0 && r <= 0xFFE6,   // full-width signs
		r >= 0x1F300 && r <= 0x1F64F, // pictographs
		r >= 0x1F680 && r <= 0x1F6FF, // transport
		r >= 0x1F900 && r <= 0x1FAFF, // more pictographs
		r >= 0x20000 && r <= 0x3FFFD: // more CJK
		return 2
	default:
		return 1
	}
}

// Clip shortens plain text to at most n columns; an ellipsis shows that
// something is missing.
func Clip(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	return strings.TrimRight(cut(s, n-1), " ") + "…"
}

// Wrap breaks plain text into lines of at most n columns, between words where
// it can and inside a word that is longer than a line. A number stays with its
// unit.
func Wrap(s string, n int) []string {
	n = max(n, 2) // room for one double character
	var lines []string
	line, used := "", 0
	flush := func() {
		lines = append(lines, line)
		line, used = "", 0
	}
	for _, word := range phrases(s) {
		w := Width(word)
		if line != "" && used+1+w > n {
			flush()
		}
		for w > n {
			head := cut(word, n)
			lines = append(lines, head)
			word = word[len(head):]
			w = Width(word)
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	if line != "" || len(lines) == 0 {
		flush()
	}
	return lines
}

// phrases gives the pieces of s that are not broken: words, and numbers with
// their units.
func phrases(s string) []string {
	var all []string
	for word := range strings.FieldsSeq(s) {
		last := len(all) - 1
		if last >= 0 && isUnit(strings.TrimRight(word, ".,;:)")) && endsInDigit(all[last]) {
			all[last] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}

func isUnit(word string) bool {
	return slices.Contains([]string{"%", "ns", "µs", "ms", "s", "min", "h", "tokens", "requests"}, word)
}

func endsInDigit(word string) bool {
	c := word[len(word)-1]
	return c >= '0' && c <= '9'
}

// cut gives the longest beginning of word that takes at most n columns.
func cut(word string, n int) string {
	used := 0
	for i, r := range word {
		if used+runeWidth(r) > n {
			return word[:i]
		}
		used += runeWidth(r)
	}
	return word
}

// Join puts a separator between those of the texts that are not empty.
func Join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// Left pads s with spaces to n columns, text first.
func Left(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Width(s)))
}

// Right pads s with spaces to n columns, text last.
func Right(s string, n int) string {
	return strings.Repeat(" ", max(0, n-Width(s))) + s
}

// Style colours text when it is on, and leaves it alone when it is not.
type Style bool

// Bold makes s stand out.
func (st Style) Bold(s string) string { return st.wrap("\x1b[1m", s) }

// Dim makes s step back.
func (st Style) Dim(s string) string { return st.wrap("\x1b[2m", s) }

// Good marks s as good news.
func (st Style) Good(s string) string { return st.wrap("\x1b[1;32m", s) }

// Bad marks s as bad news.
func (st Style) Bad(s string) string { return st.wrap("\x1b[1;31m", s) }

// Warn marks s as a warning.
func (st Style) Warn(s string) string { return st.wrap("\x1b[33m", s) }

func (st Style) wrap(on, s string) string {
	if !st || s == "" {
		return s
	}
	return on + s + "\x1b[0m"
}
