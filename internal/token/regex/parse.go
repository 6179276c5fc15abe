package regex

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxRepeat is the highest bound of a repetition, as in the reference.
const maxRepeat = 100000

// maxDepth is how deep groups can be nested.
const maxDepth = 200

// flags are the options that a part of a pattern is under.
type flags struct{ fold, dotAll, extended bool }

type parser struct {
	src    []rune
	pos    int
	depth  int
	flags  flags
	tables *tables
}

func (p *parser) more() bool { return p.pos < len(p.src) }

func (p *parser) peek() rune {
	if p.more() {
		return p.src[p.pos]
	}
	return -1
}

// ahead tells whether s comes next.
func (p *parser) ahead(s string) bool {
	i := p.pos
	for _, r := range s {
		if i >= len(p.src) || p.src[i] != r {
			return false
		}
		i++
	}
	return true
}

// accept skips s if it comes next.
func (p *parser) accept(s string) bool {
	if !p.ahead(s) {
		return false
	}
	p.pos += len([]rune(s))
	return true
}

// fault is what is wrong with a pattern. It is thrown where it is found, and Compile returns it.
type fault struct{ error }

func bad(format string, args ...any) fault { return fault{fmt.Errorf(format, args...)} }

func (p *parser) parse() *node {
	n := p.alternatives()
	if p.more() {
		panic(bad("unmatched )"))
	}
	return n
}

// alternatives reads up to the end of a group. Options that are set on the way end
// with it.
func (p *parser) alternatives() *node {
	p.depth++
	if p.depth > maxDepth {
		panic(bad("groups are nested more than %d deep", maxDepth))
	}
	saved := p.flags
	defer func() { p.flags = saved; p.depth-- }()
	alt := &node{kind: kAlt}
	for {
		alt.subs = append(alt.subs, p.sequence())
		if !p.accept("|") {
			break
		}
	}
	if len(alt.subs) == 1 {
		return alt.subs[0]
	}
	return alt
}

// sequence reads one alternative.
func (p *parser) sequence() *node {
	cat := &node{kind: kCat}
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		if p.flags.extended && p.skipComment() {
			continue
		}
		n := p.atom()
		if n == nil {
			continue
		}
		n, repeated := p.quantifiers(n)
		if last := len(cat.subs) - 1; !repeated && last >= 0 && joins(cat.subs[last], n) {
			cat.subs[last] = &node{kind: kLiteral, fold: n.fold, runes: append(cat.subs[last].runes, n.runes...)}
			continue
		}
		cat.subs = append(cat.subs, n)
	}
	p.foldLiterals(cat.subs)
	switch len(cat.subs) {
	case 0:
		return &node{kind: kEmpty}
	case 1:
		return cat.subs[0]
	}
	return cat
}

// joins tells whether two neighbours are one literal.
func joins(a, b *node) bool {
	return a.kind == kLiteral && b.kind == kLiteral && a.fold == b.fold
}

// foldLiterals makes literals ready to be compared without regard to case, once
// they are whole.
func (p *parser) foldLiterals(subs []*node) {
	for _, n := range subs {
		for n.kind == kRepeat {
			n = n.subs[0]
		}
		if n.kind == kLiteral && n.fold && n.parts == nil {
			n.parts = p.tables.foldLiteral(n.runes)
			n.runes = slices.Concat(n.parts...)
		}
	}
}

// skipComment skips white space and comments of the extended syntax.
func (p *parser) skipComment() bool {
	switch p.peek() {
	case ' ', '\t', '\n', '\r', '\f', '\v':
		p.pos++
		return true
	case '#':
		for p.more() && p.peek() != '\n' {
			p.pos++
		}
		return true
	}
	return false
}

// quantifiers reads the repetitions behind an atom.
func (p *parser) quantifiers(n *node) (*node, bool) {
	repeated := false
	for p.more() {
		if n.kind == kAssert || n.kind == kLook {
			if _, _, _, ok := p.interval(); ok || strings.ContainsRune("*+?", p.peek()) {
				panic(bad("an assertion cannot be repeated"))
			}
		}
		lo, hi, plain := 0, inf, true
		switch p.peek() {
		case '*':
			p.pos++
		case '+':
			lo = 1
			p.pos++
		case '?':
			hi = 1
			p.pos++
		case '{':
			var ok, fixed bool
			if lo, hi, fixed, ok = p.interval(); !ok {
				return n, repeated
			}
			plain = false
			if fixed {
				n, repeated = repeat(n, lo, hi, greedy), true
				continue // {n}? is an optional {n}
			}
		default:
			return n, repeated
		}
		m := greedy
		if p.accept("?") {
			m = lazy
		} else if plain && p.accept("+") {
			m = possessive // {n,m}+ repeats {n,m}
		}
		n, repeated = repeat(n, lo, hi, m), true
	}
	return n, repeated
}

func repeat(n *node, lo, hi int, m mode) *node {
	return &node{kind: kRepeat, subs: []*node{n}, min: lo, max: hi, mode: m}
}

// interval reads {n}, {n,}, {,m} or {n,m}. Anything else that begins with a brace is
// a literal.
func (p *parser) interval() (lo, hi int, fixed, ok bool) {
	i, most := p.pos+1, 0
	number := func() (int, bool) {
		n, from := 0, i
		for i < len(p.src) && '0' <= p.src[i] && p.src[i] <= '9' {
			n = min(n*10+int(p.src[i]-'0'), maxRepeat+1)
			i++
		}
		most = max(most, n)
		return n, i > from
	}
	lo, hasLo := number()
	hi = lo
	fixed = true
	hasHi := hasLo
	if i < len(p.src) && p.src[i] == ',' {
		i++
		fixed = false
		if hi, hasHi = number(); !hasHi {
			hi = inf
		}
	}
	if i >= len(p.src) || p.src[i] != '}' || !hasLo && !hasHi {
		return 0, 0, false, false
	}
	if most > maxRepeat {
		panic(bad("a repetition of more than %d", maxRepeat))
	}
	if hi != inf && lo > hi {
		panic(bad("a repetition whose lower bound is above the upper is not supported"))
	}
	p.pos = i + 1
	return lo, hi, fixed, true
}

// atom reads what a repetition can stand behind; nil: what matches nothing, such as a comment.
func (p *parser) atom() *node {
	switch c := p.peek(); c {
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '\\':
		return p.escape()
	case '.':
		p.pos++
		return &node{kind: kAny, all: p.flags.dotAll}
	case '^':
		p.pos++
		return &node{kind: kAssert, assert: lineStart}
	case '$':
		p.pos++
		return &node{kind: kAssert, assert: lineEnd}
	case '*', '+', '?', '{':
		if c == '{' {
			if _, _, _, ok := p.interval(); !ok {
				p.pos++
				return p.literal(c)
			}
		}
		panic(bad("nothing to repeat before %c", c))
	default:
		p.pos++
		return p.literal(c)
	}
}

func (p *parser) literal(r rune) *node {
	if p.flags.fold {
		p.tables.folds()
	}
	return &node{kind: kLiteral, runes: []rune{r}, fold: p.flags.fold}
}

func (p *parser) group() *node {
	p.pos++
	group := &node{kind: kCat}
	if p.accept("?") {
		switch {
		case p.accept("#"):
			for p.more() && p.peek() != ')' {
				p.pos++
			}
			if !p.accept(")") {
				panic(bad("a comment is not closed"))
			}
			return nil
		case p.accept(":"):
		case p.accept("="):
			group.kind = kLook
		case p.accept("!"):
			group.kind, group.not = kLook, true
		case p.accept("<="):
			group.kind, group.behind = kLook, true
		case p.accept("<!"):
			group.kind, group.behind, group.not = kLook, true, true
		case p.accept(">"):
			group.kind = kAtomic
		case p.accept("<"):
			for p.more() && p.peek() != '>' {
				if c := p.peek(); c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
					panic(bad("the name of a group has a character that is not a letter or digit"))
				}
				p.pos++
			}
			if !p.accept(">") {
				panic(bad("the name of a group is not closed"))
			}
		default:
			return p.options()
		}
	}
	group.subs = []*node{p.alternatives()}
	if !p.accept(")") {
		panic(bad("missing )"))
	}
	return group
}

// options reads (?i:...) and (?i), which reaches to the end of the group around it.
func (p *parser) options() *node {
	saved, on := p.flags, true
	defer func() { p.flags = saved }()
	for p.more() {
		c := p.peek()
		p.pos++
		switch c {
		case '-':
			on = false
		case 'i':
			p.flags.fold = on
		case 'm':
			p.flags.dotAll = on
		case 'x':
			p.flags.extended = on
		case ':', ')':
			n := p.alternatives()
			if c == ':' && !p.accept(")") {
				panic(bad("missing )"))
			}
			return &node{kind: kCat, subs: []*node{n}}
		default:
			panic(bad("the group (?%c is not supported", c))
		}
	}
	panic(bad("missing )"))
}
