// Package regex runs the regular expressions that tokenizers split text with. They
// are written for Oniguruma in its own syntax, so what a pattern means here is what
// it means there: ^ and $ know lines, (?m) lets the dot match newlines, {n,m}+ is a
// repetition of a repetition, and letters compare without regard to case by full
// case folding. A construct that the package does not know is an error that names
// it.
//
// Matching backtracks, as Oniguruma's does, because the first alternative that
// matches counts. A bound on the steps makes it end with an error where a pattern
// and a text would take for ever.
package regex

import (
	"fmt"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// Regexp is a compiled pattern. It is safe for concurrent use.
type Regexp struct {
	pattern string
	prog    []inst
	loops   int          // how many loops guard against empty rounds
	first   *unidata.Set // what a match can begin with; nil means anything, or nothing
	ascii   *[128]bool   // the same for ASCII
	tables  *tables
	empty   bool
}

// LimitError is a text on which a pattern takes more steps than it may.
type LimitError struct {
	Pattern string
	Steps   int
	Bytes   int // of the text
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the regular expression %q needs more than %d steps on a text of %d bytes", e.Pattern, e.Steps, e.Bytes)
}

// Span is the bytes of a match.
type Span struct{ Start, End int }

// Compile reads a pattern.
func Compile(pattern string) (re *Regexp, err error) {
	if !utf8.ValidString(pattern) {
		return nil, fmt.Errorf("the regular expression %q is not valid UTF-8", pattern)
	}
	p := &parser{src: []rune(pattern), tables: newTables()}
	c := &compiler{tables: p.tables}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case fault:
			where := ""
			if len(c.prog) == 0 {
				where = fmt.Sprintf(", at character %d", p.pos)
			}
			err = fmt.Errorf("the regular expression %q%s: %w", pattern, where, f)
		default:
			panic(f)
		}
	}()
	root := p.parse()
	c.compile(root)
	re = &Regexp{pattern: pattern, prog: c.prog, loops: c.loops, tables: p.tables}
	lo, _ := root.width()
	re.empty = lo == 0
	if first, ok := p.tables.first(root); ok {
		re.first = unidata.NewSet(first)
		re.ascii = new([128]bool)
		for i := range re.ascii {
			re.ascii[i] = re.first.Has(rune(i))
		}
	}
	return re, nil
}

func (re *Regexp) String() string { return re.pattern }

// FindAll appends the matches in text, from left to right, without overlap. An empty
// match right behind another match does not count. Its error is a *LimitError.
func (re *Regexp) FindAll(dst []Span, text string) ([]Span, error) {
	m := matcher{re: re, text: text, limit: stepsBase + stepsPerByte*len(text)}
	if re.loops > 0 {
		m.loops = make([]int, re.loops)
	}
	var stack [64]frame
	m.stack = stack[:0]
	at, lastEnd := 0, -1
	for at <= len(text) {
		start, end, err := m.search(at)
		if err != nil {
			return dst, err
		}
		if start < 0 {
			break
		}
		if start == end && end == lastEnd {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += max(size, 1)
			continue
		}
		dst = append(dst, Span{start, end})
		at, lastEnd = end, end
	}
	return dst, nil
}

// MustFindAll is FindAll for a caller that cannot return an error: it panics with the *LimitError,
// which package token turns back into one.
func (re *Regexp) MustFindAll(text string) []Span {
	spans, err := re.FindAll(nil, text)
	if err != nil {
		panic(err)
	}
	return spans
}

// MatchesEmpty tells whether the pattern can match nothing.
func (re *Regexp) MatchesEmpty() bool { return re.empty }
