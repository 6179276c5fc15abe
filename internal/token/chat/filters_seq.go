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

// itemsOf binds a filter that takes a sequence and nothing else.
func itemsOf(name string, c call) ([]any, any, error) {
	v, _, err := c.bind(name, "value")
	if err != nil {
		return nil, nil, err
	}
	items, err := iterate(v[0])
	return items, v[0], err
}

func listFilter(_ *machine, c call) (any, error) {
	items, _, err := itemsOf("list", c)
	return &List{items: slices.Clone(items)}, err
}

func firstFilter(_ *machine, c call) (any, error) {
	items, _, err := itemsOf("first", c)
	if err != nil || len(items) == 0 {
		return &undefined{"the first item of nothing"}, err
	}
	return items[0], nil
}

func lastFilter(_ *machine, c call) (any, error) {
	items, of, err := itemsOf("last", c)
	if _, ok := of.(*gen); ok {
		return nil, fmt.Errorf("last takes a sequence; make a list of it first")
	}
	if err != nil || len(items) == 0 {
		return &undefined{"the last item of nothing"}, err
	}
	return items[len(items)-1], nil
}

func reverseFilter(_ *machine, c call) (any, error) {
	items, of, err := itemsOf("reverse", c)
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	if _, ok := asString(of); ok {
		var b strings.Builder
		for _, x := range items {
			b.WriteString(x.(string))
		}
		return keep(of, b.String()), nil
	}
	return &gen{items}, nil
}

func itemsFilter(_ *machine, c call) (any, error) {
	v, _, err := c.bind("items", "value")
	if err != nil {
		return nil, err
	}
	switch d := v[0].(type) {
	case *undefined:
		return &gen{}, nil
	case *Dict:
		return &gen{d.pairs()}, nil
	}
	return nil, fmt.Errorf("items takes a mapping, not a %s", typeName(v[0]))
}

// path follows the parts of an attribute, which dots separate.
func path(v, attr any) (any, error) {
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
			if _, ok := x.(*undefined); ok && given[1] && v[1] != nil {
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
			return nil, fmt.Errorf("the filter takes a sequence, and an attribute where its name says so")
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

func attrFilter(_ *machine, c call) (any, error) {
	v, _, err := c.bind("attr", "obj", "name")
	if err != nil {
		return nil, err
	}
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

func sortFilter(_ *machine, c call) (any, error) {
	v, given, err := c.bind("sort", "value", "reverse", "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	keys := make([]any, len(items))
	for i, x := range items {
		if given[3] && v[3] != nil {
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

func dictSortFilter(_ *machine, c call) (any, error) {
	v, given, err := c.bind("dictsort", "value", "case_sensitive", "by", "reverse")
	if err != nil {
		return nil, err
	}
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

func uniqueFilter(_ *machine, c call) (any, error) {
	v, given, err := c.bind("unique", "value", "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	var out []any
	seen := &Dict{}
	for _, x := range items {
		key := x
		if given[2] && v[2] != nil {
			if key, err = path(x, v[2]); err != nil {
				return nil, err
			}
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

func sumFilter(m *machine, c call) (any, error) {
	v, given, err := c.bind("sum", "value", "attribute", "start")
	if err != nil {
		return nil, err
	}
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	var total any = int64(0)
	if given[2] {
		total = v[2]
	}
	for _, x := range items {
		if given[1] && v[1] != nil {
			if x, err = path(x, v[1]); err != nil {
				return nil, err
			}
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

func batchFilter(_ *machine, c call) (any, error) {
	v, given, err := c.bind("batch", "value", "linecount", "fill_with")
	if err != nil {
		return nil, err
	}
	items, err := iterate(v[0])
	n, ok := asInt(v[1])
	if err != nil || !ok || n < 1 || n > maxItems {
		return nil, either(err, fmt.Errorf("batch takes the number of items of a batch"))
	}
	var out []any
	for part := range slices.Chunk(items, int(n)) {
		part = slices.Clone(part)
		for given[2] && v[2] != nil && len(part) < int(n) {
			part = append(part, v[2])
		}
		out = append(out, &List{items: part})
	}
	return &gen{out}, nil
}

func extremeFilter(name string, sign int) func(*machine, call) (any, error) {
	return func(_ *machine, c call) (any, error) {
		v, given, err := c.bind(name, "value", "case_sensitive", "attribute")
		if err != nil {
			return nil, err
		}
		items, err := iterate(v[0])
		if err != nil || len(items) == 0 {
			return &undefined{"the " + name + " of nothing"}, err
		}
		var best, bestKey any
		for i, x := range items {
			key := x
			if given[2] && v[2] != nil {
				if key, err = path(x, v[2]); err != nil {
					return nil, err
				}
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
