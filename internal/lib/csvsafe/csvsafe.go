// Package csvsafe keeps texts in tables from being taken for formulas by spreadsheets.
package csvsafe

import (
	"strings"
	"unicode/utf8"
)

// Safe is a text as a cell of a table: where a spreadsheet would take it for a formula, it
// begins with an apostrophe, and control characters, on which readers disagree, are spaces.
func Safe(text string) string {
	if strings.ContainsFunc(text, control) {
		text = strings.Map(func(r rune) rune {
			if control(r) {
				return ' '
			}
			return r
		}, text)
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \u00a0\u3000"))
	if strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + text
	}
	return text
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
