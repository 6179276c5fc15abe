package jinja

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

func listFilter(_ *machine, v []any, _ []bool) any {
	return &List{items: slices.Clone(iterate(v[0]))}
}

func firstFilter(_ *machine, v []any, _ []bool) any {
	items := iterate(v[0])
	if len(items) == 0 {
		return &undefined{"the first item of nothing"}
	}
	return items[0]
}

func lastFilter(_ *machine, v []any, _ []bool) any {
	if _, ok := v[0].(*gen); ok {
		panic(bad("last takes a sequence; convert it to a list first"))
	}
	items := iterate(v[0])
	if len(items) == 0 {
		return &undefined{"the last item of nothing"}
	}
	return items[len(items)-1]
}

func reverseFilter(_ *machine, v []any, _ []bool) any {
	items := slices.Clone(iterate(v[0]))
	slices.Reverse(items)
	if _, ok := asString(v[0]); ok {
		var b strings.Builder
		for _, x := range items {
			b.WriteString(x.(string))
		}
		return keep(v[0], b.String())
	}
	return &gen{items}
}

func itemsFilter(_ *machine, v []any, _ []bool) any {
	switch d := v[0].(type) {
	case *undefined:
		return &gen{}
	case *Dict:
		return &gen{d.pairs()}
	}
	panic(bad("items takes a mapping, not a %s", typeName(v[0])))
}

// path follows the parts of an attribute, which dots separate; nil is the value itself.
func path(v, attr any) any {
	if attr == nil {
		return v
	}
	if i, ok := asInt(attr); ok {
		return item(v, i)
	}
	name, ok := asString(attr)
	if !ok {
		panic(bad("an attribute is a name, not a %s", typeName(attr)))
	}
	for part := range strings.SplitSeq(name, ".") {
		v = member(v, part)
	}
	return v
}

// member is an item of v by its number or its name.
func member(v any, name string) any {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && n >= 0 {
		return item(v, n)
	}
	return item(v, name)
}

func mapFilter(m *machine, c call) any {
	if len(c.args) == 0 {
		panic(bad("map takes a sequence"))
	}
	if !truth(c.args[0]) {
		return &gen{}
	}
	items := iterate(c.args[0])
	each := mapped(m, c)
	out := make([]any, len(items))
	for i, x := range items {
		out[i] = each(x)
	}
	return &gen{out}
}

// mapped is what map does to each item.
func mapped(m *machine, c call) func(any) any {
	if len(c.args) == 1 {
		v, given := call{names: c.names, named: c.named}.bind("map", "attribute", "default")
		if !given[0] {
			panic(bad("map takes a filter or an attribute"))
		}
		return func(x any) any {
			if x = path(x, v[0]); isUndefined(x) && v[1] != nil {
				return v[1]
			}
			return x
		}
	}
	name, _ := asString(c.args[1])
	f, ok := m.filters[name]
	if !ok {
		panic(bad("the filter %s is not supported", name))
	}
	return func(x any) any {
		m.step()
		return f.call(m, call{args: append([]any{x}, c.args[2:]...), names: c.names, named: c.named})
	}
}

// selectFilter keeps or drops the items that pass a test.
func selectFilter(want, attr bool) func(*machine, call) any {
	return func(m *machine, c call) any {
		if len(c.args) == 0 || (attr && len(c.args) == 1) {
			panic(bad("the filter takes a sequence, and selectattr and rejectattr an attribute"))
		}
		if !truth(c.args[0]) {
			return &gen{}
		}
		items := iterate(c.args[0])
		rest := c.args[1:]
		var name any
		if attr {
			name, rest = rest[0], rest[1:]
		}
		var out []any
		for _, x := range items {
			v := x
			if attr {
				v = path(x, name)
			}
			if passes(m, v, rest, c) == want {
				out = append(out, x)
			}
		}
		return &gen{out}
	}
}

// passes applies the test that the arguments name; without one, the value's truth counts.
func passes(m *machine, v any, args []any, c call) bool {
	m.step()
	if len(args) == 0 {
		return truth(v)
	}
	name, _ := asString(args[0])
	t, ok := m.tests[name]
	if !ok {
		panic(bad("the test %s is not supported", name))
	}
	return truth(t.call(m, call{args: append([]any{v}, args[1:]...), names: c.names, named: c.named}))
}

func attrFilter(_ *machine, v []any, _ []bool) any {
	name := str(v[1])
	defined(v[0])
	if own, ok := ownAttribute(v[0], name); ok {
		return own
	}
	return &undefined{fmt.Sprintf("the attribute '%s' of a %s", name, typeName(v[0]))}
}

// folded is a value as sorting without regard to case sees it.
func folded(v any, sensitive bool) any {
	if s, ok := asString(v); ok && !sensitive {
		return lower(s)
	}
	return v
}

// sorted sorts items by keys and keeps the order of equal ones.
func sorted(items, keys []any, reverse bool) []any {
	at := make([]int, len(items))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		if reverse {
			i, j = j, i
		}
		return order("<", keys[i], keys[j])
	})
	out := make([]any, len(items))
	for i, j := range at {
		out[i] = items[j]
	}
	return out
}

func sortFilter(_ *machine, v []any, _ []bool) any {
	items := iterate(v[0])
	keys := make([]any, len(items))
	for i, x := range items {
		if v[3] != nil {
			if s, ok := asString(v[3]); ok && strings.Contains(s, ",") {
				keys[i] = several(x, s, truth(v[2]))
				continue
			}
			x = path(x, v[3])
		}
		keys[i] = folded(x, truth(v[2]))
	}
	return &List{items: sorted(items, keys, truth(v[1]))}
}

// several is a key of several attributes, with commas between them.
func several(x any, attrs string, sensitive bool) any {
	key := &List{}
	for attr := range strings.SplitSeq(attrs, ",") {
		key.items = append(key.items, folded(path(x, attr), sensitive))
	}
	return key
}

func dictSortFilter(_ *machine, v []any, given []bool) any {
	d, ok := v[0].(*Dict)
	if !ok {
		panic(bad("dictsort takes a mapping, not a %s", typeName(v[0])))
	}
	from := d.keys
	if given[2] && v[2] != "key" {
		if v[2] != "value" {
			panic(bad("dictsort sorts by key or by value"))
		}
		from = d.vals
	}
	keys := make([]any, len(from))
	for i, x := range from {
		keys[i] = folded(x, truth(v[1]))
	}
	return &List{items: sorted(d.pairs(), keys, truth(v[3]))}
}

func uniqueFilter(_ *machine, v []any, _ []bool) any {
	var out []any
	seen := &Dict{}
	for _, x := range iterate(v[0]) {
		key := folded(path(x, v[2]), truth(v[1]))
		if _, ok := seen.get(key); !ok {
			out = append(out, x)
			seen.set(key, nil)
		}
	}
	return &gen{out}
}

func sumFilter(m *machine, v []any, given []bool) any {
	items := iterate(v[0])
	var total any = int64(0)
	if given[2] {
		total = v[2]
	}
	for _, x := range items {
		total = m.builtOf(arithmetic("+", total, path(x, v[1])))
	}
	return total
}

func batchFilter(_ *machine, v []any, _ []bool) any {
	items := iterate(v[0])
	n, ok := asInt(v[1])
	if !ok || n < 1 || n > maxItems {
		panic(bad("batch takes the number of items of a batch"))
	}
	var out []any
	for part := range slices.Chunk(items, int(n)) {
		part = slices.Clone(part)
		for v[2] != nil && len(part) < int(n) {
			part = append(part, v[2])
		}
		out = append(out, &List{items: part})
	}
	return &gen{out}
}

func extremeFilter(name string, sign int) function {
	return func(_ *machine, v []any, _ []bool) any {
		items := iterate(v[0])
		if len(items) == 0 {
			return &undefined{"the " + name + " of nothing"}
		}
		var best, bestKey any
		for i, x := range items {
			key := folded(path(x, v[2]), truth(v[1]))
			if i == 0 || order("<", key, bestKey)*sign > 0 {
				best, bestKey = x, key
			}
		}
		return best
	}
}
