package jinja

import "slices"

type expr interface {
	eval(m *machine, s *scope) any
}

type literal struct{ v any }

func (l *literal) eval(*machine, *scope) any { return l.v }

type nameExpr struct{ name string }

func (n *nameExpr) eval(_ *machine, s *scope) any { return s.get(n.name) }

type listExpr struct {
	kind  listKind
	items []expr
}

func (l *listExpr) eval(m *machine, s *scope) any {
	return &List{kind: l.kind, items: evalAll(m, s, nil, l.items)}
}

func evalAll(m *machine, s *scope, to []any, list []expr) []any {
	for _, e := range list {
		to = append(to, e.eval(m, s))
	}
	return to
}

type dictExpr struct {
	keys, vals []expr
	line       int
}

func (d *dictExpr) eval(m *machine, s *scope) any {
	out := &Dict{}
	for i := range d.keys {
		k := d.keys[i].eval(m, s)
		v := d.vals[i].eval(m, s)
		m.line = d.line
		out.set(k, v)
	}
	return out
}

type condExpr struct{ test, then, or expr }

func (c *condExpr) eval(m *machine, s *scope) any {
	switch {
	case truth(c.test.eval(m, s)):
		return c.then.eval(m, s)
	case c.or == nil:
		return &undefined{"the value of an 'if' without 'else'"}
	}
	return c.or.eval(m, s)
}

type logic struct {
	or          bool
	left, right expr
}

func (l *logic) eval(m *machine, s *scope) any {
	if v := l.left.eval(m, s); truth(v) == l.or {
		return v
	}
	return l.right.eval(m, s)
}

type notExpr struct{ e expr }

func (n *notExpr) eval(m *machine, s *scope) any { return !truth(n.e.eval(m, s)) }

type operand struct {
	op string
	e  expr
}

type compareExpr struct {
	first expr
	ops   []operand
	line  int
}

func (c *compareExpr) eval(m *machine, s *scope) any {
	left := c.first.eval(m, s)
	for _, o := range c.ops {
		right := o.e.eval(m, s)
		m.line = c.line
		if !compare(o.op, left, right) {
			return false
		}
		left = right
	}
	return true
}

type binary struct {
	op          string
	left, right expr
	line        int
}

func (b *binary) eval(m *machine, s *scope) any {
	m.step()
	l := b.left.eval(m, s)
	r := b.right.eval(m, s)
	m.line = b.line
	if b.op == "~" {
		return m.builtOf(joined(str(l), str(r)))
	}
	return m.builtOf(arithmetic(b.op, l, r))
}

type signExpr struct {
	minus bool
	e     expr
	line  int
}

func (n *signExpr) eval(m *machine, s *scope) any {
	v := n.e.eval(m, s)
	m.line = n.line
	f, isFloat := v.(float64)
	_, isInt := bigOf(v)
	switch {
	case isFloat && n.minus:
		return -f
	case isFloat:
		return f
	case !isInt:
		panic(mismatch("-", v, int64(0)))
	case n.minus:
		return arithmetic("-", int64(0), v)
	}
	return arithmetic("+", int64(0), v)
}

type attrExpr struct {
	of     expr
	name   string
	line   int
	assign bool // stands left of an assignment
}

func (a *attrExpr) eval(m *machine, s *scope) any {
	of := a.of.eval(m, s)
	m.line = a.line
	return attribute(of, a.name)
}

type itemExpr struct {
	of, key expr
	line    int
}

func (i *itemExpr) eval(m *machine, s *scope) any {
	of := i.of.eval(m, s)
	key := i.key.eval(m, s)
	m.line = i.line
	return item(of, key)
}

// arguments are those of a call as they are written.
type arguments struct {
	args  []expr
	names []string
	named []expr

	list, dict expr // behind * and **, or nil
}

type call struct {
	args  []any
	names []string
	named []any
}

func (a *arguments) eval(m *machine, s *scope, first ...any) call {
	return a.spread(m, s, call{names: a.names, args: evalAll(m, s, first, a.args), named: evalAll(m, s, nil, a.named)})
}

// spread adds what stands behind * and **.
func (a *arguments) spread(m *machine, s *scope, c call) call {
	if a.list != nil {
		v := a.list.eval(m, s)
		items, ok := elements(v)
		if !ok {
			panic(bad("the argument after '*': a %s cannot be iterated over", typeName(v)))
		}
		c.args = append(c.args[:len(c.args):len(c.args)], items...)
	}
	if a.dict != nil {
		v := a.dict.eval(m, s)
		d, ok := v.(*Dict)
		if !ok {
			panic(bad("the argument after '**' is a %s, not a mapping", typeName(v)))
		}
		c.names = slices.Clone(c.names)
		for i, k := range d.keys {
			name, ok := asString(k)
			if !ok || slices.Contains(c.names, name) {
				panic(bad("the mapping after '**' has a key that is not a name or is already given"))
			}
			c.names, c.named = append(c.names, name), append(c.named, d.vals[i])
		}
	}
	return c
}

type callExpr struct {
	of   expr
	args arguments
	line int
}

func (c *callExpr) eval(m *machine, s *scope) any { return c.with(m, s, nil) }

// with calls with one more named argument where there is a caller.
func (c *callExpr) with(m *machine, s *scope, caller *callable) any {
	m.step()
	of := c.of.eval(m, s)
	m.line = c.line
	args := c.args.eval(m, s)
	m.line = c.line
	if caller != nil {
		args.names = append(append([]string{}, args.names...), "caller")
		args.named = append(args.named, caller)
	}
	switch f := of.(type) {
	case *callable:
		return f.call(m, args)
	case *loop:
		if f.again != nil && len(args.args) == 1 && len(args.names) == 0 {
			return f.again(args.args[0])
		}
	case *undefined:
		panic(f.fail())
	}
	panic(bad("a %s cannot be called", typeName(of)))
}

// filterExpr is a filter or a test of a value.
type filterExpr struct {
	of   expr
	f    *callable
	args arguments
	line int
}

func (f *filterExpr) eval(m *machine, s *scope) any {
	m.step()
	v := f.of.eval(m, s)
	m.line = f.line
	c := f.args.eval(m, s, v)
	m.line = f.line
	return f.f.call(m, c)
}
