package chat

import (
	"errors"
	"fmt"
	"html"
	"math"
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
			v, ok, _ := y.get(k)
			if !ok || !equalDeep(x.vals[i], v, depth+1) {
				return false
			}
		}
		return true
	}
	return a == b
}

// order compares two values as < does.
func order(a, b any) (int, error) {
	if n, ok := compareNumbers(a, b); ok {
		return n, nil
	}
	if x, ok := asString(a); ok {
		if y, ok := asString(b); ok {
			return strings.Compare(x, y), nil
		}
	}
	if x, ok := a.(*List); ok {
		if y, ok := b.(*List); ok && x.kind == y.kind && x.kind != kindRange {
			for i := range min(len(x.items), len(y.items)) {
				if !equal(x.items[i], y.items[i]) {
					return order(x.items[i], y.items[i])
				}
			}
			return len(x.items) - len(y.items), nil
		}
	}
	return 0, mismatch("<", a, b)
}

func mismatch(op string, a, b any) error {
	for _, v := range []any{a, b} {
		if u, ok := v.(*undefined); ok {
			return u.fail()
		}
	}
	return fmt.Errorf("a %s and a %s cannot be used with '%s'", typeName(a), typeName(b), op)
}

// compare is one comparison.
func compare(op string, a, b any) (bool, error) {
	switch op {
	case "==":
		return equal(a, b), nil
	case "!=":
		return !equal(a, b), nil
	case "in":
		return contains(b, a)
	case "not in":
		ok, err := contains(b, a)
		return !ok, err
	}
	n, err := order(a, b)
	if err != nil {
		return false, mismatch(op, a, b)
	}
	if isNaN(a) || isNaN(b) {
		return false, nil
	}
	switch op {
	case "<":
		return n < 0, nil
	case "<=":
		return n <= 0, nil
	case ">":
		return n > 0, nil
	}
	return n >= 0, nil
}

func isNaN(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

// contains is item in v.
func contains(v, item any) (bool, error) {
	if s, ok := asString(v); ok {
		sub, ok := asString(item)
		if !ok {
			return false, mismatch("in", item, v)
		}
		return strings.Contains(s, sub), nil
	}
	if d, ok := v.(*Dict); ok {
		_, ok, err := d.get(item)
		return ok, err
	}
	items, err := iterate(v)
	if err != nil {
		return false, fmt.Errorf("'in' cannot search a %s", typeName(v))
	}
	for _, x := range items {
		if equal(x, item) {
			return true, nil
		}
	}
	return false, nil
}

var errZero = errors.New("division by zero")

var errLarge = errors.New("the result is too large")

// arithmetic is a binary operator but '~'.
func arithmetic(op string, a, b any) (any, error) {
	i, isInt := asInt(a)
	j, isInt2 := asInt(b)
	if isInt && isInt2 {
		if v, err := integers(op, i, j); !errors.Is(err, errLarge) {
			return v, err
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
	return nil, mismatch(op, a, b)
}

func add(a, b any) (any, error) {
	x, ok := asString(a)
	y, ok2 := asString(b)
	if ok && ok2 {
		_, m := a.(markup)
		_, m2 := b.(markup)
		if len(x)+len(y) > maxText {
			return nil, errLarge
		}
		switch {
		case m && m2:
			return markup(x + y), nil
		case m:
			return markup(x + escapeHTML(y)), nil
		case m2:
			return markup(escapeHTML(x) + y), nil
		}
		return x + y, nil
	}
	l, ok := a.(*List)
	r, ok2 := b.(*List)
	if ok && ok2 && l.kind == r.kind && l.kind != kindRange {
		if len(l.items)+len(r.items) > maxItems {
			return nil, errLarge
		}
		return &List{kind: l.kind, items: append(append(make([]any, 0, len(l.items)+len(r.items)), l.items...), r.items...)}, nil
	}
	return nil, mismatch("+", a, b)
}

// maxItems bounds the lists that a template builds.
const maxItems = 1 << 20

func repeat(v, by any, n int64) (any, error) {
	n = max(n, 0)
	if s, ok := asString(v); ok {
		if n > maxText || int64(len(s))*n > maxText {
			return nil, errLarge
		}
		if _, ok := v.(markup); ok {
			return markup(strings.Repeat(s, int(n))), nil
		}
		return strings.Repeat(s, int(n)), nil
	}
	l, ok := v.(*List)
	if !ok || l.kind == kindRange {
		return nil, mismatch("*", v, by)
	}
	if n > maxItems || int64(len(l.items))*n > maxItems {
		return nil, errLarge
	}
	out := &List{kind: l.kind}
	for range n {
		out.items = append(out.items, l.items...)
	}
	return out, nil
}

func integers(op string, i, j int64) (any, error) {
	switch op {
	case "+":
		if s := i + j; (s > i) == (j > 0) {
			return s, nil
		}
		return nil, errLarge
	case "-":
		if s := i - j; (s < i) == (j > 0) {
			return s, nil
		}
		return nil, errLarge
	case "*":
		if i == 0 || j == 0 {
			return int64(0), nil
		}
		if p := i * j; p/j == i && !(i == -1 && j == math.MinInt64) && !(j == -1 && i == math.MinInt64) {
			return p, nil
		}
		return nil, errLarge
	case "**":
		return power(i, j)
	}
	if j == 0 {
		return nil, errZero
	}
	if i == math.MinInt64 && j == -1 {
		return nil, errLarge
	}
	switch op {
	case "/":
		return float64(i) / float64(j), nil
	case "//":
		q := i / j
		if i%j != 0 && (i < 0) != (j < 0) {
			q--
		}
		return q, nil
	}
	m := i % j
	if m != 0 && (m < 0) != (j < 0) {
		m += j
	}
	return m, nil
}

func power(i, j int64) (any, error) {
	if j < 0 {
		if i == 0 {
			return nil, errZero
		}
		return math.Pow(float64(i), float64(j)), nil
	}
	var p any = int64(1)
	if i == 0 || i == 1 || i == -1 {
		switch {
		case j == 0 || i == 1 || (i == -1 && j%2 == 0):
			return int64(1), nil
		}
		return i, nil
	}
	for range min(j, 64) { // the rest is too large
		var err error
		if p, err = integers("*", p.(int64), i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func floats(op string, x, y float64) (any, error) {
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "**":
		if x == 0 && y < 0 {
			return nil, errZero
		}
		if x < 0 && y != math.Trunc(y) {
			return nil, errors.New("a root of a negative number is not supported")
		}
		return math.Pow(x, y), nil
	}
	if y == 0 {
		return nil, errZero
	}
	switch op {
	case "/":
		return x / y, nil
	case "//":
		return math.Floor(x / y), nil
	}
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m, nil
}

// escapeHTML escapes as Python's MarkupSafe does.
func escapeHTML(s string) string { return html.EscapeString(s) }
