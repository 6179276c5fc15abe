package chat

import (
	"fmt"
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

// markup is a string that the filter safe has marked. Joined to another with +, the
// other is escaped for HTML.
type markup string

// undefined is what a name or an attribute that does not exist gives.
type undefined struct{ what string }

func (u *undefined) fail() error { return fmt.Errorf("%s is undefined", u.what) }

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

// NewDict makes a mapping of keys, each followed by its value.
func NewDict(pairs ...any) *Dict {
	d := &Dict{}
	for i := 0; i+1 < len(pairs); i += 2 {
		_ = d.set(pairs[i], pairs[i+1]) // a key of a kind that cannot be one is left out
	}
	return d
}

// Set gives a key a value. A new key comes last.
func (d *Dict) Set(key string, value any) { _ = d.set(key, value) }

// Get returns the value of a key.
func (d *Dict) Get(key string) (any, bool) {
	v, ok, _ := d.get(key)
	return v, ok
}

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

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// hash is the form of a key under which equal keys are found: True, 1 and 1.0 are one key.
func hash(key any) (any, error) {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1), nil
		}
		return int64(0), nil
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
	return nil, fmt.Errorf("a %s cannot be the key of a mapping", typeName(key))
}

func (d *Dict) set(key, value any) error {
	h, err := hash(key)
	if err != nil {
		return err
	}
	if d.index == nil {
		d.index = map[any]int{}
	}
	if i, ok := d.index[h]; ok {
		d.vals[i] = value
		return nil
	}
	d.index[h] = len(d.keys)
	d.keys, d.vals = append(d.keys, key), append(d.vals, value)
	return nil
}

func (d *Dict) get(key any) (any, bool, error) {
	if isUndefined(key) {
		return nil, false, nil
	}
	h, err := hash(key)
	if err != nil {
		return nil, false, err
	}
	if i, ok := d.index[h]; ok {
		return d.vals[i], true, nil
	}
	return nil, false, nil
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

// asString returns the text of a string value.
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
func str(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case markup:
		return string(v), nil
	case *undefined:
		return "", nil
	}
	return repr(v, 0)
}

// repr is a value as Python shows it inside of lists.
func repr(v any, depth int) (string, error) {
	if depth > maxNesting {
		return "", fmt.Errorf("a value nests more than %d levels deep", maxNesting)
	}
	switch v := v.(type) {
	case nil:
		return "None", nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bigInt:
		if len(v) > maxDigits {
			return "", errDigits
		}
		return string(v), nil
	case float64:
		return number.Python(v), nil
	case string:
		return quote(v), nil
	case *undefined:
		return "Undefined", nil
	case *List:
		return listRepr(v, depth)
	case *Dict:
		var b strings.Builder
		b.WriteByte('{')
		for i := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := joinReprs(&b, depth, ": ", v.keys[i], v.vals[i]); err != nil {
				return "", err
			}
		}
		b.WriteByte('}')
		return b.String(), nil
	case *view:
		s, err := listRepr(&List{items: v.items}, depth)
		return v.name + "(" + s + ")", err
	}
	return "", fmt.Errorf("a %s has no text", typeName(v))
}

func joinReprs(b *strings.Builder, depth int, between string, items ...any) error {
	for i, item := range items {
		if i > 0 {
			b.WriteString(between)
		}
		s, err := repr(item, depth+1)
		if err != nil {
			return err
		}
		b.WriteString(s)
	}
	return nil
}

func listRepr(l *List, depth int) (string, error) {
	var b strings.Builder
	if l.kind == kindRange {
		return "", fmt.Errorf("a range has no text; make a list of it first")
	}
	open, end := "[", "]"
	if l.kind == kindTuple {
		open, end = "(", ")"
		if len(l.items) == 1 {
			end = ",)"
		}
	}
	b.WriteString(open)
	err := joinReprs(&b, depth, ", ", l.items...)
	b.WriteString(end)
	return b.String(), err
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
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
	}
	return string(append(b, q))
}

// iterate returns the values that a loop over v goes through.
func iterate(v any) ([]any, error) {
	switch v := v.(type) {
	case *undefined:
		return nil, nil
	case string:
		return chars(v), nil
	case markup:
		return chars(string(v)), nil
	case *List:
		return v.items, nil
	case *Dict:
		return v.keys, nil
	case *view:
		return v.items, nil
	case *gen:
		items := v.items
		v.items = nil
		return items, nil
	}
	return nil, fmt.Errorf("a %s cannot be iterated over", typeName(v))
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

// length is what len() gives.
func length(v any) (int, error) {
	switch v := v.(type) {
	case *undefined:
		return 0, nil
	case string:
		return utf8.RuneCountInString(v), nil
	case markup:
		return utf8.RuneCountInString(string(v)), nil
	case *List:
		return len(v.items), nil
	case *Dict:
		return len(v.keys), nil
	case *view:
		return len(v.items), nil
	case *loop:
		return len(v.items), nil
	}
	return 0, fmt.Errorf("a %s has no length", typeName(v))
}
