package sessionfilter

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/jmespath"
)

// Keeps reports whether a session meets the expression. A session is made of map[string]any, []any,
// string, float64, bool and nil. Asking for what the session lacks is an error, but by get(…).
func (f *Filter) Keeps(doc any) (bool, error) {
	v, err := f.root.eval(doc)
	if err != nil {
		return false, err
	}
	return jmespath.True(v), nil
}

type node interface {
	eval(doc any) (any, error)
}

type (
	session  struct{}
	constant struct{ v any }
	listing  []node
	length   struct{ of node }
	item     struct{ of, key node }
	lookup   struct{ of, key, other node }
	negation struct {
		of  node
		odd bool
	}
	both       struct{ left, right node }
	either     struct{ left, right node }
	comparison struct {
		op          string
		left, right node
	}
)

func (session) eval(doc any) (any, error) { return doc, nil }

func (c constant) eval(any) (any, error) { return c.v, nil }

func (l listing) eval(doc any) (any, error) {
	out := make([]any, len(l))
	for i, n := range l {
		v, err := n.eval(doc)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (l length) eval(doc any) (any, error) {
	v, err := l.of.eval(doc)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return float64(utf8.RuneCountInString(v)), nil
	case []any:
		return float64(len(v)), nil
	case map[string]any:
		return float64(len(v)), nil
	}
	return nil, fmt.Errorf("%s has no len", kind(v))
}

// pair evaluates two parts.
func pair(a, b node, doc any) (x, y any, err error) {
	if x, err = a.eval(doc); err == nil {
		y, err = b.eval(doc)
	}
	return x, y, err
}

func (i item) eval(doc any) (any, error) {
	of, key, err := pair(i.of, i.key, doc)
	if err != nil {
		return nil, err
	}
	v, ok := element(of, key)
	if !ok {
		return nil, fmt.Errorf("%s has no %v; get(%[2]v) asks for what may be missing", kind(of), key)
	}
	return v, nil
}

func element(of, key any) (any, bool) {
	switch of := of.(type) {
	case map[string]any:
		name, ok := key.(string)
		v, there := of[name]
		return v, ok && there
	case []any:
		n, ok := key.(float64)
		if n < 0 {
			n += float64(len(of))
		}
		if !ok || n != float64(int(n)) || n < 0 || int(n) >= len(of) {
			return nil, false
		}
		return of[int(n)], true
	}
	return nil, false
}

func (l lookup) eval(doc any) (any, error) {
	of, key, err := pair(l.of, l.key, doc)
	if err != nil {
		return nil, err
	}
	m, ok := of.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s has no get", kind(of))
	}
	if v, ok := element(m, key); ok {
		return v, nil
	}
	return l.other.eval(doc)
}

func (n negation) eval(doc any) (any, error) {
	v, err := n.of.eval(doc)
	return jmespath.True(v) != n.odd, err
}

func (b both) eval(doc any) (any, error) {
	v, err := b.left.eval(doc)
	if err != nil || !jmespath.True(v) {
		return v, err
	}
	return b.right.eval(doc)
}

func (e either) eval(doc any) (any, error) {
	v, err := e.left.eval(doc)
	if err != nil || jmespath.True(v) {
		return v, err
	}
	return e.right.eval(doc)
}

func (c comparison) eval(doc any) (any, error) {
	a, b, err := pair(c.left, c.right, doc)
	if err != nil {
		return nil, err
	}
	switch c.op {
	case "==":
		return reflect.DeepEqual(a, b), nil
	case "!=":
		return !reflect.DeepEqual(a, b), nil
	case "in":
		return within(a, b)
	case "not in":
		ok, err := within(a, b)
		return !ok, err
	}
	order, err := compare(a, b)
	if err != nil {
		return nil, err
	}
	switch c.op {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

func compare(a, b any) (int, error) {
	switch x := a.(type) {
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y), nil
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	}
	return 0, fmt.Errorf("%s and %s have no order", kind(a), kind(b))
}

// within reports whether a is one of a list, a name of an object or a part of a text.
func within(a, b any) (bool, error) {
	switch b := b.(type) {
	case []any:
		for _, v := range b {
			if reflect.DeepEqual(a, v) {
				return true, nil
			}
		}
		return false, nil
	case map[string]any:
		_, ok := element(b, a)
		return ok, nil
	case string:
		if part, ok := a.(string); ok {
			return strings.Contains(b, part), nil
		}
	}
	return false, fmt.Errorf("%s cannot be in %s", kind(a), kind(b))
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a truth value"
	case float64:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	}
	return "an object"
}
