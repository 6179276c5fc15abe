package jinja

import "slices"

type sliceExpr struct {
	of, from, to, step expr
	line               int
}

func (e *sliceExpr) eval(m *machine, s *scope) any {
	of := e.of.eval(m, s)
	var parts [3]any
	for i, p := range []expr{e.from, e.to, e.step} {
		if p != nil {
			parts[i] = p.eval(m, s)
		}
	}
	m.line = e.line
	defined(of)
	v, ok := slice(of, parts)
	if !ok && !constant(e) {
		panic(bad("only strings and sequences can be sliced: not a %s", typeName(of)))
	}
	return v
}

// constant reports whether an expression is made of literals alone.
func constant(es ...expr) bool {
	return !slices.ContainsFunc(es, func(e expr) bool {
		switch e := e.(type) {
		case nil, *literal:
			return false
		case *listExpr:
			return !constant(e.items...)
		case *dictExpr:
			return !constant(e.keys...) || !constant(e.vals...)
		case *sliceExpr:
			return !constant(e.of, e.from, e.to, e.step)
		}
		return true
	})
}

// slice is of[from:to:step]; false, and undefined, where of is something else than a sequence.
// Jinja works out constants ahead by other means, and takes this for their value.
func slice(of any, parts [3]any) (any, bool) {
	if list, ok := of.(*List); ok {
		return &List{kind: list.kind, items: pick(list.items, parts)}, true
	}
	if s, ok := asString(of); ok {
		return keep(of, string(pick([]rune(s), parts))), true
	}
	return &undefined{"a part of a " + typeName(of)}, false
}

// pick are the elements of a list that a slice takes.
func pick[T any](list []T, parts [3]any) []T {
	var out []T
	from, to, step := bounds(parts, len(list))
	for i := from; (step > 0 && i < to) || (step < 0 && i > to); i += step {
		out = append(out, list[i])
	}
	return out
}

func isMarkup(v any) bool {
	_, ok := v.(markup)
	return ok
}

// bounds are the first index, the one to stop at and the step of a slice of n items.
func bounds(parts [3]any, n int) (from, to, step int) {
	step = 1
	get := func(v any, missing int) int {
		if v == nil {
			return missing
		}
		i, ok := asInt(v)
		if !ok {
			panic(bad("the bounds of a slice are not integers"))
		}
		if i < 0 {
			i = max(i+int64(n), -1)
		}
		return int(min(i, int64(n)))
	}
	if v, ok := asInt(parts[2]); ok {
		step = int(max(min(v, int64(n)+1), -int64(n)-1))
	} else if parts[2] != nil {
		panic(bad("the step of a slice is not an integer"))
	}
	switch {
	case step == 0:
		panic(bad("the step of a slice is 0"))
	case step > 0:
		return max(get(parts[0], 0), 0), max(get(parts[1], n), 0), step
	}
	return min(get(parts[0], n-1), n-1), get(parts[1], -1), step
}
