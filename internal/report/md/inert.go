package md

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/report/screen"
)

// joiner has no width. Behind a sign that makes the next word a mention, a reference or a
// link, it leaves both as they look and takes that meaning away: forges look for those in
// the text after its escapes are undone, so that escapes do not help.
const joiner = "\u2060"

// Prose is text of unknown origin as a part of a line, of at most width columns, for other
// reports in Markdown.
func Prose(text string, width int) string { return prose(text, width) }

// prose is text of unknown origin as a part of a line: no markup, HTML, mention, reference
// or link. It has at most width columns.
func prose(text string, width int) string {
	text = clip(text, width)
	var b strings.Builder
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case strings.ContainsRune("\\`*_[]~|!", r):
			b.WriteString(`\` + string(r))
		case strings.ContainsRune("<>&$", r) || i == 0 && strings.ContainsRune("-+=/", r):
			fmt.Fprintf(&b, "&#%d;", r)
		case r == '#':
			b.WriteString(`\#`)
		case (r == '.' || r == ')') && isNumber(text[:i]) && !unicode.IsDigit(next): // the first of an ordered list
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
		if parts(text[:i], r, next) {
			b.WriteString(joiner)
		}
	}
	return b.String()
}

// parts reports whether a sign, between the text before it and the next, has to be kept
// apart from what follows: @user, #1 and what GitLab has like them, GH-1, http://, www.
func parts(before string, sign, next rune) bool {
	switch {
	case strings.ContainsRune("@#!$%&~^", sign):
		return unicode.IsLetter(next) || unicode.IsDigit(next) || strings.ContainsRune(`"_{[`, next)
	case sign == ':':
		return next == '/'
	case sign == '-':
		return strings.HasSuffix(strings.ToLower(before), "gh") && unicode.IsDigit(next)
	case sign == '.':
		return strings.HasSuffix(strings.ToLower(before), "www")
	}
	return false
}

// clip is text on one line, of at most width columns and, since marks have no width, of no
// more than two bytes for each.
func clip(text string, width int) string {
	text = screen.Clip(screen.Clean(text[:min(len(text), 16*width)]), width) // a response may be megabytes
	if len(text) > 2*width {
		text = strings.ToValidUTF8(text[:2*width-len("…")], "") + "…"
	}
	return text
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// code is text of unknown origin in the type of code, where forges look for nothing.
func code(text string, width int) string {
	var b strings.Builder
	for _, r := range clip(text, width) {
		if r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" :/.,-", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	// Links are made of bare addresses ahead of anything else.
	return "<code>" + strings.NewReplacer("://", "&#58;//", "www.", "www&#46;").Replace(b.String()) + "</code>"
}
