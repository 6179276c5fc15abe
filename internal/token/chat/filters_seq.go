package chat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func isWordLetter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r)
}

func listFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	return &List{items: slices.Clone(items)}, err
}

func firstFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	if err != nil || len(items) == 0 {
		return &undefined{"the first item of nothing"}, err
	}
	return items[0], nil
}

func lastFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	if _, ok := v[0].(*gen); ok {
		return nil, fmt.Errorf("last takes a sequence; make a list of it first")
	}
	if err != nil || len(items) == 0 {
		return &undefined{"the last item of nothing"}, err
	}
	return items[len(items)-1], nil
}

func reverseFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	if _, ok := asString(v[0]); ok {
		var b strings.Builder
		for _, x := range items {
			b.WriteString(x.(string))
		}
		return keep(v[0], b.String()), nil
	}
	return &gen{items}, nil
}

func itemsFilter(_ *machine, v []any, _ []bool) (any, error) {
	switch d := v[0].(type) {
	case *undefined:
		return &gen{}, nil
	case *Dict:
		return &gen{d.pairs()}, nil
	}
	return nil, fmt.Errorf("items takes a mapping, not a %s", typeName(v[0]))
}

// path follows the parts of an attribute, which dots separate; nil is the value itself.
func path(v, attr any) (any, error) {
	if attr == nil {
		return v, nil
	}
	if i, ok := asInt(attr); ok {
		return item(v, i)
	}
	name, ok := asString(attr)
	if !ok {
		return nil, fmt.Errorf("an attribute is a name, not a %s", typeName(attr))
	}
	var err error
	for part := range strings.SplitSeq(name, ".") {
		if n, e := strconv.ParseInt(part, 10, 64); e == nil && n >= 0 {
			v, err = item(v, n)
		} else {
			v, err = item(v, part)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func mapFilter(m *machine, c call) (any, error) {
	if len(c.args) == 0 {
		return nil, fmt.Errorf("map takes a sequence")
	}
	if !truth(c.args[0]) {
		return &gen{}, nil
	}
	items, err := iterate(c.args[0])
	if err != nil {
		return nil, err
	}
	each, err := mapped(m, c)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(items))
	for i, x := range items {
		if out[i], err = each(x); err != nil {
			return nil, err
		}
	}
	return &gen{out}, nil
}

// mapped is what map does to each item.
func mapped(m *machine, c call) (func(any) (any, error), error) {
	if len(c.args) == 1 {
		v, given, err := call{names: c.names, named: c.named}.bind("map", "attribute", "default")
		if err != nil || !given[0] {
			return nil, either(err, fmt.Errorf("map takes a filter or an attribute"))
		}
		return func(x any) (any, error) {
			x, err := path(x, v[0])
			if _, ok := x.(*undefined); ok && v[1] != nil {
				x = v[1]
			}
			return x, err
		}, nil
	}
	name, _ := asString(c.args[1])
	f, ok := m.filters[name]
	if !ok {
		return nil, fmt.Errorf("the filter %s is not supported", name)
	}
	return func(x any) (any, error) {
		if err := m.step(); err != nil {
			return nil, err
		}
		return f.call(m, call{args: append([]any{x}, c.args[2:]...), names: c.names, named: c.named})
	}, nil
}

// selectFilter keeps or drops the items that pass a test.
func selectFilter(want, attr bool) func(*machine, call) (any, error) {
	return func(m *machine, c call) (any, error) {
		if len(c.args) == 0 || (attr && len(c.args) == 1) {
			return nil, fmt.Errorf("the filter takes a sequence, and selectattr and rejectattr an attribute")
		}
		if !truth(c.args[0]) {
			return &gen{}, nil
		}
		items, err := iterate(c.args[0])
		if err != nil {
			return nil, err
		}
		rest := c.args[1:]
		var name any
		if attr {
			name, rest = rest[0], rest[1:]
		}
		var out []any
		for _, x := range items {
			v := x
			if attr {
				if v, err = path(x, name); err != nil {
					return nil, err
				}
			}
			ok, err := passes(m, v, rest, c)
			if err != nil {
				return nil, err
			}
			if ok == want {
				out = append(out, x)
			}
		}
		return &gen{out}, nil
	}
}

// passes applies the test that the arguments name; without one, the value's truth counts.
func passes(m *machine, v any, args []any, c call) (bool, error) {
	if err := m.step(); err != nil {
		return false, err
	}
	if len(args) == 0 {
		return truth(v), nil
	}
	name, _ := asString(args[0])
	t, ok := m.tests[name]
	if !ok {
		return false, fmt.Errorf("the test %s is not supported", name)
	}
	r, err := t.call(m, call{args: append([]any{v}, args[1:]...), names: c.names, named: c.named})
	return truth(r), err
}

func attrFilter(_ *machine, v []any, _ []bool) (any, error) {
	name, err := str(v[1])
	if err != nil {
		return nil, err
	}
	if u, ok := v[0].(*undefined); ok {
		return nil, u.fail()
	}
	own, ok, err := ownAttribute(v[0], name)
	if err != nil || ok {
		return own, err
	}
	return &undefined{fmt.Sprintf("the attribute '%s' of a %s", name, typeName(v[0]))}, nil
}

// folded is a value as sorting without regard to case sees it.
func folded(v any, sensitive bool) any {
	if s, ok := asString(v); ok && !sensitive {
		return lower(s)
	}
	return v
}

// sorted sorts items by keys and keeps the order of equal ones.
func sorted(items, keys []any, reverse bool) ([]any, error) {
	at := make([]int, len(items))
	for i := range at {
		at[i] = i
	}
	var err error
	slices.SortStableFunc(at, func(i, j int) int {
		n, e := order(keys[i], keys[j])
		err = either(err, e)
		if reverse {
			return -n
		}
		return n
	})
	out := make([]any, len(items))
	for i, j := range at {
		out[i] = items[j]
	}
	return out, err
}

func sortFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	keys := make([]any, len(items))
	for i, x := range items {
		if v[3] != nil {
			if s, ok := asString(v[3]); ok && strings.Contains(s, ",") {
				if keys[i], err = several(x, s, truth(v[2])); err != nil {
					return nil, err
				}
				continue
			}
			if x, err = path(x, v[3]); err != nil {
				return nil, err
			}
		}
		keys[i] = folded(x, truth(v[2]))
	}
	out, err := sorted(items, keys, truth(v[1]))
	return &List{items: out}, err
}

// several is a key of several attributes, with commas between them.
func several(x any, attrs string, sensitive bool) (any, error) {
	key := &List{}
	for attr := range strings.SplitSeq(attrs, ",") {
		v, err := path(x, attr)
		if err != nil {
			return nil, err
		}
		key.items = append(key.items, folded(v, sensitive))
	}
	return key, nil
}

func dictSortFilter(_ *machine, v []any, given []bool) (any, error) {
	d, ok := v[0].(*Dict)
	if !ok {
		return nil, fmt.Errorf("dictsort takes a mapping, not a %s", typeName(v[0]))
	}
	from := d.keys
	if given[2] && v[2] != "key" {
		if v[2] != "value" {
			return nil, fmt.Errorf("dictsort sorts by key or by value")
		}
		from = d.vals
	}
	keys := make([]any, len(from))
	for i, x := range from {
		keys[i] = folded(x, truth(v[1]))
	}
	out, err := sorted(d.pairs(), keys, truth(v[3]))
	return &List{items: out}, err
}

func uniqueFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	var out []any
	seen := &Dict{}
	for _, x := range items {
		key := x
		if key, err = path(x, v[2]); err != nil {
			return nil, err
		}
		key = folded(key, truth(v[1]))
		_, ok, err := seen.get(key)
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, x)
			err = seen.set(key, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return &gen{out}, nil
}

func sumFilter(m *machine, v []any, given []bool) (any, error) {
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	var total any = int64(0)
	if given[2] {
		total = v[2]
	}
	for _, x := range items {
		if x, err = path(x, v[1]); err != nil {
			return nil, err
		}
		if total, err = arithmetic("+", total, x); err == nil {
			err = m.builtOf(total)
		}
		if err != nil {
			return nil, err
		}
	}
	return total, nil
}

func batchFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	n, ok := asInt(v[1])
	if err != nil || !ok || n < 1 || n > maxItems {
		return nil, either(err, fmt.Errorf("batch takes the number of items of a batch"))
	}
	var out []any
	for part := range slices.Chunk(items, int(n)) {
		part = slices.Clone(part)
		for v[2] != nil && len(part) < int(n) {
			part = append(part, v[2])
		}
		out = append(out, &List{items: part})
	}
	return &gen{out}, nil
}

func extremeFilter(name string, sign int) function {
	return func(_ *machine, v []any, _ []bool) (any, error) {
		items, err := iterate(v[0])
		if err != nil || len(items) == 0 {
			return &undefined{"the " + name + " of nothing"}, err
		}
		var best, bestKey any
		for i, x := range items {
			key := x
			if key, err = path(x, v[2]); err != nil {
				return nil, err
			}
			key = folded(key, truth(v[1]))
			if i == 0 {
				best, bestKey = x, key
				continue
			}
			n, err := order(key, bestKey)
			if err != nil {
				return nil, err
			}
			if n*sign > 0 {
				best, bestKey = x, key
			}
		}
		return best, nil
	}
}
