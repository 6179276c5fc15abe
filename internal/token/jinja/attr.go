package jinja

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// attribute is of.name: an attribute or a method first, then an item.
func attribute(of any, name string) any {
	defined(of)
	if v, ok := ownAttribute(of, name); ok {
		return v
	}
	if d, ok := of.(*Dict); ok {
		if v, ok := d.Get(name); ok {
			return v
		}
	}
	return &undefined{fmt.Sprintf("the attribute '%s' of a %s", name, typeName(of))}
}

// item is of[key]: an item first, then an attribute.
func item(of, key any) any {
	switch of := of.(type) {
	case *undefined:
		panic(of.fail())
	case *Dict:
		// A key that no mapping can have is an item that this one does not have.
		if _, fault := hash(key); fault == nil {
			if v, ok := of.get(key); ok {
				return v
			}
		}
	case *List:
		if i, ok := asInt(key); ok {
			if v, ok := nth(of.items, i); ok {
				return v
			}
			return &undefined{fmt.Sprintf("item %d of a %s", i, typeName(of))}
		}
	case string, markup:
		s, _ := asString(of)
		if i, ok := asInt(key); ok {
			if v, ok := letter(s, i); ok {
				return v
			}
			return &undefined{fmt.Sprintf("letter %d of a string", i)}
		}
	}
	if name, ok := asString(key); ok {
		if v, ok := ownAttribute(of, name); ok {
			return v
		}
		return &undefined{fmt.Sprintf("'%s' of a %s", name, typeName(of))}
	}
	return &undefined{"an item of a " + typeName(of)}
}

func nth(items []any, i int64) (any, bool) {
	if i < 0 {
		i += int64(len(items))
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, false
	}
	return items[i], true
}

func letter(s string, i int64) (any, bool) {
	if i < 0 {
		i += int64(utf8.RuneCountInString(s))
	}
	if i < 0 || i >= int64(len(s)) {
		return nil, false
	}
	for at, r := range s {
		if i == 0 {
			return s[at : at+max(1, utf8.RuneLen(r))], true
		}
		i--
	}
	return nil, false
}

// ownAttribute is an attribute or method that values of a kind have in Python. One
// that exists there but not here is an error, so that it is not taken for missing.
func ownAttribute(of any, name string) (any, bool) {
	if strings.HasPrefix(name, "__") {
		return &undefined{"the attribute '" + name + "', which templates may not see,"}, true
	}
	var known string
	switch of := of.(type) {
	case *namespace:
		return of.attrs.Get(name)
	case *loop:
		return of.attr(name)
	case *cycle:
		return of.attr(name)
	case *callable:
		v, ok := of.attrs[name]
		return v, ok
	case string:
		if f, ok := stringMethod(name); ok {
			return method(of, name, f), true
		}
		known = pythonString
	case markup:
		if f, ok := stringMethod(name); ok {
			return method(string(of), name, marked(f)), true
		}
		known = pythonString
	case *Dict:
		if f, ok := dictMethods[name]; ok {
			return method(of, name, f), true
		}
		known = "clear fromkeys pop popitem setdefault update"
	case *List:
		if f, ok := listMethods[name]; ok && (name != "copy" || of.kind == kindList) {
			return method(of, name, f), true
		}
		if of.group && (name == "grouper" || name == "list") {
			return of.items[map[string]int{"list": 1}[name]], true
		}
		known = "append clear extend insert pop remove reverse sort"
		if of.kind == kindRange {
			known = "start stop step"
		}
	case int64, bigInt, bool, float64:
		known = "as_integer_ratio bit_count bit_length conjugate denominator from_bytes fromhex hex imag is_integer numerator real to_bytes"
	}
	if known != "" && strings.Contains(" "+known+" ", " "+name+" ") {
		panic(bad("the method %s of a %s is not supported", name, typeName(of)))
	}
	return nil, false
}

// stringMethod finds a method of strings. Those of formats look for attributes in their turn.
func stringMethod(name string) (func(string, call) any, bool) {
	switch name {
	case "format":
		return formatMethod, true
	case "format_map":
		return formatMapMethod, true
	}
	f, ok := stringMethods[name]
	return f, ok
}

const pythonString = "capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha isascii " +
	"isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans partition " +
	"removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title " +
	"translate upper zfill"

func method[T any](of T, name string, f func(T, call) any) *callable {
	return &callable{name: name, call: func(_ *machine, c call) any { return f(of, c) }}
}

// bare is a method without arguments.
func bare[T, R any](name string, f func(T) R) func(T, call) any {
	return func(of T, c call) any {
		c.bind(name)
		return f(of)
	}
}

// marked makes a method give back markup, as Python's does.
func marked(f func(string, call) any) func(string, call) any {
	return func(s string, c call) any {
		for _, a := range slices.Concat(c.args, c.named) {
			if t, ok := a.(string); ok && escapeHTML(t) != t {
				panic(bad("methods of strings marked as safe do not support arguments with characters that HTML escapes"))
			}
		}
		switch v := f(s, c).(type) {
		case string:
			return markup(v)
		case *List:
			for i, item := range v.items {
				if t, ok := item.(string); ok {
					v.items[i] = markup(t)
				}
			}
			return v
		default:
			return v
		}
	}
}

var dictMethods = map[string]func(*Dict, call) any{
	"items":  bare("items", func(d *Dict) any { return &view{"dict_items", d.pairs()} }),
	"keys":   bare("keys", func(d *Dict) any { return &view{"dict_keys", d.keys} }),
	"values": bare("values", func(d *Dict) any { return &view{"dict_values", d.vals} }),
	"copy":   bare("copy", (*Dict).Clone),
	"get": func(d *Dict, c call) any {
		if len(c.names) > 0 || len(c.args) == 0 || len(c.args) > 2 {
			panic(bad("get takes a key and at most one other value"))
		}
		v, ok := d.get(c.args[0])
		if !ok && len(c.args) == 2 {
			v = c.args[1]
		}
		return v
	},
}

var listMethods = map[string]func(*List, call) any{
	"count": func(l *List, c call) any {
		v, _ := c.bind("count", "value")
		n := int64(0)
		for _, item := range l.items {
			if equal(item, v[0]) {
				n++
			}
		}
		return n
	},
	"copy": bare("copy", func(l *List) any { return &List{items: slices.Clone(l.items)} }),
	"index": func(l *List, c call) any {
		v, given := c.bind("index", "value", "start", "stop")
		if !given[0] {
			panic(bad("index takes a value"))
		}
		from, to, _ := bounds([3]any{v[1], v[2]}, len(l.items))
		for i := from; i < to; i++ {
			if equal(l.items[i], v[0]) {
				return int64(i)
			}
		}
		panic(bad("the value is not in the list"))
	},
}
