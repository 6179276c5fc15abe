package chat

import (
	"errors"
	"fmt"
	"strings"
)

type sliceExpr struct {
	of, from, to, step expr
	line               int
}

func (e *sliceExpr) eval(m *machine, s *scope) (any, error) {
	of, err := e.of.eval(m, s)
	if err != nil {
		return nil, err
	}
	var parts [3]any
	for i, p := range []expr{e.from, e.to, e.step} {
		if p == nil {
			continue
		}
		if parts[i], err = p.eval(m, s); err != nil {
			return nil, err
		}
	}
	v, err := slice(of, parts)
	if errors.Is(err, errNoParts) && constant(e) {
		return &undefined{"a part of a " + typeName(of)}, nil
	}
	return v, at(e.line, err)
}

// errNoParts is the fault of a slice of something else than a sequence. Of constants Jinja makes
// it undefined, as it works them out ahead by other means.
var errNoParts = errors.New("only strings and sequences can be sliced")

// constant reports whether an expression is made of literals alone.
func constant(es ...expr) bool {
	for _, e := range es {
		switch e := e.(type) {
		case nil, *literal:
		case *listExpr:
			if !constant(e.items...) {
				return false
			}
		case *dictExpr:
			if !constant(e.keys...) || !constant(e.vals...) {
				return false
			}
		case *sliceExpr:
			if !constant(e.of, e.from, e.to, e.step) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// slice is of[from:to:step].
func slice(of any, parts [3]any) (any, error) {
	var n int
	var letters []rune
	list, _ := of.(*List)
	s, isText := asString(of)
	switch {
	case list != nil:
		n = len(list.items)
	case isText:
		letters = []rune(s)
		n = len(letters)
	default:
		if u, ok := of.(*undefined); ok {
			return nil, u.fail()
		}
		return nil, fmt.Errorf("%w: not a %s", errNoParts, typeName(of))
	}
	from, to, step, err := bounds(parts, n)
	if err != nil {
		return nil, err
	}
	var items []any
	var b strings.Builder
	for i := from; (step > 0 && i < to) || (step < 0 && i > to); i += step {
		if isText {
			b.WriteRune(letters[i])
		} else {
			items = append(items, list.items[i])
		}
	}
	switch {
	case list != nil:
		return &List{kind: list.kind, items: items}, nil
	case isMarkup(of):
		return markup(b.String()), nil
	}
	return b.String(), nil
}

func isMarkup(v any) bool {
	_, ok := v.(markup)
	return ok
}

// bounds are the first index, the one to stop at and the step of a slice of n items.
func bounds(parts [3]any, n int) (from, to, step int, err error) {
	step = 1
	get := func(v any, missing int) int {
		if v == nil {
			return missing
		}
		i, ok := asInt(v)
		if !ok {
			err = errors.New("the bounds of a slice are not integers")
		}
		if i < 0 {
			i = max(i+int64(n), -1)
		}
		return int(min(i, int64(n)))
	}
	if v, ok := asInt(parts[2]); ok {
		step = int(max(min(v, int64(n)+1), -int64(n)-1))
	} else if parts[2] != nil {
		err = errors.New("the step of a slice is not an integer")
	}
	switch {
	case step == 0 && err == nil:
		return 0, 0, 1, errors.New("the step of a slice is 0")
	case step > 0:
		return max(get(parts[0], 0), 0), max(get(parts[1], n), 0), step, err
	}
	return min(get(parts[0], n-1), n-1), get(parts[1], -1), step, err
}
