package planfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

type schema = map[string]any

// codec says how values of one type stand in a plan file. It has no methods: the compiler makes each of them for each type.
type codec[V any] struct {
	kind   string // in words, for the documentation
	schema schema
	fields []fieldDoc // of an object
	read   func(r *reader, n *yaml.Node, path string, v *V)
	write  func(v V) *yaml.Node
	zero   func(v V) bool
	check  func(c *checker, path string, v *V) // what is wrong with a value by itself; nil means nothing can be
	// put reads n into the part of v that steps lead to; nil means v has no parts.
	put func(r *reader, steps []string, n *yaml.Node, path string, v *V)
}

// or is an object that may also be written in short: as text that parse reads. forms are the
// schemas of that text.
func or[V any](c codec[V], kind string, parse func(string) (V, error), forms ...any) codec[V] {
	read := c.read
	c.kind, c.schema = kind, schema{"anyOf": append([]any{c.schema}, forms...)}
	c.read = func(r *reader, n *yaml.Node, path string, v *V) {
		if !readText(r, n, path, v, parse) {
			read(r, n, path, v)
		}
	}
	return c
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

func list[V any](kind string, elem codec[V]) codec[[]V] {
	return codec[[]V]{
		kind:   kind,
		fields: elem.fields,
		schema: schema{"type": "array", "items": elem.schema},
		zero:   func(v []V) bool { return len(v) == 0 },
		check: func(c *checker, path string, v *[]V) {
			for i := range *v {
				if elem.check != nil {
					elem.check(c, fmt.Sprintf("%s[%d]", path, i), &(*v)[i])
				}
			}
		},
		read: func(r *reader, n *yaml.Node, path string, v *[]V) {
			if n.Kind != yaml.SequenceNode {
				r.wrong(n, path, "a list")
				return
			}
			*v = nil
			if len(n.Content) > 0 {
				*v = make([]V, len(n.Content))
			}
			for i, e := range n.Content {
				sub := fmt.Sprintf("%s[%d]", path, i)
				if e = r.enter(e, sub); e != nil {
					elem.read(r, e, sub, &(*v)[i])
				}
			}
		},
		put: func(r *reader, steps []string, n *yaml.Node, path string, v *[]V) {
			i, err := strconv.Atoi(steps[0])
			if err != nil || i < 0 || i > len(*v) {
				r.fault(n, path, "has no element "+truncate.Quote(steps[0]), fmt.Sprintf("they count from 0, and the next is %d", len(*v)))
				return
			}
			if i == len(*v) {
				*v = append(*v, *new(V))
			}
			formOf(elem).set(r, steps[1:], n, fmt.Sprintf("%s[%d]", path, i), &(*v)[i])
		},
		write: func(v []V) *yaml.Node {
			s := &yaml.Node{Kind: yaml.SequenceNode}
			for _, e := range v {
				s.Content = append(s.Content, elem.write(e))
			}
			if len(v) == 0 {
				s.Style = yaml.FlowStyle
			}
			return s
		},
	}
}

// scalar is a value that parse reads from the text of a scalar node.
func scalar[V comparable](kind string, sch schema, show func(V) any, parse func(n *yaml.Node) (V, error)) codec[V] {
	return codec[V]{
		kind:   kind,
		schema: sch,
		zero:   func(v V) bool { var zero V; return v == zero },
		write:  func(v V) *yaml.Node { return toNode(show(v)) },
		read: func(r *reader, n *yaml.Node, path string, v *V) {
			if n.Kind != yaml.ScalarNode {
				r.wrong(n, path, kind)
				return
			}
			got, err := parse(n)
			if err != nil {
				r.fault(n, path, err.Error(), "")
				return
			}
			*v = got
		},
	}
}

// text is a string. A number or true is taken as it is written.
func text() codec[string] {
	return scalar("text", schema{"type": "string"}, func(s string) any { return s },
		func(n *yaml.Node) (string, error) { return n.Value, nil })
}

// word is one of a few words, or none.
func word(words ...string) codec[string] {
	last := len(words) - 1
	kind := "`" + strings.Join(words[:last], "`, `") + "` or `" + words[last] + "`"
	c := named(strings.TrimPrefix(kind, "`` or "), words...)
	c.check = func(c *checker, path string, v *string) {
		if *v != "" {
			c.choice(path, *v, words)
		}
	}
	return c
}

// named is a word of which it depends on other fields whether it is right.
func named(kind string, words ...string) codec[string] {
	c := text()
	c.kind = kind
	c.schema = schema{"type": "string", "enum": words}
	return c
}

func boolean() codec[bool] {
	return scalar("true or false", schema{"type": "boolean"}, func(b bool) any { return b },
		func(n *yaml.Node) (bool, error) {
			var b bool
			if n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
				return false, fmt.Errorf("must be true or false, is %s", truncate.Quote(n.Value))
			}
			return b, nil
		})
}

// yes is a boolean that is true unless a plan says otherwise. The field holds that it does.
func yes() codec[bool] {
	c := boolean()
	read, write := c.read, c.write
	c.read = func(r *reader, n *yaml.Node, path string, v *bool) {
		on := !*v
		read(r, n, path, &on)
		*v = !on
	}
	c.write = func(v bool) *yaml.Node { return write(!v) }
	return c
}

// integer is an integer. None in a plan is ever below 0.
func integer[V int | int64 | uint64]() codec[V] {
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

// count is an integer with a bound.
func count[V int | int64 | uint64](most int64) codec[V] {
	c := integer[V]()
	c.check = func(c *checker, path string, v *V) { c.count(path, int64(*v), most) }
	return c
}

// amount is a number with a bound, from 0.
func amount(most float64) codec[float64] {
	c := number()
	c.check = func(c *checker, path string, v *float64) { c.amount(path, *v, most) }
	return c
}

func number() codec[float64] {
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
func share() codec[float64] {
	sch := schema{"anyOf": []any{schema{"type": "number"}, schema{"type": "string", "pattern": `^[0-9.]+ ?%$`}}}
	c := scalar("share", sch, func(v float64) any { return v },
		func(n *yaml.Node) (float64, error) { return plan.ParseShare(n.Value) })
	c.check = func(c *checker, path string, v *float64) { c.share(path, *v) }
	return c
}

func duration() codec[plan.Duration] {
	c := scalar("duration", durationSchema(), func(d plan.Duration) any { return d.String() },
		func(n *yaml.Node) (plan.Duration, error) { return plan.ParseDuration(n.Value) })
	c.check = func(c *checker, path string, v *plan.Duration) { c.time(path, *v) }
	return c
}

func durationSchema() schema {
	const pattern = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$|^0$`
	return schema{"anyOf": []any{schema{"type": "string", "pattern": pattern}, schema{"const": 0}}}
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
