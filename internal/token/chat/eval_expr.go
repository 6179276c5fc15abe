package chat

import (
	"errors"
	"fmt"
	"slices"
)

// expr is an expression.
type expr interface {
	eval(m *machine, s *scope) (any, error)
}

// at gives an error the line it belongs to, unless it has one.
func at(line int, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	var r *Raised
	if errors.As(err, &r) {
		return err
	}
	return &Error{Line: line, Message: err.Error()}
}

type literal struct{ v any }

func (l *literal) eval(*machine, *scope) (any, error) { return l.v, nil }

type nameExpr struct{ name string }

func (n *nameExpr) eval(_ *machine, s *scope) (any, error) { return s.get(n.name), nil }

type listExpr struct {
	kind  listKind
	items []expr
}

func (l *listExpr) eval(m *machine, s *scope) (any, error) {
	items, err := evalAll(m, s, nil, l.items)
	return &List{kind: l.kind, items: items}, err
}

// evalAll appends the values of expressions.
func evalAll(m *machine, s *scope, to []any, list []expr) ([]any, error) {
	for _, e := range list {
		v, err := e.eval(m, s)
		if err != nil {
			return nil, err
		}
		to = append(to, v)
	}
	return to, nil
}

type dictExpr struct {
	keys, vals []expr
	line       int
}

func (d *dictExpr) eval(m *machine, s *scope) (any, error) {
	out := &Dict{}
	for i := range d.keys {
		k, err := d.keys[i].eval(m, s)
		if err != nil {
			return nil, err
		}
		v, err := d.vals[i].eval(m, s)
		if err != nil {
			return nil, err
		}
		if err := out.set(k, v); err != nil {
			return nil, at(d.line, err)
		}
	}
	return out, nil
}

type condExpr struct{ test, then, or expr }

func (c *condExpr) eval(m *machine, s *scope) (any, error) {
	v, err := c.test.eval(m, s)
	switch {
	case err != nil:
		return nil, err
	case truth(v):
		return c.then.eval(m, s)
	case c.or == nil:
		return &undefined{"the value of an 'if' without 'else'"}, nil
	}
	return c.or.eval(m, s)
}

type logic struct {
	or          bool
	left, right expr
}

func (l *logic) eval(m *machine, s *scope) (any, error) {
	v, err := l.left.eval(m, s)
	if err != nil || truth(v) == l.or {
		return v, err
	}
	return l.right.eval(m, s)
}

type notExpr struct{ e expr }

func (n *notExpr) eval(m *machine, s *scope) (any, error) {
	v, err := n.e.eval(m, s)
	return !truth(v), err
}

type operand struct {
	op string
	e  expr
}

type compareExpr struct {
	first expr
	ops   []operand
	line  int
}

func (c *compareExpr) eval(m *machine, s *scope) (any, error) {
	left, err := c.first.eval(m, s)
	if err != nil {
		return nil, err
	}
	for _, o := range c.ops {
		right, err := o.e.eval(m, s)
		if err != nil {
			return nil, err
		}
		ok, err := compare(o.op, left, right)
		if err != nil || !ok {
			return false, at(c.line, err)
		}
		left = right
	}
	return true, nil
}

type binary struct {
	op          string
	left, right expr
	line        int
}

func (b *binary) eval(m *machine, s *scope) (any, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	l, err := b.left.eval(m, s)
	if err != nil {
		return nil, err
	}
	r, err := b.right.eval(m, s)
	if err != nil {
		return nil, err
	}
	if b.op == "~" {
		x, err := str(l)
		if err != nil {
			return nil, at(b.line, err)
		}
		y, err := str(r)
		if err != nil || len(x)+len(y) > maxText {
			return nil, at(b.line, either(err, errLarge))
		}
		return x + y, at(b.line, m.built(len(x)+len(y)))
	}
	v, err := arithmetic(b.op, l, r)
	if err == nil {
		err = m.builtOf(v)
	}
	return v, at(b.line, err)
}

func either(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

type signExpr struct {
	minus bool
	e     expr
	line  int
}

func (n *signExpr) eval(m *machine, s *scope) (any, error) {
	v, err := n.e.eval(m, s)
	if err != nil {
		return nil, err
	}
	if f, ok := v.(float64); ok {
		if n.minus {
			f = -f
		}
		return f, nil
	}
	if _, ok := bigOf(v); !ok {
		return nil, at(n.line, mismatch("-", v, int64(0)))
	}
	op := map[bool]string{true: "-", false: "+"}[n.minus]
	r, err := arithmetic(op, int64(0), v)
	return r, at(n.line, err)
}

type attrExpr struct {
	of     expr
	name   string
	line   int
	assign bool // stands left of an assignment
}

func (a *attrExpr) eval(m *machine, s *scope) (any, error) {
	of, err := a.of.eval(m, s)
	if err != nil {
		return nil, err
	}
	v, err := attribute(of, a.name)
	return v, at(a.line, err)
}

type itemExpr struct {
	of, key expr
	line    int
}

func (i *itemExpr) eval(m *machine, s *scope) (any, error) {
	of, err := i.of.eval(m, s)
	if err != nil {
		return nil, err
	}
	key, err := i.key.eval(m, s)
	if err != nil {
		return nil, err
	}
	v, err := item(of, key)
	return v, at(i.line, err)
}

// arguments are those of a call as they are written.
type arguments struct {
	args  []expr
	names []string
	named []expr

	list, dict expr // behind * and **; nil: none
}

// call are the values of a call's arguments.
type call struct {
	args  []any
	names []string
	named []any
}

func (a *arguments) eval(m *machine, s *scope, first ...any) (call, error) {
	c := call{names: a.names}
	var err error
	if c.args, err = evalAll(m, s, first, a.args); err != nil {
		return c, err
	}
	if c.named, err = evalAll(m, s, nil, a.named); err != nil {
		return c, err
	}
	return a.spread(m, s, c)
}

// spread adds what stands behind * and **.
func (a *arguments) spread(m *machine, s *scope, c call) (call, error) {
	if a.list != nil {
		v, err := a.list.eval(m, s)
		if err != nil {
			return c, err
		}
		items, err := iterate(v)
		if err != nil {
			return c, fmt.Errorf("the argument after '*': %w", err)
		}
		c.args = append(c.args[:len(c.args):len(c.args)], items...)
	}
	if a.dict != nil {
		v, err := a.dict.eval(m, s)
		if err != nil {
			return c, err
		}
		d, ok := v.(*Dict)
		if !ok {
			return c, fmt.Errorf("the argument after '**' is a %s, not a mapping", typeName(v))
		}
		c.names = slices.Clone(c.names)
		for i, k := range d.keys {
			name, ok := asString(k)
			if !ok || slices.Contains(c.names, name) {
				return c, fmt.Errorf("the mapping after '**' has a key that is not a name or is already given")
			}
			c.names, c.named = append(c.names, name), append(c.named, d.vals[i])
		}
	}
	return c, nil
}

type callExpr struct {
	of   expr
	args arguments
	line int
}

func (c *callExpr) eval(m *machine, s *scope) (any, error) { return c.with(m, s, nil) }

// with calls with one more named argument where there is a caller.
func (c *callExpr) with(m *machine, s *scope, caller *callable) (any, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	of, err := c.of.eval(m, s)
	if err != nil {
		return nil, err
	}
	args, err := c.args.eval(m, s)
	if err != nil {
		return nil, at(c.line, err)
	}
	if caller != nil {
		args.names = append(append([]string{}, args.names...), "caller")
		args.named = append(args.named, caller)
	}
	switch f := of.(type) {
	case *callable:
		v, err := f.call(m, args)
		return v, at(c.line, err)
	case *loop:
		if f.again != nil && len(args.args) == 1 && len(args.names) == 0 {
			v, err := f.again(args.args[0])
			return v, at(c.line, err)
		}
	case *undefined:
		return nil, at(c.line, f.fail())
	}
	return nil, &Error{Line: c.line, Message: "a " + typeName(of) + " cannot be called"}
}

type filterExpr struct {
	of   expr
	f    *callable
	args arguments
	line int
}

func (f *filterExpr) eval(m *machine, s *scope) (any, error) {
	return applied(m, s, f.of, f.f, &f.args, f.line)
}

type testExpr filterExpr

func (t *testExpr) eval(m *machine, s *scope) (any, error) {
	return applied(m, s, t.of, t.f, &t.args, t.line)
}

func applied(m *machine, s *scope, of expr, f *callable, args *arguments, line int) (any, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	v, err := of.eval(m, s)
	if err != nil {
		return nil, err
	}
	c, err := args.eval(m, s, v)
	if err != nil {
		return nil, at(line, err)
	}
	out, err := f.call(m, c)
	return out, at(line, err)
}
