package jinja

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// The values of a template are those of Python: nil is None, then bool, int64, bigInt,
// float64, string, markup, *List, *Dict, *view, *gen, *namespace, *callable, *loop
// and *undefined.

// markup is a string marked by the filter safe. Another, joined with +, is escaped for HTML.
type markup string

// undefined is what a name or an attribute that does not exist gives.
type undefined struct{ what string }

func (u *undefined) fail() *Error { return bad("%s is undefined", u.what) }

// defined fails where a value is undefined.
func defined(v any) {
	if u, ok := v.(*undefined); ok {
		panic(u.fail())
	}
}

type listKind uint8

const (
	kindList listKind = iota
	kindTuple
	kindRange
)

// List is a list, a tuple or a range of values.
type List struct {
	kind  listKind
	items []any
	group bool // of groupby: the two items have names
}

// Dict is a mapping that keeps the order of its keys.
type Dict struct {
	keys, vals []any
	index      map[any]int
}

// view is what items(), keys() and values() of a mapping give.
type view struct {
	name  string
	items []any
}

// gen is a sequence that can be walked through once.
type gen struct{ items []any }

// namespace is the one kind of value whose attributes can be set.
type namespace struct{ attrs *Dict }

// NewList makes a list of values.
func NewList(items ...any) *List { return &List{items: items} }

// Items are the values of a list; they are not to be changed.
func (l *List) Items() []any { return l.items }

// NewDict makes a mapping of keys, texts or numbers, each followed by its value.
func NewDict(pairs ...any) *Dict {
	d := &Dict{}
	for i := 0; i+1 < len(pairs); i += 2 {
		d.set(pairs[i], pairs[i+1])
	}
	return d
}

// Set gives a key a value. A new key comes last.
func (d *Dict) Set(key string, value any) { d.set(key, value) }

// Get returns the value of a key.
func (d *Dict) Get(key string) (any, bool) { return d.get(key) }

// Map are the values of the keys that are strings.
func (d *Dict) Map() map[string]any {
	out := map[string]any{}
	for i, k := range d.keys {
		if name, ok := asString(k); ok {
			out[name] = d.vals[i]
		}
	}
	return out
}

// All are the keys, texts in what FromJSON reads, with their values.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(key, value any) bool) {
		for i := range d.keys {
			if !yield(d.keys[i], d.vals[i]) {
				return
			}
		}
	}
}

// Clone is a mapping with the same keys and values.
func (d *Dict) Clone() *Dict {
	out := &Dict{}
	for i := range d.keys {
		out.set(d.keys[i], d.vals[i])
	}
	return out
}

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// hash is the form of a key under which equal keys are found: True, 1 and 1.0 are one key.
func hash(key any) (any, *Error) {
	switch k := key.(type) {
	case bool:
		i, _ := asInt(k)
		return i, nil
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<63 {
			return int64(k), nil
		}
		return k, nil
	case markup:
		return string(k), nil
	case nil, int64, bigInt, string:
		return k, nil
	case *undefined:
		return nil, k.fail()
	}
	return nil, bad("a %s cannot be the key of a mapping", typeName(key))
}

func (d *Dict) set(key, value any) {
	h, fault := hash(key)
	if fault != nil {
		panic(fault)
	}
	if d.index == nil {
		d.index = map[any]int{}
	}
	if i, ok := d.index[h]; ok {
		d.vals[i] = value
		return
	}
	d.index[h] = len(d.keys)
	d.keys, d.vals = append(d.keys, key), append(d.vals, value)
}

func (d *Dict) get(key any) (any, bool) {
	h, fault := hash(key)
	if fault != nil && !isUndefined(key) {
		panic(fault)
	}
	if i, ok := d.index[h]; ok && fault == nil {
		return d.vals[i], true
	}
	return nil, false
}

func (d *Dict) pairs() []any {
	out := make([]any, len(d.keys))
	for i := range d.keys {
		out[i] = &List{kind: kindTuple, items: []any{d.keys[i], d.vals[i]}}
	}
	return out
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, bigInt:
		return "int"
	case float64:
		return "float"
	case string, markup:
		return "str"
	case *List:
		return [...]string{"list", "tuple", "range"}[v.kind]
	case *Dict:
		return "dict"
	case *undefined:
		return "Undefined"
	case *namespace:
		return "Namespace"
	case *view:
		return v.name
	case *gen:
		return "generator"
	}
	return "function"
}

// truth is what a value means as a condition.
func truth(v any) bool {
	switch v := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case markup:
		return v != ""
	case *List:
		return len(v.items) > 0
	case *Dict:
		return len(v.keys) > 0
	case *view:
		return len(v.items) > 0
	}
	return true
}

func asString(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case markup:
		return string(v), true
	}
	return "", false
}

// asInt returns an integer; True and False are 1 and 0.
func asInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func asFloat(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	i, ok := asInt(v)
	if n, isInt := bigOf(v); isInt && !ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f, !math.IsInf(f, 0)
	}
	return float64(i), ok
}

// str is the text that a value is printed as.
func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case markup:
		return string(v)
	case *undefined:
		return ""
	}
	return repr(v, 0)
}

// repr is a value as Python shows it inside of lists.
func repr(v any, depth int) string {
	if depth > maxNesting {
		panic(bad("a value nests more than %d levels deep", maxNesting))
	}
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case bigInt:
		return v.digits()
	case float64:
		return number.Python(v)
	case string:
		return quote(v)
	case *undefined:
		return "Undefined"
	case *List:
		return listRepr(v, depth)
	case *Dict:
		parts := make([]string, len(v.keys))
		for i := range v.keys {
			parts[i] = repr(v.keys[i], depth+1) + ": " + repr(v.vals[i], depth+1)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *view:
		return v.name + "(" + listRepr(&List{items: v.items}, depth) + ")"
	}
	panic(bad("a %s cannot be printed", typeName(v)))
}

func listRepr(l *List, depth int) string {
	parts := make([]string, len(l.items))
	for i, item := range l.items {
		parts[i] = repr(item, depth+1)
	}
	text := strings.Join(parts, ", ")
	switch {
	case l.kind == kindRange:
		panic(bad("a range cannot be printed; convert it to a list first"))
	case l.kind == kindList:
		return "[" + text + "]"
	case len(l.items) == 1:
		return "(" + text + ",)"
	}
	return "(" + text + ")"
}

// quote is a string as Python writes it in code.
func quote(s string) string {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b := []byte{q}
	for i, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case strconv.IsPrint(r):
			b = utf8.AppendRune(b, r)
		default:
			b = appendEscaped(b, r)
		}
	}
	return string(append(b, q))
}

// appendEscaped appends a character as its number.
func appendEscaped(b []byte, r rune) []byte {
	switch {
	case r < 0x100:
		return fmt.Appendf(b, `\x%02x`, r)
	case r < 0x10000:
		return fmt.Appendf(b, `\u%04x`, r)
	}
	return fmt.Appendf(b, `\U%08x`, r)
}

// iterate returns the values that a loop over v goes through.
func iterate(v any) []any {
	items, ok := elements(v)
	if !ok {
		panic(bad("a %s cannot be iterated over", typeName(v)))
	}
	return items
}

// elements is iterate; false where v has none.
func elements(v any) ([]any, bool) {
	switch v := v.(type) {
	case *undefined:
		return nil, true
	case string:
		return chars(v), true
	case markup:
		return chars(string(v)), true
	case *List:
		return v.items, true
	case *Dict:
		return v.keys, true
	case *view:
		return v.items, true
	case *gen:
		items := v.items
		v.items = nil
		return items, true
	}
	return nil, false
}

func chars(s string) []any {
	out := make([]any, 0, len(s))
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func length(v any) int64 {
	switch v := v.(type) {
	case string, markup:
		return int64(utf8.RuneCountInString(str(v)))
	case *loop:
		return int64(len(v.items))
	case *undefined, *List, *Dict, *view:
		return int64(len(iterate(v)))
	}
	panic(bad("a %s has no length", typeName(v)))
}
