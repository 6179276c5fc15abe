package jinja

import (
	"strings"
	"time"
)

// Limits bound one rendering: no template hangs a program or fills its memory; 0: the language's.
type Limits struct {
	Text  int64 // bytes that it may write; it may build buildFactor times as many on the way
	Steps int64 // of work
}

// buildFactor is how many times what a template may write it may build on the way.
const buildFactor = 16

// maxCalls bounds how deep macros call one another.
const maxCalls = 100

type machine struct {
	out   *strings.Builder
	steps int64
	bytes int64 // of texts that it has built
	most  Limits
	calls int
	line  int // of what was worked on last, for faults
	now   func() time.Time

	filters map[string]*callable
	tests   map[string]*callable
}

func (m *machine) step() {
	if m.steps++; m.most.Steps > 0 && m.steps > m.most.Steps {
		panic(bad("the template takes more than %d steps (limits.steps)", m.most.Steps))
	}
}

// built counts a text of n bytes that the template made of others.
func (m *machine) built(n int) {
	if m.bytes += int64(n); m.most.Text > 0 && m.bytes > buildFactor*m.most.Text {
		panic(bad("the template builds texts of more than %d bytes (limits.template)", buildFactor*m.most.Text))
	}
}

// builtOf counts a value, where it is a text or a list, and returns it.
func (m *machine) builtOf(v any) any {
	switch t := v.(type) {
	case string:
		m.built(len(t))
	case markup:
		m.built(len(t))
	case bigInt:
		m.built(digitWork * len(t))
	case *List:
		m.built(itemSize * len(t.items))
	}
	return v
}

// digitWork is what a digit of a large integer counts: it takes longer than copying a byte.
const digitWork = 512

// itemSize is what an element of a list takes.
const itemSize = 16

func (m *machine) write(s string) flow {
	if m.out.Len()+len(s) > maxText || m.most.Text > 0 && int64(m.out.Len()+len(s)) > m.most.Text {
		panic(bad(tooLarge + " (limits.template)"))
	}
	m.out.WriteString(s)
	return flowNext
}

func (m *machine) capture(f func()) string {
	outer := m.out
	m.out = &strings.Builder{}
	f()
	s := m.out.String()
	m.out = outer
	return s
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

type flow uint8

const (
	flowNext flow = iota
	flowBreak
	flowContinue
)

type stmt interface {
	exec(m *machine, s *scope) flow
}

func run(m *machine, s *scope, body []stmt) flow {
	for _, st := range body {
		m.step()
		if f := st.exec(m, s); f != flowNext {
			return f
		}
	}
	return flowNext
}

type text struct{ s string }

func (t *text) exec(m *machine, _ *scope) flow { return m.write(t.s) }

type print struct {
	e    expr
	line int
}

func (p *print) exec(m *machine, s *scope) flow {
	v := p.e.eval(m, s)
	m.line = p.line
	return m.write(str(v))
}

type jump flow

func (j jump) exec(*machine, *scope) flow { return flow(j) }

type ifStmt struct {
	test     expr
	then, or []stmt
}

func (i *ifStmt) exec(m *machine, s *scope) flow {
	if truth(i.test.eval(m, s)) {
		return run(m, s, i.then)
	}
	return run(m, s, i.or)
}

type target interface {
	assign(s *scope, v any)
}

type nameTarget string

func (n nameTarget) assign(s *scope, v any) { s.set(string(n), v) }

type attrTarget struct{ of, attr string }

func (a *attrTarget) assign(s *scope, v any) {
	ns, ok := s.get(a.of).(*namespace)
	if !ok {
		panic(bad("'%s' is not a namespace: its attributes cannot be set", a.of))
	}
	ns.attrs.set(a.attr, v)
}

type tupleTarget []target

func (t tupleTarget) assign(s *scope, v any) {
	items := iterate(v)
	if len(items) != len(t) {
		panic(bad("cannot assign %d values to %d names", len(items), len(t)))
	}
	for i, each := range t {
		each.assign(s, items[i])
	}
}

type setStmt struct {
	target target
	value  expr
	line   int
}

func (st *setStmt) exec(m *machine, s *scope) flow {
	v := st.value.eval(m, s)
	m.line = st.line
	st.target.assign(s, v)
	return flowNext
}

// captured stands for the text that a block has written, as the input of its filters.
type captured struct{}

func (c *captured) eval(_ *machine, s *scope) any { return s.get(capturedName) }

// capturedName is a name that no template can write.
const capturedName = "<captured>"

type setBlock struct {
	target target
	filter expr
	body   []stmt
	frame  *frame
	line   int
}

func (b *setBlock) exec(m *machine, s *scope) flow {
	v := filtered(m, s, b.filter, b.body, b.frame)
	m.line = b.line
	b.target.assign(s, v)
	return flowNext
}

func filtered(m *machine, s *scope, filter expr, body []stmt, f *frame) any {
	inner := f.enter(s)
	outer := s.inner()
	outer.set(capturedName, m.capture(func() { run(m, inner, body) }))
	return filter.eval(m, outer)
}

type filterStmt struct {
	filter expr
	body   []stmt
	frame  *frame
}

func (f *filterStmt) exec(m *machine, s *scope) flow {
	return m.write(str(filtered(m, s, f.filter, f.body, f.frame)))
}

// scoped is a block whose variables end with it.
type scoped struct {
	targets []target
	values  []expr
	body    []stmt
	frame   *frame
	line    int
}

func (w *scoped) exec(m *machine, s *scope) flow {
	inner := w.frame.enter(s)
	for i, t := range w.targets {
		v := w.values[i].eval(m, s)
		m.line = w.line
		t.assign(inner, v)
	}
	return run(m, inner, w.body)
}

type forStmt struct {
	target    target
	items     expr
	test      expr
	body, or  []stmt
	frame     *frame
	orFrame   *frame // nil means there is no else
	recursive bool
	line      int
}

func (f *forStmt) exec(m *machine, s *scope) flow {
	f.loop(m, s, f.items.eval(m, s), 0)
	return flowNext
}

func (f *forStmt) loop(m *machine, s *scope, v any, depth int) {
	m.line = f.line
	items := iterate(v)
	if f.test != nil {
		items = f.wanted(m, s, items)
	}
	l := &loop{items: items, depth: depth}
	if f.recursive {
		l.again = func(v any) any {
			if m.calls++; m.calls > maxCalls {
				panic(bad("recursive loops are nested more than %d levels deep", maxCalls))
			}
			defer func() { m.calls-- }()
			return m.capture(func() { f.loop(m, s, v, depth+1) })
		}
	}
	for i := range items {
		m.step()
		l.at = i
		inner := f.frame.enter(s)
		inner.set("loop", l)
		m.line = f.line
		f.target.assign(inner, items[i])
		if run(m, inner, f.body) == flowBreak {
			break
		}
	}
	if len(items) == 0 && f.orFrame != nil {
		run(m, f.orFrame.enter(s), f.or)
	}
}

// wanted are the items that the loop's condition lets through.
func (f *forStmt) wanted(m *machine, s *scope, items []any) []any {
	var out []any
	for _, item := range items {
		inner := s.inner()
		inner.set("loop", &undefined{"'loop' in the condition of a loop"})
		m.line = f.line
		f.target.assign(inner, item)
		if truth(f.test.eval(m, inner)) {
			out = append(out, item)
		}
	}
	return out
}

// loop is the variable of that name inside a loop.
type loop struct {
	items []any
	at    int
	depth int
	again func(any) any
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
		return &callable{name: "cycle", call: func(_ *machine, a call) any {
			if len(a.args) == 0 || len(a.names) > 0 {
				panic(bad("cycle needs values"))
			}
			return a.args[l.at%len(a.args)]
		}}, true
	case "changed":
		return &callable{name: "changed", call: func(_ *machine, a call) any {
			now := a.args
			same := l.last != nil && equal(NewList(l.last...), NewList(now...))
			if !same {
				l.last = append([]any{}, now...)
			}
			return !same
		}}, true
	}
	return nil, false
}
