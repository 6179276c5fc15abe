package planfile

import (
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

type schema = map[string]any

// form says how values of a type stand in a plan file. v points to one.
type form struct {
	kind   string // in words, for the documentation
	schema schema
	fields []fieldDoc // of an object, or of those in a list
	read   func(r *reader, n *yaml.Node, path string, v any)
	write  func(v any) *yaml.Node
	zero   func(v any) bool
	check  func(c *checker, path string, v any) // what is wrong with a value by itself; nil means nothing can be
	// put reads n into the part of v that steps lead to; nil means v has no parts.
	put func(r *reader, steps []string, n *yaml.Node, path string, v any)
}

func (f *form) set(r *reader, steps []string, n *yaml.Node, path string, v any) {
	switch {
	case len(steps) == 0:
		r.draft.Set(path, r.file)
		f.read(r, n, path, v)
	case f.put == nil:
		r.fault(n, path, "has no fields", "")
	default:
		f.put(r, steps, n, path, v)
	}
}

// or is an object that has a short form: text that parse reads. forms are its schemas.
func or[V any](f *form, kind string, parse func(string) (V, error), forms ...any) *form {
	read := f.read
	f.kind, f.schema = kind, schema{"anyOf": append([]any{f.schema}, forms...)}
	f.read = func(r *reader, n *yaml.Node, path string, v any) {
		if !readText(r, n, path, v.(*V), parse) {
			read(r, n, path, v)
		}
	}
	return f
}

// readText reads the short form of a value; false: n is not text.
func readText[V any](r *reader, n *yaml.Node, path string, v *V, parse func(string) (V, error)) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	got, err := parse(n.Value)
	if err == nil {
		*v = got
		return true
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		r.fault(n, path, err.Error(), "")
	}
	return true
}

// list is a list of a slice's type.
func list(ty reflect.Type, elem *form) *form {
	all := func(v any) reflect.Value { return reflect.ValueOf(v).Elem() }
	one := func(v any, i int) any { return all(v).Index(i).Addr().Interface() }
	return &form{
		fields: elem.fields,
		schema: schema{"type": "array", "items": elem.schema},
		zero:   func(v any) bool { return all(v).Len() == 0 },
		check: func(c *checker, path string, v any) {
			for i := range all(v).Len() {
				if elem.check != nil {
					elem.check(c, fmt.Sprintf("%s[%d]", path, i), one(v, i))
				}
			}
		},
		read: func(r *reader, n *yaml.Node, path string, v any) {
			if n.Kind != yaml.SequenceNode {
				r.wrong(n, path, "a list")
				return
			}
			all(v).SetZero()
			if len(n.Content) > 0 {
				all(v).Set(reflect.MakeSlice(ty, len(n.Content), len(n.Content)))
			}
			for i, e := range n.Content {
				sub := fmt.Sprintf("%s[%d]", path, i)
				if e = r.enter(e, sub); e != nil {
					elem.read(r, e, sub, one(v, i))
				}
			}
		},
		put: func(r *reader, steps []string, n *yaml.Node, path string, v any) {
			next := all(v).Len()
			i, err := strconv.Atoi(steps[0])
			if err != nil || i < 0 || i > next {
				r.fault(n, path, "has no element "+truncate.Quote(steps[0]), fmt.Sprintf("they count from 0, and the next is %d", next))
				return
			}
			if i == next {
				all(v).Set(reflect.Append(all(v), reflect.Zero(ty.Elem())))
			}
			elem.set(r, steps[1:], n, fmt.Sprintf("%s[%d]", path, i), one(v, i))
		},
		write: func(v any) *yaml.Node {
			s := &yaml.Node{Kind: yaml.SequenceNode}
			for i := range all(v).Len() {
				s.Content = append(s.Content, elem.write(one(v, i)))
			}
			if len(s.Content) == 0 {
				s.Style = yaml.FlowStyle
			}
			return s
		},
	}
}

// scalar is a value that parse reads from the text of a scalar node.
func scalar[V comparable](kind string, sch schema, show func(V) any, parse func(n *yaml.Node) (V, error)) *form {
	return &form{
		kind:   kind,
		schema: sch,
		zero:   func(v any) bool { return *v.(*V) == *new(V) },
		write:  func(v any) *yaml.Node { return toNode(show(*v.(*V))) },
		read: func(r *reader, n *yaml.Node, path string, v any) {
			if n.Kind != yaml.ScalarNode {
				r.wrong(n, path, kind)
				return
			}
			got, err := parse(n)
			if err != nil {
				r.fault(n, path, err.Error(), "")
				return
			}
			*v.(*V) = got
		},
	}
}

// plainForms are those of types that are no structs with fields.
func plainForms() map[reflect.Type]*form {
	return map[reflect.Type]*form{
		reflect.TypeFor[string]():            text(),
		reflect.TypeFor[bool]():              boolean(),
		reflect.TypeFor[int]():               integer[int](),
		reflect.TypeFor[int64]():             integer[int64](),
		reflect.TypeFor[uint64]():            integer[uint64](),
		reflect.TypeFor[float64]():           number(),
		reflect.TypeFor[plan.Duration]():     duration(),
		reflect.TypeFor[plan.Bytes]():        byteCount(),
		reflect.TypeFor[map[string]string](): headersSpec(),
		reflect.TypeFor[map[string]any]():    bodySpec(),
		reflect.TypeFor[[]plan.SLO]():        goodputSpec(),
		reflect.TypeFor[[]netip.Prefix]():    sourcesSpec(),
	}
}

// text is a string. A number or true is taken as it is written.
func text() *form {
	return scalar("text", schema{"type": "string"}, func(s string) any { return s },
		func(n *yaml.Node) (string, error) { return n.Value, nil })
}

func boolean() *form {
	return scalar("true or false", schema{"type": "boolean"}, func(b bool) any { return b },
		func(n *yaml.Node) (bool, error) {
			var b bool
			if n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
				return false, fmt.Errorf("must be true or false, is %s", truncate.Quote(n.Value))
			}
			return b, nil
		})
}

// negated is a boolean that is true unless a plan says otherwise. The field holds that it does.
func negated() *form {
	f := boolean()
	read, write := f.read, f.write
	f.read = func(r *reader, n *yaml.Node, path string, v any) {
		off := v.(*bool)
		on := !*off
		read(r, n, path, &on)
		*off = !on
	}
	f.write = func(v any) *yaml.Node { return write(new(!*v.(*bool))) }
	return f
}

// integer is an integer. None in a plan is ever below 0.
func integer[V int | int64 | uint64]() *form {
	return scalar("whole number", schema{"type": "integer", "minimum": 0}, func(v V) any { return v },
		func(n *yaml.Node) (V, error) {
			var v V
			switch n.ShortTag() {
			case "!!int":
				if n.Decode(&v) == nil {
					return v, nil
				}
			case "!!float": // 1e6
				f, err := parseNumber(n)
				if err == nil && f == math.Trunc(f) && math.Abs(f) < 1e15 && float64(V(f)) == f {
					return V(f), nil
				}
			}
			return 0, fmt.Errorf("must be a whole number, is %s", truncate.Quote(n.Value))
		})
}

func number() *form {
	return scalar("number", schema{"type": "number"}, func(v float64) any { return v }, parseNumber)
}

func parseNumber(n *yaml.Node) (float64, error) {
	var v float64
	tag := n.ShortTag()
	if (tag != "!!int" && tag != "!!float") || n.Decode(&v) != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("must be a number, is %s", truncate.Quote(n.Value))
	}
	return v, nil
}

// share is part of a whole: 0.05 or 5%.
func share() *form {
	sch := schema{"anyOf": []any{schema{"type": "number"}, schema{"type": "string", "pattern": `^[0-9.]+ ?%$`}}}
	f := scalar("share", sch, func(v float64) any { return v },
		func(n *yaml.Node) (float64, error) { return plan.ParseShare(n.Value) })
	f.check = func(c *checker, path string, v any) { c.share(path, *v.(*float64)) }
	return f
}

func duration() *form {
	f := scalar("duration", durationSchema(), func(d plan.Duration) any { return d.String() },
		func(n *yaml.Node) (plan.Duration, error) { return plan.ParseDuration(n.Value) })
	f.check = func(c *checker, path string, v any) { c.time(path, *v.(*plan.Duration)) }
	return f
}

func durationSchema() schema {
	const pattern = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$|^0$`
	return schema{"anyOf": []any{schema{"type": "string", "pattern": pattern}, schema{"const": 0}}}
}

// byteCount is a limit in bytes: 64MiB, or a number.
func byteCount() *form {
	sch := schema{"anyOf": []any{schema{"type": "integer", "minimum": 0}, schema{"type": "string", "pattern": `^[0-9.]+ ?([kKMGT]i?)?[bB]?$`}}}
	f := scalar("bytes", sch, func(b plan.Bytes) any { return b.String() },
		func(n *yaml.Node) (plan.Bytes, error) { return plan.ParseBytes(n.Value) })
	f.check = notNegative
	return f
}

// notNegative checks a limit, which is none where it is 0.
func notNegative(c *checker, path string, v any) {
	n := reflect.ValueOf(v).Elem()
	if n.CanFloat() && n.Float() < 0 || n.CanInt() && n.Int() < 0 {
		c.add(path, fmt.Sprintf("must not be negative, is %v", n), "0: no limit")
	}
}

// toNode is a plain value as YAML. Values come from JSON or YAML or are plain Go
// scalars, so there is nothing in them that YAML cannot say.
func toNode(v any) *yaml.Node {
	var n yaml.Node
	if f, ok := v.(float64); ok {
		// Without an exponent where a person would write none.
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!float", strconv.FormatFloat(f, 'g', -1, 64)
		if f == math.Trunc(f) && math.Abs(f) < 1e15 {
			n.Tag, n.Value = "!!int", strconv.FormatFloat(f, 'f', -1, 64)
		}
		return &n
	}
	if err := n.Encode(v); err != nil {
		n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: fmt.Sprint(v)}
	}
	return &n
}
