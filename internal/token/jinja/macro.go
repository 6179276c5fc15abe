package jinja

import (
	"slices"
	"strings"
)

// callable is a function, a method, a macro, a filter or a test.
type callable struct {
	name  string
	call  func(m *machine, c call) any
	attrs map[string]any // of macros
}

// bind gives a call's arguments to parameters in order. Missing ones are nil, and false in given.
func (c call) bind(name string, params ...string) (vals []any, given []bool) {
	if len(c.args) > len(params) {
		panic(bad("%s takes %d arguments, not %d", name, len(params), len(c.args)))
	}
	vals, given = make([]any, len(params)), make([]bool, len(params))
	for i, v := range c.args {
		vals[i], given[i] = v, true
	}
	for i, n := range c.names {
		at := slices.Index(params, n)
		if at < 0 {
			panic(bad("%s takes no argument named %s", name, n))
		}
		if given[at] {
			panic(bad("%s is given the argument %s twice", name, n))
		}
		vals[at], given[at] = c.named[i], true
	}
	return vals, given
}

// function is a filter, a test or a function of which every parameter has a name.
type function func(m *machine, v []any, given []bool) any

func takes(name, params string, f function) *callable {
	list := strings.Fields(params)
	return &callable{name: name, call: func(m *machine, c call) any {
		v, given := c.bind(name, list...)
		return f(m, v, given)
	}}
}

type param struct {
	name  string
	value expr // nil means none
}

// macroDef is a macro as it is written, or the body of a call block.
type macroDef struct {
	name   string
	params []param
	body   []stmt
	frame  *frame
	line   int

	anonymous bool // the body of a call block

	varargs, kwargs, caller bool // which of the implied variables it uses
}

// uses notes which implied variables are among the names that the macro holds.
func (d *macroDef) uses(names []string) {
	d.varargs = slices.Contains(names, "varargs")
	d.kwargs = slices.Contains(names, "kwargs")
	d.caller = slices.Contains(names, "caller")
}

// takes are the names of its parameters, the implied ones among them.
func (d *macroDef) takes() []string {
	out := []string{"varargs", "kwargs", "caller"}
	for _, p := range d.params {
		out = append(out, p.name)
	}
	return out
}

type macroStmt struct{ def *macroDef }

func (st *macroStmt) exec(_ *machine, s *scope) flow {
	s.set(st.def.name, st.def.bound(s))
	return flowNext
}

// bound makes a macro that sees the variables of the scope it stands in.
func (d *macroDef) bound(s *scope) *callable {
	params := &List{kind: kindTuple}
	for _, p := range d.params {
		params.items = append(params.items, p.name)
	}
	attrs := map[string]any{"name": d.name, "arguments": params, "catch_kwargs": d.kwargs, "catch_varargs": d.varargs, "caller": d.caller}
	if d.anonymous {
		attrs["name"] = nil
	}
	return &callable{name: d.name, attrs: attrs, call: func(m *machine, c call) any {
		if m.calls++; m.calls > maxCalls {
			panic(bad("macro calls are nested more than %d levels deep", maxCalls))
		}
		defer func() { m.calls-- }()
		inner := d.frame.enter(s)
		d.fill(m, inner, c)
		return m.capture(func() { run(m, inner, d.body) })
	}}
}

func (d *macroDef) fill(m *machine, s *scope, c call) {
	args := c.args
	if len(args) > len(d.params) {
		if !d.varargs {
			panic(bad("the macro %s takes %d arguments, not %d", d.name, len(d.params), len(args)))
		}
		s.set("varargs", &List{kind: kindTuple, items: args[len(d.params):]})
		args = args[:len(d.params)]
	} else if d.varargs {
		s.set("varargs", &List{kind: kindTuple})
	}
	more := &Dict{}
	named := map[string]any{}
	for i, n := range c.names {
		switch {
		case slices.ContainsFunc(d.params, func(p param) bool { return p.name == n }):
			named[n] = c.named[i]
		case n == "caller" && d.caller:
			s.set(n, c.named[i])
		case d.kwargs:
			more.Set(n, c.named[i])
		default:
			panic(bad("the macro %s takes no argument named %s", d.name, n))
		}
	}
	if d.kwargs {
		s.set("kwargs", more)
	}
	for _, p := range d.params { // a default sees the other parameters, never a variable of that name
		s.set(p.name, &undefined{"the parameter '" + p.name + "'"})
	}
	for i, p := range d.params {
		if i < len(args) {
			s.set(p.name, args[i])
		} else if v, ok := named[p.name]; ok {
			s.set(p.name, v)
		}
	}
	for i, p := range d.params {
		_, ok := named[p.name]
		switch {
		case i < len(args) && ok:
			panic(bad("the macro %s is given the argument %s twice", d.name, p.name))
		case i < len(args) || ok || p.value == nil:
		default:
			s.set(p.name, p.value.eval(m, s))
		}
	}
}

type callStmt struct {
	call   *callExpr
	caller *macroDef
}

func (st *callStmt) exec(m *machine, s *scope) flow {
	v := st.call.with(m, s, st.caller.bound(s))
	m.line = st.call.line
	return m.write(str(v))
}
