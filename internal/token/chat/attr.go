package chat

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// attribute is of.name: an attribute or a method first, then an item.
func attribute(of any, name string) (any, error) {
	if u, ok := of.(*undefined); ok {
		return nil, u.fail()
	}
	if v, ok, err := ownAttribute(of, name); ok || err != nil {
		return v, err
	}
	if d, ok := of.(*Dict); ok {
		if v, ok := d.Get(name); ok {
			return v, nil
		}
	}
	return &undefined{fmt.Sprintf("the attribute '%s' of a %s", name, typeName(of))}, nil
}

// item is of[key]: an item first, then an attribute.
func item(of, key any) (any, error) {
	switch of := of.(type) {
	case *undefined:
		return nil, of.fail()
	case *Dict:
		// A key that no mapping can have is an item that this one does not have.
		if v, ok, err := of.get(key); ok && err == nil {
			return v, nil
		}
	case *List:
		if i, ok := asInt(key); ok {
			if v, ok := nth(of.items, i); ok {
				return v, nil
			}
			return &undefined{fmt.Sprintf("item %d of a %s", i, typeName(of))}, nil
		}
	case string, markup:
		s, _ := asString(of)
		if i, ok := asInt(key); ok {
			if v, ok := letter(s, i); ok {
				return v, nil
			}
			return &undefined{fmt.Sprintf("letter %d of a string", i)}, nil
		}
	}
	if name, ok := asString(key); ok {
		if v, ok, err := ownAttribute(of, name); ok || err != nil {
			return v, err
		}
		return &undefined{fmt.Sprintf("'%s' of a %s", name, typeName(of))}, nil
	}
	return &undefined{"an item of a " + typeName(of)}, nil
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
func ownAttribute(of any, name string) (any, bool, error) {
	if strings.HasPrefix(name, "__") {
		return &undefined{"the attribute '" + name + "', which templates may not see,"}, true, nil
	}
	var known string
	switch of := of.(type) {
	case *namespace:
		v, ok := of.attrs.Get(name)
		return v, ok, nil
	case *loop:
		v, ok := of.attr(name)
		return v, ok, nil
	case *cycle:
		v, ok := of.attr(name)
		return v, ok, nil
	case *callable:
		v, ok := of.attrs[name]
		return v, ok, nil
	case string:
		if f, ok := stringMethod(name); ok {
			return method(of, name, f), true, nil
		}
		known = pythonString
	case markup:
		if f, ok := stringMethod(name); ok {
			return method(string(of), name, marked(f)), true, nil
		}
		known = pythonString
	case *Dict:
		if f, ok := dictMethods[name]; ok {
			return method(of, name, f), true, nil
		}
		known = "clear fromkeys pop popitem setdefault update"
	case *List:
		if f, ok := listMethods[name]; ok && (name != "copy" || of.kind == kindList) {
			return method(of, name, f), true, nil
		}
		if of.group && (name == "grouper" || name == "list") {
			return of.items[map[string]int{"list": 1}[name]], true, nil
		}
		known = "append clear extend insert pop remove reverse sort"
		if of.kind == kindRange {
			known = "start stop step"
		}
	case int64, bigInt, bool, float64:
		known = "as_integer_ratio bit_count bit_length conjugate denominator from_bytes fromhex hex imag is_integer numerator real to_bytes"
	}
	if known != "" && strings.Contains(" "+known+" ", " "+name+" ") {
		return nil, false, fmt.Errorf("the method %s of a %s is not supported", name, typeName(of))
	}
	return nil, false, nil
}

// stringMethod finds a method of strings. Those of formats look for attributes in their turn.
func stringMethod(name string) (func(string, call) (any, error), bool) {
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

// method binds a method to its value.
func method[T any](of T, name string, f func(T, call) (any, error)) *callable {
	return &callable{name: name, call: func(_ *machine, c call) (any, error) { return f(of, c) }}
}

// bare is a method without arguments.
func bare[T, R any](name string, f func(T) R) func(T, call) (any, error) {
	return func(of T, c call) (any, error) {
		_, _, err := c.bind(name)
		return f(of), err
	}
}

// marked makes a method give back markup, as Python's does.
func marked(f func(string, call) (any, error)) func(string, call) (any, error) {
	return func(s string, c call) (any, error) {
		for _, a := range append(append([]any{}, c.args...), c.named...) {
			if t, ok := a.(string); ok && escapeHTML(t) != t {
				return nil, fmt.Errorf("methods of strings that went through the filter safe take no text that HTML would escape")
			}
		}
		v, err := f(s, c)
		switch v := v.(type) {
		case string:
			return markup(v), err
		case *List:
			for i, item := range v.items {
				if t, ok := item.(string); ok {
					v.items[i] = markup(t)
				}
			}
		}
		return v, err
	}
}

var dictMethods = map[string]func(*Dict, call) (any, error){
	"items":  bare("items", func(d *Dict) any { return &view{"dict_items", d.pairs()} }),
	"keys":   bare("keys", func(d *Dict) any { return &view{"dict_keys", d.keys} }),
	"values": bare("values", func(d *Dict) any { return &view{"dict_values", d.vals} }),
	"copy":   bare("copy", (*Dict).clone),
	"get": func(d *Dict, c call) (any, error) {
		if len(c.names) > 0 || len(c.args) == 0 || len(c.args) > 2 {
			return nil, fmt.Errorf("get takes a key and at most one other value")
		}
		v, ok, err := d.get(c.args[0])
		if !ok && len(c.args) == 2 {
			v = c.args[1]
		}
		return v, err
	},
}

var listMethods = map[string]func(*List, call) (any, error){
	"count": func(l *List, c call) (any, error) {
		v, _, err := c.bind("count", "value")
		if err != nil {
			return nil, err
		}
		n := int64(0)
		for _, item := range l.items {
			if equal(item, v[0]) {
				n++
			}
		}
		return n, nil
	},
	"copy": bare("copy", func(l *List) any { return &List{items: slices.Clone(l.items)} }),
	"index": func(l *List, c call) (any, error) {
		v, given, err := c.bind("index", "value", "start", "stop")
		if err != nil || !given[0] {
			return nil, either(err, fmt.Errorf("index takes a value"))
		}
		from, to, _, err := bounds([3]any{v[1], v[2]}, len(l.items))
		if err != nil {
			return nil, err
		}
		for i := from; i < to; i++ {
			if equal(l.items[i], v[0]) {
				return int64(i), nil
			}
		}
		return nil, fmt.Errorf("the value is not in the list")
	},
}
