package chat

import (
	"fmt"
	"strings"
	"time"
)

// Limits bound one rendering, so that no template hangs a program or fills its memory; 0
// is no bound but that of the language.
type Limits struct {
	Text  int64 // bytes that it may write; it may build buildFactor times as many on the way
	Steps int64 // of work
}

// buildFactor is how many times what a template may write it may build on the way.
const buildFactor = 16

// maxCalls bounds how deep macros call one another.
const maxCalls = 100

// machine is one rendering.
type machine struct {
	out   *strings.Builder
	steps int64
	bytes int64 // of texts that it has built
	most  Limits
	calls int
	now   func() time.Time

	filters map[string]*callable
	tests   map[string]*callable
}

// step counts work.
func (m *machine) step() error {
	if m.steps++; m.most.Steps > 0 && m.steps > m.most.Steps {
		return fmt.Errorf("the template takes more than %d steps (limits.steps)", m.most.Steps)
	}
	return nil
}

// built counts a text of n bytes that the template made of others.
func (m *machine) built(n int) error {
	if m.bytes += int64(n); m.most.Text > 0 && m.bytes > buildFactor*m.most.Text {
		return fmt.Errorf("the template builds texts of more than %d bytes (limits.template)", buildFactor*m.most.Text)
	}
	return nil
}

// builtOf counts a value, where it is a text or a list.
func (m *machine) builtOf(v any) error {
	if s, ok := asString(v); ok {
		return m.built(len(s))
	}
	if n, ok := v.(bigInt); ok {
		return m.built(digitWork * len(n))
	}
	if l, ok := v.(*List); ok {
		return m.built(itemSize * len(l.items))
	}
	return nil
}

// digitWork is what a digit of a large integer counts: to reckon with it takes longer than to
// copy a byte.
const digitWork = 512

// itemSize is what an element of a list takes.
const itemSize = 16

func (m *machine) write(s string) error {
	if m.out.Len()+len(s) > maxText || m.most.Text > 0 && int64(m.out.Len()+len(s)) > m.most.Text {
		return fmt.Errorf("%w (limits.template)", errLarge)
	}
	m.out.WriteString(s)
	return nil
}

// print writes a value.
func (m *machine) print(v any, err error) (flow, error) {
	if err != nil {
		return flowNext, err
	}
	s, err := str(v)
	if err != nil {
		return flowNext, err
	}
	return flowNext, m.write(s)
}

// capture returns what f writes.
func (m *machine) capture(f func() error) (string, error) {
	outer := m.out
	m.out = &strings.Builder{}
	err := f()
	s := m.out.String()
	m.out = outer
	return s, err
}

// scope holds the variables of a block; what it lacks is looked for further out.
type scope struct {
	vars  map[string]any
	outer *scope
}

func (s *scope) inner() *scope { return &scope{outer: s} }

func (s *scope) set(name string, v any) {
	if s.vars == nil {
		s.vars = map[string]any{}
	}
	s.vars[name] = v
}

func (s *scope) get(name string) any {
	for ; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return &undefined{"'" + name + "'"}
}

// flow is how a statement ends.
type flow uint8

const (
	flowNext flow = iota
	flowBreak
	flowContinue
)

// stmt is a statement.
type stmt interface {
	exec(m *machine, s *scope) (flow, error)
}

func run(m *machine, s *scope, body []stmt) (flow, error) {
	for _, st := range body {
		if err := m.step(); err != nil {
			return flowNext, err
		}
		if f, err := st.exec(m, s); err != nil || f != flowNext {
			return f, err
		}
	}
	return flowNext, nil
}

type text struct{ s string }

func (t *text) exec(m *machine, _ *scope) (flow, error) { return flowNext, m.write(t.s) }

type print struct{ e expr }

func (p *print) exec(m *machine, s *scope) (flow, error) {
	return m.print(p.e.eval(m, s))
}

type jump flow

func (j jump) exec(*machine, *scope) (flow, error) { return flow(j), nil }

type ifStmt struct {
	test     expr
	then, or []stmt
}

func (i *ifStmt) exec(m *machine, s *scope) (flow, error) {
	v, err := i.test.eval(m, s)
	if err != nil {
		return flowNext, err
	}
	if truth(v) {
		return run(m, s, i.then)
	}
	return run(m, s, i.or)
}

// target is what a value can be given to.
type target interface {
	assign(s *scope, v any) error
}

type nameTarget string

func (n nameTarget) assign(s *scope, v any) error {
	s.set(string(n), v)
	return nil
}

type attrTarget struct {
	of, attr string
	line     int
}

func (a *attrTarget) assign(s *scope, v any) error {
	ns, ok := s.get(a.of).(*namespace)
	if !ok {
		return &Error{Line: a.line, Message: "'" + a.of + "' is not a namespace: its attributes cannot be set"}
	}
	return ns.attrs.set(a.attr, v)
}

type tupleTarget []target

func (t tupleTarget) assign(s *scope, v any) error {
	items, err := iterate(v)
	if err != nil {
		return err
	}
	if len(items) != len(t) {
		return fmt.Errorf("%d values are given to %d names", len(items), len(t))
	}
	for i, each := range t {
		if err := each.assign(s, items[i]); err != nil {
			return err
		}
	}
	return nil
}

type setStmt struct {
	target target
	value  expr
	line   int
}

func (st *setStmt) exec(m *machine, s *scope) (flow, error) {
	v, err := st.value.eval(m, s)
	if err == nil {
		err = at(st.line, st.target.assign(s, v))
	}
	return flowNext, err
}

// captured stands for the text that a block has written, as the input of its filters.
type captured struct{}

func (c *captured) eval(_ *machine, s *scope) (any, error) { return s.get(capturedName), nil }

// capturedName is a name that no template can write.
const capturedName = "<captured>"

type setBlock struct {
	target target
	filter expr
	body   []stmt
	frame  *frame
	line   int
}

func (b *setBlock) exec(m *machine, s *scope) (flow, error) {
	v, err := filtered(m, s, b.filter, b.body, b.frame)
	if err == nil {
		err = at(b.line, b.target.assign(s, v))
	}
	return flowNext, err
}

func filtered(m *machine, s *scope, filter expr, body []stmt, f *frame) (any, error) {
	inner := f.enter(s)
	t, err := m.capture(func() error {
		_, err := run(m, inner, body)
		return err
	})
	if err != nil {
		return nil, err
	}
	outer := s.inner()
	outer.set(capturedName, t)
	return filter.eval(m, outer)
}

type filterStmt struct {
	filter expr
	body   []stmt
	frame  *frame
}

func (f *filterStmt) exec(m *machine, s *scope) (flow, error) {
	return m.print(filtered(m, s, f.filter, f.body, f.frame))
}

// scoped is a block whose variables end with it.
type scoped struct {
	targets []target
	values  []expr
	body    []stmt
	frame   *frame
}

func (w *scoped) exec(m *machine, s *scope) (flow, error) {
	inner := w.frame.enter(s)
	for i, t := range w.targets {
		v, err := w.values[i].eval(m, s)
		if err != nil {
			return flowNext, err
		}
		if err := t.assign(inner, v); err != nil {
			return flowNext, err
		}
	}
	return run(m, inner, w.body)
}

type forStmt struct {
	target    target
	items     expr
	test      expr
	body, or  []stmt
	frame     *frame
	orFrame   *frame // nil: there is no else
	recursive bool
	line      int
}

func (f *forStmt) exec(m *machine, s *scope) (flow, error) {
	v, err := f.items.eval(m, s)
	if err != nil {
		return flowNext, err
	}
	return flowNext, f.loop(m, s, v, 0)
}

func (f *forStmt) loop(m *machine, s *scope, v any, depth int) error {
	items, err := iterate(v)
	if err != nil {
		return at(f.line, err)
	}
	if f.test != nil {
		if items, err = f.wanted(m, s, items); err != nil {
			return err
		}
	}
	l := &loop{items: items, depth: depth}
	if f.recursive {
		l.again = func(v any) (any, error) {
			if m.calls++; m.calls > maxCalls {
				return nil, fmt.Errorf("loops call themselves more than %d levels deep", maxCalls)
			}
			defer func() { m.calls-- }()
			return m.capture(func() error { return f.loop(m, s, v, depth+1) })
		}
	}
	for i := range items {
		if err := m.step(); err != nil {
			return err
		}
		l.at = i
		inner := f.frame.enter(s)
		inner.set("loop", l)
		if err := f.target.assign(inner, items[i]); err != nil {
			return at(f.line, err)
		}
		how, err := run(m, inner, f.body)
		if err != nil {
			return err
		}
		if how == flowBreak {
			break
		}
	}
	if len(items) == 0 && f.orFrame != nil {
		_, err = run(m, f.orFrame.enter(s), f.or)
	}
	return err
}

// wanted are the items that the loop's condition lets through.
func (f *forStmt) wanted(m *machine, s *scope, items []any) ([]any, error) {
	var out []any
	for _, item := range items {
		inner := s.inner()
		inner.set("loop", &undefined{"'loop' in the condition of a loop"})
		if err := f.target.assign(inner, item); err != nil {
			return nil, at(f.line, err)
		}
		v, err := f.test.eval(m, inner)
		if err != nil {
			return nil, err
		}
		if truth(v) {
			out = append(out, item)
		}
	}
	return out, nil
}

// loop is the variable of that name inside a loop.
type loop struct {
	items []any
	at    int
	depth int
	again func(any) (any, error)
	last  []any // of changed()
}

func (l *loop) attr(name string) (any, bool) {
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.at + 1), true
	case "index0":
		return int64(l.at), true
	case "revindex":
		return int64(n - l.at), true
	case "revindex0":
		return int64(n - l.at - 1), true
	case "first":
		return l.at == 0, true
	case "last":
		return l.at == n-1, true
	case "length":
		return int64(n), true
	case "depth":
		return int64(l.depth + 1), true
	case "depth0":
		return int64(l.depth), true
	case "previtem":
		if l.at == 0 {
			return &undefined{"the item before the first"}, true
		}
		return l.items[l.at-1], true
	case "nextitem":
		if l.at == n-1 {
			return &undefined{"the item after the last"}, true
		}
		return l.items[l.at+1], true
	case "cycle":
		return &callable{name: "cycle", call: func(_ *machine, a call) (any, error) {
			if len(a.args) == 0 || len(a.names) > 0 {
				return nil, fmt.Errorf("cycle needs values")
			}
			return a.args[l.at%len(a.args)], nil
		}}, true
	case "changed":
		return &callable{name: "changed", call: func(_ *machine, a call) (any, error) {
			now := a.args
			same := l.last != nil && equal(NewList(l.last...), NewList(now...))
			if !same {
				l.last = append([]any{}, now...)
			}
			return !same, nil
		}}, true
	}
	return nil, false
}
