package regex

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// escape reads what begins with a backslash, outside a class.
func (p *parser) escape() *node {
	if p.pos+1 >= len(p.src) {
		panic(bad("a backslash ends the pattern"))
	}
	c := p.src[p.pos+1]
	if a, ok := assertions[c]; ok {
		p.pos += 2
		return &node{kind: kAssert, assert: a}
	}
	switch c {
	case 'R':
		p.pos += 2
		one := &node{kind: kSet, set: []unidata.Range{{Lo: '\n', Hi: '\r'}, {Lo: 0x85, Hi: 0x85}, {Lo: 0x2028, Hi: 0x2029}}}
		two := &node{kind: kLiteral, runes: []rune("\r\n")}
		return &node{kind: kAtomic, subs: []*node{{kind: kAlt, subs: []*node{two, one}}}}
	case 'N', 'O':
		p.pos += 2
		return &node{kind: kAny, all: c == 'O'}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9', 'k':
		panic(bad("a reference to a group is not supported"))
	case 'K', 'X', 'g', 'y', 'Y', 'c', 'C', 'M':
		panic(bad(`\%c is not supported`, c))
	}
	set, r := p.charEscape(false)
	if set != nil {
		return &node{kind: kSet, set: set}
	}
	return p.literal(r)
}

var assertions = map[rune]assertion{
	'A': textStart, 'z': textEnd, 'Z': textEndLine, 'b': wordEdge, 'B': notWordEdge, 'G': searchStart,
}

// controls are the escapes of single characters, and sets those of sets but \w.
var (
	controls = map[rune]rune{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f', 'v': '\v', 'a': '\a', 'e': 0x1b}
	sets     = map[rune]string{'d': "digit", 's': "space", 'h': "hex"}
)

// charEscape reads an escape of a character or a set, inside a class or outside.
func (p *parser) charEscape(class bool) ([]unidata.Range, rune) {
	c := p.src[p.pos+1]
	p.pos += 2
	if r, ok := controls[c]; ok {
		return nil, r
	}
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W', 'h', 'H':
		set := p.word(class)
		if name := sets[unicode.ToLower(c)]; name != "" {
			set = unidata.Onig(name)
		}
		if unicode.IsUpper(c) {
			set = unidata.Not(set)
		}
		return set, 0
	case 'p', 'P':
		return p.property(c == 'P', class), 0
	case '0', '1', '2', '3', '4', '5', '6', '7':
		p.pos--
		r, _ := p.number(8, 3)
		if r > 0x7f {
			panic(bad("an octal escape above 177 is not supported"))
		}
		return nil, r
	case 'x':
		return p.hexEscape()
	case 'u':
		r, n := p.number(16, 4)
		if n != 4 {
			panic(bad(`\u needs four hexadecimal digits`))
		}
		return nil, r
	case 'c', 'C', 'M', 'o':
		panic(bad(`\%c is not supported`, c))
	}
	return nil, c
}

// hexEscape reads \xHH and \x{H...}.
func (p *parser) hexEscape() ([]unidata.Range, rune) {
	if p.accept("{") {
		r, n := p.number(16, 8)
		if n == 0 || !p.accept("}") || r > 0x10ffff {
			panic(bad(`\x{ needs a hexadecimal code point and a }`))
		}
		return nil, r
	}
	r, n := p.number(16, 2)
	if n == 0 {
		panic(bad(`\x without digits is not supported`))
	}
	if r > 0x7f {
		panic(bad(`\x of a single byte above 7f is not supported; write \x{...} for a code point`))
	}
	return nil, r
}

func (p *parser) number(base rune, n int) (rune, int) {
	v, count := rune(0), 0
	for ; count < n && p.more(); count++ {
		d, err := strconv.ParseUint(string(p.peek()), int(base), 8)
		if err != nil {
			break
		}
		v = min(v*base+rune(d), unicode.MaxRune+1)
		p.pos++
	}
	return v, count
}

func (p *parser) property(not, class bool) []unidata.Range {
	if !p.accept("{") {
		panic(bad(`\p needs a name in braces`))
	}
	if p.accept("^") {
		not = !not
	}
	from := p.pos
	for p.more() && p.peek() != '}' {
		p.pos++
	}
	name := string(p.src[from:p.pos])
	if !p.accept("}") {
		panic(bad(`the name of a \p is not closed`))
	}
	set, ok := unidata.Property(name)
	if !ok {
		panic(bad("unknown character property %q", name))
	}
	if class && strings.EqualFold(name, "word") {
		set = p.word(true)
	}
	if not {
		set = unidata.Not(set)
	}
	return set
}

// word is the characters of words. Oniguruma knows fewer inside a class.
func (p *parser) word(class bool) []unidata.Range {
	if class {
		return unidata.Onig("class_word")
	}
	return p.tables.word
}

func (p *parser) class() *node {
	set, not := p.classSet()
	var more []*node
	if p.flags.fold {
		p.tables.folds()
		if !not {
			more = p.tables.sequences(set)
		}
		set = p.tables.foldSet(set)
	}
	if not {
		set = unidata.Not(set)
	}
	n := &node{kind: kSet, set: set}
	if len(more) > 0 {
		return &node{kind: kAlt, subs: append([]*node{n}, more...)}
	}
	return n
}

// classSet reads [...]; not: it is the characters outside the set.
func (p *parser) classSet() (set []unidata.Range, not bool) {
	p.depth++
	if p.depth > maxDepth {
		panic(bad("classes are nested more than %d deep", maxDepth))
	}
	defer func() { p.depth-- }()
	p.pos++
	not = p.accept("^")
	set = []unidata.Range{}
	var and []unidata.Range // what stands before the last &&
	first, intersected := true, false
	for {
		if !p.more() {
			panic(bad("missing ]"))
		}
		if p.peek() == ']' && (!first || !p.closesLater()) {
			if first {
				panic(bad("a class is empty"))
			}
			p.pos++
			break
		}
		first = false
		if p.accept("&&") {
			if intersected {
				set = unidata.And(and, set)
			}
			and, set, intersected = set, []unidata.Range{}, true
			continue
		}
		set = unidata.Union(set, p.classItem())
	}
	if intersected {
		set = unidata.And(and, set)
	}
	return set, not
}

// closesLater tells whether another ] follows the one at hand, which then is a
// literal.
func (p *parser) closesLater() bool {
	for i := p.pos + 1; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case ']':
			return true
		}
	}
	return false
}

// classItem reads a character, a range, a nested class or an escape.
func (p *parser) classItem() []unidata.Range {
	if p.ahead("[:") {
		if set, ok := p.posix(); ok {
			return set
		}
	}
	if p.peek() == '[' {
		set, not := p.classSet()
		if not {
			set = unidata.Not(set)
		}
		return set
	}
	set, lo := p.classChar()
	ranged := p.peek() == '-' && p.pos+1 < len(p.src) && p.src[p.pos+1] != ']'
	switch {
	case set != nil && ranged:
		panic(bad("a range begins with a class; escape the hyphen"))
	case set != nil:
		return set
	}
	hi := lo
	if ranged {
		p.pos++
		if p.peek() == '[' || p.ahead("&&") {
			panic(bad("a range ends with a class; escape the hyphen"))
		}
		if set, hi = p.classChar(); set != nil {
			panic(bad("a range ends with a class; escape the hyphen"))
		}
		if hi < lo {
			panic(bad("the range %q-%q is empty", lo, hi))
		}
	}
	return []unidata.Range{{Lo: lo, Hi: hi}}
}

// classChar reads one character or a set that an escape means.
func (p *parser) classChar() ([]unidata.Range, rune) {
	c := p.peek()
	if c != '\\' {
		p.pos++
		return nil, c
	}
	if p.pos+1 >= len(p.src) {
		panic(bad("a backslash ends the pattern"))
	}
	switch c := p.src[p.pos+1]; c {
	case 'b':
		p.pos += 2
		return nil, '\b'
	case 'R', 'X':
		panic(bad(`\%c in a class is not supported`, c))
	}
	return p.charEscape(true)
}

// posix reads [:name:] inside a class.
func (p *parser) posix() ([]unidata.Range, bool) {
	i := p.pos + 2
	not := i < len(p.src) && p.src[i] == '^'
	if not {
		i++
	}
	from := i
	for i < len(p.src) && 'a' <= p.src[i] && p.src[i] <= 'z' {
		i++
	}
	if i+1 >= len(p.src) || p.src[i] != ':' || p.src[i+1] != ']' {
		return nil, false
	}
	name := string(p.src[from:i])
	set, ok := unidata.Posix(name)
	if !ok {
		panic(bad("unknown class [:%s:]", name))
	}
	if not {
		set = unidata.Not(set)
	}
	p.pos = i + 2
	return set, true
}
