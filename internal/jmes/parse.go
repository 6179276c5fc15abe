// Package jmes evaluates a small part of JMESPath: paths into a document, comparisons,
// logic and a few functions. An expression reads one document and does nothing else; it
// always ends, since there are no loops in it.
package jmes

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Expr is a parsed expression. It is safe for use from many goroutines.
type Expr struct {
	text string
	root node
}

// String gives the expression as it was written.
func (e *Expr) String() string { return e.text }

// The bounds of an expression.
const (
	longest = 4096 // bytes
	deepest = 100  // nested parts
)

// Parse reads an expression.
func Parse(text string) (*Expr, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("the expression has %d bytes, more than %d", len(text), longest)
	}
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens}
	root, err := p.expression(0)
	if err == nil && p.peek().kind != end {
		err = p.fault("an operator or the end")
	}
	if err != nil {
		return nil, err
	}
	return &Expr{text: text, root: root}, nil
}

// kind is what a token is.
type kind uint8

const (
	end    kind = iota
	name        // a field: plain or in double quotes
	value       // a literal: in backticks, in single quotes, or a number
	symbol      // an operator or bracket
)

type token struct {
	kind  kind
	text  string
	value any
	at    int // offset in the expression
	plain bool
}

const symbols = "|| && == != <= >= < > ! ( ) [ ] . , @ + - * / |"

func scan(text string) ([]token, error) {
	var out []token
	for i := 0; i < len(text); {
		c := text[i]
		t := token{at: i}
		n := 0
		var err error
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case letter(c):
			for n = 1; i+n < len(text) && (letter(text[i+n]) || digit(text[i+n])); n++ {
			}
			t.kind, t.text, t.plain = name, text[i:i+n], true
		case digit(c):
			for n = 1; i+n < len(text) && (digit(text[i+n]) || strings.IndexByte(".eE", text[i+n]) >= 0); n++ {
			}
			t.kind = value
			t.value, err = strconv.ParseFloat(text[i:i+n], 64)
		case c == '"':
			if n, err = quoted(text[i:], c); err == nil {
				t.kind = name
				err = json.Unmarshal([]byte(text[i:i+n]), &t.text)
			}
		case c == '\'':
			if n, err = quoted(text[i:], c); err == nil {
				t.kind = value
				t.value = strings.ReplaceAll(text[i+1:i+n-1], `\'`, `'`)
			}
		case c == '`':
			if n, err = quoted(text[i:], c); err == nil {
				t.kind = value
				t.value, err = literal(text[i+1 : i+n-1])
			}
		default:
			for s := range strings.FieldsSeq(symbols) {
				if strings.HasPrefix(text[i:], s) {
					t.kind, t.text, n = symbol, s, len(s)
					break
				}
			}
			if n == 0 {
				err = fmt.Errorf("%q has no meaning", c)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("at character %d of %q: %w", i+1, text, err)
		}
		out = append(out, t)
		i += n
	}
	return append(out, token{kind: end, at: len(text)}), nil
}

func letter(c byte) bool { return c == '_' || c|32 >= 'a' && c|32 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// quoted is the length of what stands in quotes at the start of text.
func quoted(text string, quote byte) (int, error) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("%c is not closed", quote)
}

// literal reads what stands in backticks: JSON, or a bare word.
func literal(text string) (any, error) {
	text = strings.ReplaceAll(text, "\\`", "`")
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		if trimmed := strings.TrimSpace(text); trimmed != "" && strings.IndexByte(`"[{`, trimmed[0]) < 0 {
			return trimmed, nil
		}
		return nil, fmt.Errorf("what stands in backticks is no JSON: %w", err)
	}
	return v, nil
}

// parser goes through the tokens, operators that bind tighter first.
type parser struct {
	text   string
	tokens []token
	i      int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.i] }

// is takes a symbol if it is the next one.
func (p *parser) is(s string) bool {
	if t := p.peek(); t.kind != symbol || t.text != s {
		return false
	}
	p.i++
	return true
}

func (p *parser) fault(want string) error {
	t := p.peek()
	found := "the expression ends"
	if t.kind != end {
		found = fmt.Sprintf("%q stands", p.text[t.at:p.tokens[p.i+1].at])
	}
	return fmt.Errorf("at character %d of %q: %s where %s should", t.at+1, p.text, found, want)
}

// power is how tight an operator binds; 0: it is none.
func power(t token) int {
	if t.kind != symbol {
		return 0
	}
	switch t.text {
	case "|":
		return 1
	case "||":
		return 2
	case "&&":
		return 3
	case "==", "!=", "<", "<=", ">", ">=":
		return 4
	case "+", "-":
		return 5
	case "*", "/":
		return 6
	}
	return 0
}

func (p *parser) expression(least int) (node, error) {
	if p.depth++; p.depth > deepest {
		return nil, fmt.Errorf("%q is nested more than %d deep", p.text, deepest)
	}
	defer func() { p.depth-- }()
	left, err := p.operand()
	for err == nil {
		t := p.peek()
		n := power(t)
		if n == 0 || n <= least {
			return left, nil
		}
		p.i++
		var right node
		if right, err = p.expression(n); err == nil {
			left = operator(t.text, left, right)
		}
	}
	return nil, err
}

// operand reads what stands between operators, and the path behind it.
func (p *parser) operand() (node, error) {
	if p.is("!") {
		inner, err := p.expression(4) // binds tighter than comparisons do
		return not{inner}, err
	}
	if p.is("-") {
		inner, err := p.expression(6)
		return arithmetic{"-", constant{0.0}, inner}, err
	}
	base, err := p.base()
	for err == nil {
		switch {
		case p.is("."):
			t := p.peek()
			if t.kind != name {
				return nil, p.fault("the name of a field")
			}
			p.i++
			base = field{base, t.text}
		case p.is("["):
			base, err = p.index(base)
		default:
			return base, nil
		}
	}
	return nil, err
}

func (p *parser) base() (node, error) {
	t := p.peek()
	switch {
	case t.kind == name:
		p.i++
		if t.plain && p.is("(") {
			return p.call(t)
		}
		return field{current{}, t.text}, nil
	case t.kind == value:
		p.i++
		return constant{t.value}, nil
	case p.is("@"):
		return current{}, nil
	case p.is("("):
		inner, err := p.expression(0)
		if err == nil && !p.is(")") {
			err = p.fault(`")"`)
		}
		return inner, err
	case t.kind == symbol && t.text == "[": // of the document itself
		return current{}, nil
	}
	return nil, p.fault("a field, a literal or a function")
}

func (p *parser) index(base node) (node, error) {
	sign := 1.0
	if p.is("-") {
		sign = -1
	}
	n, ok := p.peek().value.(float64)
	if !ok || n > 1e9 || n != float64(int(n)) {
		return nil, p.fault("a whole number")
	}
	p.i++
	if !p.is("]") {
		return nil, p.fault(`"]"`)
	}
	return index{base, int(sign * n)}, nil
}

func (p *parser) call(t token) (node, error) {
	f, ok := functions()[t.text]
	if !ok {
		return nil, fmt.Errorf("at character %d of %q: there is no function %s; there are %s", t.at+1, p.text, t.text, strings.Join(functionNames(), ", "))
	}
	c := call{f: f}
	for !p.is(")") {
		if len(c.args) > 0 && !p.is(",") {
			return nil, p.fault(`"," or ")"`)
		}
		arg, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, arg)
	}
	if len(c.args) < f.least || len(c.args) > f.most {
		return nil, fmt.Errorf("at character %d of %q: %s takes %d arguments, not %d", t.at+1, p.text, t.text, f.least, len(c.args))
	}
	return c, nil
}
