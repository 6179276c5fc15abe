package jmes

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Search is what the expression comes to in a document, which is made of
// map[string]any, []any, string, float64, bool and nil. A part that is not there is
// nil.
func (e *Expr) Search(doc any) any { return e.root.eval(doc) }

// Holds reports whether the expression comes to something: not to nil, false, 0 or
// something empty.
func (e *Expr) Holds(doc any) bool {
	v := e.Search(doc)
	if n, ok := v.(float64); ok {
		return n != 0
	}
	return truth(v)
}

// truth is what counts as true inside expressions: all but nil, false and what is
// empty.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// node is a part of an expression.
type node interface{ eval(doc any) any }

type (
	current  struct{}
	constant struct{ v any }
	field    struct {
		of   node
		name string
	}
	index struct {
		of node
		i  int
	}
	not   struct{ of node }
	pipe  struct{ left, right node }
	logic struct {
		or          bool
		left, right node
	}
	comparison struct {
		op          string
		left, right node
	}
	arithmetic struct {
		op          string
		left, right node
	}
	call struct {
		f    function
		args []node
	}
)

// operator makes the node of an operator between two others.
func operator(op string, left, right node) node {
	switch op {
	case "|":
		return pipe{left, right}
	case "||", "&&":
		return logic{op == "||", left, right}
	case "+", "-", "*", "/":
		return arithmetic{op, left, right}
	}
	return comparison{op, left, right}
}

func (current) eval(doc any) any { return doc }
func (c constant) eval(any) any  { return c.v }
func (n not) eval(doc any) any   { return !truth(n.of.eval(doc)) }
func (p pipe) eval(doc any) any  { return p.right.eval(p.left.eval(doc)) }

func (f field) eval(doc any) any {
	m, _ := f.of.eval(doc).(map[string]any)
	return m[f.name]
}

func (x index) eval(doc any) any {
	list, _ := x.of.eval(doc).([]any)
	i := x.i
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

func (l logic) eval(doc any) any {
	v := l.left.eval(doc)
	if truth(v) == l.or {
		return v
	}
	return l.right.eval(doc)
}

func (c comparison) eval(doc any) any {
	a, b := c.left.eval(doc), c.right.eval(doc)
	switch c.op {
	case "==":
		return reflect.DeepEqual(a, b)
	case "!=":
		return !reflect.DeepEqual(a, b)
	}
	x, ok := a.(float64)
	y, ok2 := b.(float64)
	if !ok || !ok2 {
		return nil // only numbers have an order
	}
	switch c.op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

func (a arithmetic) eval(doc any) any {
	x, ok := a.left.eval(doc).(float64)
	y, ok2 := a.right.eval(doc).(float64)
	if !ok || !ok2 {
		return nil
	}
	switch a.op {
	case "+":
		return number(x + y)
	case "-":
		return number(x - y)
	case "*":
		return number(x * y)
	}
	return number(x / y)
}

// number is a number that JSON knows; others are nil.
func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

func (c call) eval(doc any) any {
	args := make([]any, len(c.args))
	for i, a := range c.args {
		args[i] = a.eval(doc)
	}
	return c.f.do(args)
}

// function is one of the functions, with how many arguments it takes.
type function struct {
	least, most int
	do          func(args []any) any
}

// of makes a function of a number.
func of(f func(float64) float64) function {
	return function{1, 1, func(a []any) any {
		if v, ok := a[0].(float64); ok {
			return number(f(v))
		}
		return nil
	}}
}

// over makes a function of a list of numbers.
func over(f func([]float64) float64) function {
	return function{1, 1, func(a []any) any {
		list, _ := a[0].([]any)
		var all []float64
		for _, v := range list {
			n, ok := v.(float64)
			if !ok {
				return nil
			}
			all = append(all, n)
		}
		if len(all) == 0 {
			return nil
		}
		return number(f(all))
	}}
}

// texts makes a function of two texts.
func texts(f func(a, b string) bool) function {
	return function{2, 2, func(a []any) any {
		x, ok := a[0].(string)
		y, ok2 := a[1].(string)
		if !ok || !ok2 {
			return nil
		}
		return f(x, y)
	}}
}

func sum(list []float64) (s float64) {
	for _, v := range list {
		s += v
	}
	return s
}

func functions() map[string]function {
	return map[string]function{
		"abs":         of(math.Abs),
		"ceil":        of(math.Ceil),
		"floor":       of(math.Floor),
		"avg":         over(func(l []float64) float64 { return sum(l) / float64(len(l)) }),
		"sum":         over(sum),
		"max":         over(func(l []float64) float64 { return slices.Max(l) }),
		"min":         over(func(l []float64) float64 { return slices.Min(l) }),
		"starts_with": texts(strings.HasPrefix),
		"ends_with":   texts(strings.HasSuffix),
		"contains":    {2, 2, contains},
		"length":      {1, 1, length},
		"type":        {1, 1, typeOf},
		"to_number":   {1, 1, toNumber},
		"to_string":   {1, 1, toString},
		"not_null": {1, 100, func(a []any) any {
			for _, v := range a {
				if v != nil {
					return v
				}
			}
			return nil
		}},
	}
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions())) }

func contains(a []any) any {
	switch in := a[0].(type) {
	case string:
		part, ok := a[1].(string)
		return ok && strings.Contains(in, part)
	case []any:
		return slices.ContainsFunc(in, func(v any) bool { return reflect.DeepEqual(v, a[1]) })
	}
	return nil
}

func length(a []any) any {
	switch v := a[0].(type) {
	case string:
		return float64(utf8.RuneCountInString(v))
	case []any:
		return float64(len(v))
	case map[string]any:
		return float64(len(v))
	}
	return nil
}

func typeOf(a []any) any {
	switch a[0].(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func toNumber(a []any) any {
	switch v := a[0].(type) {
	case float64:
		return v
	case string:
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return number(n)
		}
	}
	return nil
}

func toString(a []any) any {
	if s, ok := a[0].(string); ok {
		return s
	}
	text, err := json.Marshal(a[0])
	if err != nil {
		return nil
	}
	return string(text)
}
