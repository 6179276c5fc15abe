package jinja

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token in a template.
type kind uint8

const (
	tokEOF kind = iota
	tokData
	tokBlockBegin
	tokBlockEnd
	tokVarBegin
	tokVarEnd
	tokName
	tokString
	tokInt
	tokFloat
	tokOp
)

type tok struct {
	kind kind
	text string // the name, the operator, or what a string means
	num  any    // int64, bigInt or float64
	line int
}

func (t tok) is(name string) bool { return t.kind == tokName && t.text == name }

func (t tok) op(s string) bool { return t.kind == tokOp && t.text == s }

// String describes a token in messages.
func (t tok) String() string {
	switch t.kind {
	case tokEOF:
		return "the end of the template"
	case tokData:
		return "text"
	case tokBlockBegin:
		return "'{%'"
	case tokBlockEnd:
		return "'%}'"
	case tokVarBegin:
		return "'{{'"
	case tokVarEnd:
		return "'}}'"
	case tokInt, tokFloat:
		return fmt.Sprint(t.num)
	case tokString:
		return "string " + strconv.Quote(t.text)
	}
	return "'" + t.text + "'"
}

// lexer splits a template into tokens, with white space as trim_blocks and lstrip_blocks have it,
// as for chat templates everywhere.
type lexer struct {
	src  string
	pos  int
	line int
	toks []tok
	// fresh: what was taken last ended a line, or nothing was taken yet.
	fresh bool
}

func lex(src string) []tok {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\r", "\n")
	src = strings.TrimSuffix(src, "\n")
	l := &lexer{src: src, line: 1, fresh: true}
	for l.pos < len(l.src) {
		l.root()
	}
	l.emit(tok{kind: tokEOF, line: l.line})
	return l.toks
}

func (l *lexer) emit(t tok) { l.toks = append(l.toks, t) }

// fail ends the reading with a fault in the present line, which Parse returns.
func (l *lexer) fail(format string, args ...any) {
	panic(&Error{Line: l.line, Message: fmt.Sprintf(format, args...)})
}

func (l *lexer) read(n int) string {
	s := l.src[l.pos : l.pos+n]
	l.pos += n
	l.line += strings.Count(s, "\n")
	if n > 0 {
		l.fresh = s[n-1] == '\n'
	}
	return s
}

func (l *lexer) rest() string { return l.src[l.pos:] }

// root takes text up to the next tag, and that tag.
func (l *lexer) root() {
	rest := l.rest()
	at := tagStart(rest)
	if at < 0 {
		l.emitData(rest)
		l.read(len(rest))
		return
	}
	tag := rest[at : at+2]
	sign := byte(0)
	if at+2 < len(rest) && (rest[at+2] == '-' || rest[at+2] == '+') {
		sign = rest[at+2]
	}
	l.emitData(l.stripped(rest[:at], sign, tag != "{{"))
	l.read(at)
	start := l.line
	if tag == "{%" {
		if n, ok := matchRaw(l.rest(), "raw"); ok {
			l.read(n)
			l.raw()
			return
		}
	}
	l.read(2)
	if sign != 0 {
		l.read(1)
	}
	switch tag {
	case "{#":
		l.comment(start)
	case "{%":
		l.emit(tok{kind: tokBlockBegin, line: l.line})
		l.inside("%}", tokBlockEnd)
	default:
		l.emit(tok{kind: tokVarBegin, line: l.line})
		l.inside("}}", tokVarEnd)
	}
}

// tagStart is the offset of the first "{{", "{%" or "{#"; -1 where there is none.
func tagStart(s string) int {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '{')
		if n < 0 || i+n+1 >= len(s) {
			return -1
		}
		i += n
		if c := s[i+1]; c == '{' || c == '%' || c == '#' {
			return i
		}
	}
}

func (l *lexer) emitData(s string) {
	if s != "" {
		l.emit(tok{kind: tokData, text: s, line: l.line})
	}
}

// stripped is the text before a tag without the white space that the tag takes away.
func (l *lexer) stripped(text string, sign byte, block bool) string {
	if sign == '-' {
		return strings.TrimRightFunc(text, IsSpace)
	}
	if sign == '+' || !block {
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || l.fresh) && strings.TrimLeftFunc(text[start:], IsSpace) == "" {
		return text[:start]
	}
	return text
}

func (l *lexer) comment(start int) {
	n := strings.Index(l.rest(), "#}")
	if n < 0 {
		panic(&Error{Line: start, Message: "this comment is not closed: missing '#}'"})
	}
	sign := byte(0)
	if n > 0 {
		sign = l.src[l.pos+n-1]
	}
	l.read(n + 2)
	l.afterTag(sign)
}

// afterTag takes the white space that the end of a block or comment takes away.
func (l *lexer) afterTag(sign byte) {
	switch {
	case sign == '-':
		l.takeSpace()
	case sign != '+' && strings.HasPrefix(l.rest(), "\n"):
		l.read(1)
	}
}

func (l *lexer) takeSpace() {
	rest := l.rest()
	l.read(len(rest) - len(strings.TrimLeftFunc(rest, IsSpace)))
}

// matchRaw matches {% raw %} or {% endraw %} at the start of s and returns its
// length, with the white space after it that '-' takes away.
func matchRaw(s, word string) (int, bool) {
	p := strings.TrimPrefix(s, "{%")
	if len(p) == len(s) {
		return 0, false
	}
	if p != "" && (p[0] == '-' || p[0] == '+') {
		p = p[1:]
	}
	p = strings.TrimLeftFunc(p, IsSpace)
	p, ok := strings.CutPrefix(p, word)
	if !ok {
		return 0, false
	}
	p = strings.TrimLeftFunc(p, IsSpace)
	if q, ok := strings.CutPrefix(p, "-%}"); ok {
		p = strings.TrimLeftFunc(q, IsSpace)
	} else if q, ok := strings.CutPrefix(p, "+%}"); ok && word == "endraw" {
		p = q
	} else if q, ok := strings.CutPrefix(p, "%}"); ok {
		p = q
		if word == "endraw" {
			p = strings.TrimPrefix(p, "\n")
		}
	} else {
		return 0, false
	}
	return len(s) - len(p), true
}

// raw takes text as it is up to {% endraw %}.
func (l *lexer) raw() {
	for i := l.pos; i < len(l.src); i++ {
		n := strings.Index(l.src[i:], "{%")
		if n < 0 {
			break
		}
		i += n
		size, ok := matchRaw(l.src[i:], "endraw")
		if !ok {
			continue
		}
		sign := byte(0)
		if c := l.src[i+2]; c == '-' || c == '+' {
			sign = c
		}
		l.emitData(l.stripped(l.src[l.pos:i], sign, true))
		l.read(i - l.pos + size)
		return
	}
	l.fail("a raw block is not closed: missing '{%% endraw %%}'")
}

// inside takes the tokens of a tag up to its end.
func (l *lexer) inside(end string, endKind kind) {
	var open []byte
	for {
		rest := l.rest()
		if rest == "" {
			l.fail("a tag is not closed: missing '%s'", end)
		}
		if len(open) == 0 {
			if sign, n := tagEnd(rest, end); n > 0 {
				l.emit(tok{kind: endKind, line: l.line})
				l.read(n)
				if endKind == tokBlockEnd || sign == '-' {
					l.afterTag(sign)
				}
				return
			}
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case IsSpace(r):
			l.read(size)
		case r == '"' || r == '\'':
			l.string(byte(r))
		case r >= '0' && r <= '9':
			l.number()
		case r == '_' || unicode.IsLetter(r):
			n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if n < 0 {
				n = len(rest)
			}
			l.emit(tok{kind: tokName, text: rest[:n], line: l.line})
			l.read(n)
		default:
			open = l.operator(open)
		}
	}
}

// tagEnd matches the end of a tag; n is 0 where there is none.
func tagEnd(s, end string) (sign byte, n int) {
	if strings.HasPrefix(s, end) {
		return 0, len(end)
	}
	if len(s) > 1 && strings.HasPrefix(s[1:], end) && (s[0] == '-' || (s[0] == '+' && end == "%}")) {
		return s[0], 1 + len(end)
	}
	return 0, 0
}

// operator takes an operator and keeps the stack of brackets that are open.
func (l *lexer) operator(open []byte) []byte {
	rest := l.rest()
	n := 1
	if len(rest) > 1 {
		switch rest[:2] {
		case "**", "//", "==", "!=", ">=", "<=":
			n = 2
		}
	}
	op := rest[:n]
	switch {
	case strings.Contains("([{", op):
		open = append(open, op[0])
	case strings.Contains(")]}", op):
		if len(open) == 0 || closing(open[len(open)-1]) != op[0] {
			l.fail("unexpected '%s'", op)
		}
		open = open[:len(open)-1]
	case n == 1 && !strings.Contains("+-/*%~><=.:|,;", op):
		r, _ := utf8.DecodeRuneInString(rest)
		l.fail("unexpected character %q", r)
	}
	l.emit(tok{kind: tokOp, text: op, line: l.line})
	l.read(n)
	return open
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

func (l *lexer) number() {
	rest := l.rest()
	if n := basedDigits(rest); n > 0 {
		l.emit(tok{kind: tokInt, num: l.integer(rest[:n], 0), line: l.line})
		l.read(n)
		return
	}
	n := digits(rest)
	// After a dot comes an index, as in items.0, never a fraction.
	index := len(l.toks) > 0 && l.toks[len(l.toks)-1].op(".")
	float := false
	if !index {
		if m := digits(tail(rest, n+1)); rest[n:] != "" && rest[n] == '.' && m > 0 {
			float, n = true, n+1+m
		}
		if e := exponent(rest[n:]); e > 0 {
			float, n = true, n+e
		}
	}
	text := strings.ReplaceAll(rest[:n], "_", "")
	if !float {
		l.emit(tok{kind: tokInt, num: l.integer(text, 10), line: l.line})
	} else if f, err := strconv.ParseFloat(text, 64); err == nil {
		l.emit(tok{kind: tokFloat, num: f, line: l.line})
	} else {
		l.fail("the number %s is too large", text)
	}
	l.read(n)
}

// integer reads the digits of an integer of any size.
func (l *lexer) integer(text string, base int) any {
	n, ok := new(big.Int).SetString(text, base)
	if !ok || n.BitLen() > maxBits {
		l.fail("the number %s is too large", text)
	}
	return integer(n)
}

func tail(s string, n int) string { return s[min(n, len(s)):] }

// basedDigits is the length of a number that starts with 0x, 0o or 0b; 0 where there is none.
func basedDigits(s string) int {
	if len(s) < 3 || s[0] != '0' {
		return 0
	}
	set := map[byte]string{'x': "0123456789abcdef", 'o': "01234567", 'b': "01"}[s[1]|0x20]
	if set == "" {
		return 0
	}
	n := 2
	for n < len(s) && strings.IndexByte(set, s[n]|0x20) >= 0 || n < len(s) && s[n]-'0' <= 9 && strings.IndexByte(set, s[n]) >= 0 {
		n++
	}
	if n == 2 {
		return 0
	}
	return n
}

// digits is the length of a run of digits, single underscores between them.
func digits(s string) int {
	n := 0
	for n < len(s) {
		switch {
		case s[n]-'0' <= 9:
			n++
		case s[n] == '_' && n > 0 && n+1 < len(s) && s[n+1]-'0' <= 9:
			n++
		default:
			return n
		}
	}
	return n
}

func exponent(s string) int {
	if s == "" || s[0]|0x20 != 'e' {
		return 0
	}
	n := 1
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	d := digits(tail(s, n))
	if d == 0 {
		return 0
	}
	return n + d
}

func (l *lexer) string(quote byte) {
	rest := l.rest()
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case quote:
			text, err := unquote(rest[1:i])
			if err != nil {
				l.fail("%v", err)
			}
			l.emit(tok{kind: tokString, text: text, line: l.line})
			l.read(i + 1)
			return
		}
	}
	l.fail("a string is not closed")
}

// IsSpace is what Python takes for white space.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f) }
