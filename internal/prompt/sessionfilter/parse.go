// Package sessionfilter is the small language in which a config says which recorded sessions to
// play: comparisons, and, or, not, in, len, and access to what a session has. An expression looks
// like Python's, with or without "lambda x:" in front, and can read the session and nothing else.
package sessionfilter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of an expression.
const (
	mostBytes = 1 << 16
	mostDepth = 100
)

// Filter is an expression. It is safe for concurrent use.
type Filter struct {
	root node
}

// Parse reads an expression.
func Parse(text string) (*Filter, error) {
	if len(text) > mostBytes {
		return nil, fmt.Errorf("the filter has %d bytes, more than %d", len(text), mostBytes)
	}
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, name: "x"}
	if p.word("lambda") {
		t := p.next()
		if t.kind != nameToken || keyword(t.text) {
			return nil, p.fault(t, "a name after lambda")
		}
		p.name = t.text
		if t := p.next(); t.text != ":" || t.kind != signToken {
			return nil, p.fault(t, "a colon after lambda and its name")
		}
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.next(); t.kind != endToken {
		return nil, p.fault(t, "the end")
	}
	return &Filter{root: root}, nil
}

// The kinds of tokens.
const (
	endToken = iota
	nameToken
	signToken
	textToken
	numberToken
)

type token struct {
	kind   int
	text   string
	number float64
	at     int // offset in the expression
}

func keyword(s string) bool {
	switch s {
	case "and", "or", "not", "in", "lambda", "True", "False", "None":
		return true
	}
	return false
}

func scan(text string) ([]token, error) {
	var out []token
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		rest := text[i:]
		t := token{at: i}
		n := size
		switch {
		case unicode.IsSpace(r):
			i += size
			continue
		case r == '\'' || r == '"':
			var err error
			if t.text, n, err = quoted(rest); err != nil {
				return nil, fmt.Errorf("at byte %d of the filter: %w", i+1, err)
			}
			t.kind = textToken
		case r >= '0' && r <= '9':
			n = span(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' || r == 'e' || r == 'E' || r == '_' })
			v, err := strconv.ParseFloat(rest[:n], 64)
			if err != nil {
				return nil, fmt.Errorf("at byte %d of the filter: %q is not a number", i+1, rest[:n])
			}
			t.kind, t.text, t.number = numberToken, rest[:n], v
		case r == '_' || unicode.IsLetter(r):
			n = span(rest, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
			t.kind, t.text = nameToken, rest[:n]
		default:
			if len(rest) > 1 && strings.Contains("== != <= >=", rest[:2]) && rest[1] == '=' {
				n = 2
			} else if !strings.ContainsRune("<>()[],.:-", r) {
				return nil, fmt.Errorf("at byte %d of the filter: %q means nothing here", i+1, r)
			}
			t.kind, t.text = signToken, rest[:n]
		}
		out = append(out, t)
		i += n
	}
	return append(out, token{kind: endToken, at: len(text)}), nil
}

func span(text string, in func(rune) bool) int {
	if n := strings.IndexFunc(text, func(r rune) bool { return !in(r) }); n >= 0 {
		return n
	}
	return len(text)
}

// quoted reads a string in quotes and gives how many bytes it takes.
func quoted(text string) (string, int, error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[0]:
			return b.String(), i + 1, nil
		case c == '\\' && i+1 < len(text):
			i++
			at := strings.IndexByte(`nt\'"`, text[i])
			if at < 0 {
				return "", 0, fmt.Errorf("\\%c is not known", text[i])
			}
			b.WriteByte("\n\t\\'\""[at])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, fmt.Errorf("a string has no end")
}

type parser struct {
	tokens []token
	name   string
	depth  int
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != endToken {
		p.tokens = p.tokens[1:]
	}
	return t
}

// word takes a keyword where it comes next.
func (p *parser) word(text string) bool { return p.accept(nameToken, text) }

func (p *parser) sign(text string) bool { return p.accept(signToken, text) }

func (p *parser) accept(kind int, text string) bool {
	if t := p.peek(); t.kind != kind || t.text != text {
		return false
	}
	p.next()
	return true
}

func (p *parser) fault(t token, want string) error {
	found := strconv.Quote(t.text)
	if t.kind == endToken {
		found = "the end"
	}
	return fmt.Errorf("at byte %d of the filter: %s where %s should be", t.at+1, found, want)
}

func (p *parser) or() (node, error) {
	if p.depth++; p.depth > mostDepth {
		return nil, fmt.Errorf("the filter goes more than %d levels deep", mostDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.and()
	for err == nil && p.word("or") {
		var right node
		right, err = p.and()
		left = either{left, right}
	}
	return left, err
}

func (p *parser) and() (node, error) {
	left, err := p.not()
	for err == nil && p.word("and") {
		var right node
		right, err = p.not()
		left = both{left, right}
	}
	return left, err
}

func (p *parser) not() (node, error) {
	odd, some := false, false
	for p.word("not") {
		odd, some = !odd, true
	}
	n, err := p.comparison()
	if err != nil || !some {
		return n, err
	}
	return negation{n, odd}, nil
}

func (p *parser) comparison() (node, error) {
	left, err := p.value()
	if err != nil {
		return nil, err
	}
	var all node
	for {
		op, ok := p.operator()
		if !ok {
			break
		}
		right, err := p.value()
		if err != nil {
			return nil, err
		}
		var c node = comparison{op, left, right}
		if all != nil { // a < b < c is a < b and b < c
			c = both{all, c}
		}
		all, left = c, right
	}
	if all != nil {
		return all, nil
	}
	return left, nil
}

func (p *parser) operator() (string, bool) {
	t := p.peek()
	switch {
	case t.kind == signToken && strings.Contains(" == != < <= > >= ", " "+t.text+" "):
		p.next()
		return t.text, true
	case p.word("in"):
		return "in", true
	case t.kind == nameToken && t.text == "not" && len(p.tokens) > 1 && p.tokens[1].kind == nameToken && p.tokens[1].text == "in":
		p.next()
		p.next()
		return "not in", true
	}
	return "", false
}

func (p *parser) value() (node, error) {
	n, err := p.primary()
	for err == nil {
		switch {
		case p.sign("["):
			var key node
			if key, err = p.or(); err == nil {
				n = item{n, key}
				err = p.need("]")
			}
		case p.sign("."):
			n, err = p.get(n)
		default:
			return n, nil
		}
	}
	return nil, err
}

func (p *parser) need(sign string) error {
	if p.sign(sign) {
		return nil
	}
	return p.fault(p.peek(), strconv.Quote(sign))
}

func (p *parser) get(of node) (node, error) {
	if t := p.next(); t.kind != nameToken || t.text != "get" {
		return nil, p.fault(t, "get(…), the only method,")
	}
	if err := p.need("("); err != nil {
		return nil, err
	}
	args, err := p.list(")")
	if err != nil {
		return nil, err
	}
	switch len(args) {
	case 1:
		return lookup{of, args[0], constant{nil}}, nil
	case 2:
		return lookup{of, args[0], args[1]}, nil
	}
	return nil, fmt.Errorf("get in the filter takes a name and a value in its place, not %d of them", len(args))
}

// list reads values up to a closing sign.
func (p *parser) list(end string) ([]node, error) {
	var out []node
	for !p.sign(end) {
		if len(out) > 0 {
			if err := p.need(","); err != nil {
				return nil, err
			}
			if p.sign(end) {
				break
			}
		}
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (p *parser) primary() (node, error) {
	t := p.next()
	switch {
	case t.kind == textToken:
		return constant{t.text}, nil
	case t.kind == numberToken:
		return constant{t.number}, nil
	case t.kind == signToken && t.text == "-" && p.peek().kind == numberToken:
		return constant{-p.next().number}, nil
	case t.kind == signToken && t.text == "[":
		items, err := p.list("]")
		return listing(items), err
	case t.kind == signToken && t.text == "(":
		return p.group()
	case t.kind == nameToken:
		return p.named(t)
	}
	return nil, p.fault(t, "a value")
}

// group reads what is in parentheses: a value, or several.
func (p *parser) group() (node, error) {
	first, err := p.or()
	if err != nil || p.sign(")") {
		return first, err
	}
	if err := p.need(","); err != nil {
		return nil, err
	}
	rest, err := p.list(")")
	return listing(append([]node{first}, rest...)), err
}

func (p *parser) named(t token) (node, error) {
	switch t.text {
	case "True":
		return constant{true}, nil
	case "False":
		return constant{false}, nil
	case "None":
		return constant{nil}, nil
	case p.name:
		return session{}, nil
	case "len":
		if err := p.need("("); err != nil {
			return nil, err
		}
		of, err := p.or()
		if err != nil {
			return nil, err
		}
		return length{of}, p.need(")")
	}
	return nil, p.fault(t, "a value (the session is "+p.name+", and len the only function)")
}
