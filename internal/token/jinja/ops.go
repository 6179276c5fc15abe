package jinja

import (
	"html"
	"math"
	"slices"
	"strings"
)

// maxText bounds the texts that a template builds, in bytes.
const maxText = 64 << 20

// equal is Python's ==.
func equal(a, b any) bool { return equalDeep(a, b, 0) }

func equalDeep(a, b any, depth int) bool {
	if depth > maxNesting {
		return false
	}
	if n, ok := compareNumbers(a, b); ok {
		return n == 0 && !isNaN(a) && !isNaN(b)
	}
	if x, ok := asString(a); ok {
		y, ok := asString(b)
		return ok && x == y
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	case *List:
		y, ok := b.(*List)
		if !ok || x.kind != y.kind || len(x.items) != len(y.items) {
			return false
		}
		for i := range x.items {
			if !equalDeep(x.items[i], y.items[i], depth+1) {
				return false
			}
		}
		return true
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		for i, k := range x.keys {
			v, ok := y.get(k)
			if !ok || !equalDeep(x.vals[i], v, depth+1) {
				return false
			}
		}
		return true
	}
	return a == b
}

// order compares two values as the operator op does, be it < or another.
func order(op string, a, b any) int {
	if n, ok := compareNumbers(a, b); ok {
		return n
	}
	if x, ok := asString(a); ok {
		if y, ok := asString(b); ok {
			return strings.Compare(x, y)
		}
	}
	if x, ok := a.(*List); ok {
		if y, ok := b.(*List); ok && x.kind == y.kind && x.kind != kindRange {
			for i := range min(len(x.items), len(y.items)) {
				if !equal(x.items[i], y.items[i]) {
					return order(op, x.items[i], y.items[i])
				}
			}
			return len(x.items) - len(y.items)
		}
	}
	panic(mismatch(op, a, b))
}

func mismatch(op string, a, b any) *Error {
	for _, v := range []any{a, b} {
		if u, ok := v.(*undefined); ok {
			return u.fail()
		}
	}
	return bad("a %s and a %s cannot be used with '%s'", typeName(a), typeName(b), op)
}

func compare(op string, a, b any) bool {
	switch op {
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	case "in":
		return contains(b, a)
	case "not in":
		return !contains(b, a)
	}
	n := order(op, a, b)
	if isNaN(a) || isNaN(b) {
		return false
	}
	switch op {
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	}
	return n >= 0
}

func isNaN(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

func contains(v, item any) bool {
	if s, ok := asString(v); ok {
		sub, ok := asString(item)
		if !ok {
			panic(mismatch("in", item, v))
		}
		return strings.Contains(s, sub)
	}
	if d, ok := v.(*Dict); ok {
		_, ok := d.get(item)
		return ok
	}
	items, ok := elements(v)
	if !ok {
		panic(bad("'in' cannot search a %s", typeName(v)))
	}
	return slices.ContainsFunc(items, func(x any) bool { return equal(x, item) })
}

const (
	byZero   = "division by zero"
	tooLarge = "the result is too large"
)

// arithmetic is a binary operator but '~'.
func arithmetic(op string, a, b any) any {
	i, isInt := asInt(a)
	j, isInt2 := asInt(b)
	if isInt && isInt2 {
		if v, ok := integers(op, i, j); ok {
			return v
		}
	}
	if m, ok := bigOf(a); ok {
		if n, ok := bigOf(b); ok {
			return bigIntegers(op, m, n)
		}
	}
	x, isNum := asFloat(a)
	y, isNum2 := asFloat(b)
	if isNum && isNum2 {
		return floats(op, x, y)
	}
	switch op {
	case "+":
		return add(a, b)
	case "*":
		if isInt {
			return repeat(b, a, i)
		}
		if isInt2 {
			return repeat(a, b, j)
		}
	case "%":
		if s, ok := asString(a); ok {
			return percent(s, b, isMarkup(a))
		}
	}
	panic(mismatch(op, a, b))
}

func add(a, b any) any {
	x, ok := asString(a)
	y, ok2 := asString(b)
	if ok && ok2 {
		switch m, m2 := isMarkup(a), isMarkup(b); {
		case m && !m2:
			y = escapeHTML(y)
		case m2 && !m:
			x, a = escapeHTML(x), b
		}
		return keep(a, joined(x, y))
	}
	l, ok := a.(*List)
	r, ok2 := b.(*List)
	if ok && ok2 && l.kind == r.kind && l.kind != kindRange {
		if len(l.items)+len(r.items) > maxItems {
			panic(bad(tooLarge))
		}
		return &List{kind: l.kind, items: slices.Concat(l.items, r.items)}
	}
	panic(mismatch("+", a, b))
}

func joined(x, y string) string {
	if len(x)+len(y) > maxText {
		panic(bad(tooLarge))
	}
	return x + y
}

// maxItems bounds the lists that a template builds.
const maxItems = 1 << 20

func repeat(v, by any, n int64) any {
	n = max(n, 0)
	if s, ok := asString(v); ok {
		if n > maxText || int64(len(s))*n > maxText {
			panic(bad(tooLarge))
		}
		return keep(v, strings.Repeat(s, int(n)))
	}
	l, ok := v.(*List)
	if !ok || l.kind == kindRange {
		panic(mismatch("*", v, by))
	}
	if n > maxItems || int64(len(l.items))*n > maxItems {
		panic(bad(tooLarge))
	}
	return &List{kind: l.kind, items: slices.Repeat(l.items, int(n))}
}

// integers is a binary operator on integers that a float holds exactly; false: others.
func integers(op string, i, j int64) (any, bool) {
	const exact = 1 << 53
	if min(i, j) < -exact || max(i, j) > exact || j == 0 {
		return nil, false
	}
	rest := (i%j + j) % j // with the sign of j, as in Python
	switch op {
	case "+":
		return i + j, true
	case "-":
		return i - j, true
	case "*":
		return i * j, i*j/j == i
	case "/":
		return float64(i) / float64(j), true
	case "//":
		return (i - rest) / j, true
	case "%":
		return rest, true
	}
	return nil, false
}

func floats(op string, x, y float64) any {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		if x == 0 && y < 0 {
			panic(bad(byZero))
		}
		if x < 0 && y != math.Trunc(y) {
			panic(bad("a root of a negative number is not supported"))
		}
		return math.Pow(x, y)
	}
	if y == 0 {
		panic(bad(byZero))
	}
	switch op {
	case "/":
		return x / y
	case "//":
		return math.Floor(x / y)
	}
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

// escapeHTML escapes as Python's MarkupSafe does.
func escapeHTML(s string) string { return html.EscapeString(s) }
