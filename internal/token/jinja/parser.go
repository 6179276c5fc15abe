package jinja

import (
	"fmt"
	"slices"
)

// maxNesting bounds how deep statements and expressions nest.
const maxNesting = 200

type parser struct {
	toks  []tok
	pos   int
	depth int
	loops int      // for loops around the present statement
	names []string // every name read so far; macros look for varargs, kwargs and caller

	frame  *frame // of the block that is being parsed
	frames []*frame

	filterTable map[string]*callable
	testTable   map[string]*callable
}

func (p *parser) cur() tok  { return p.toks[p.pos] }
func (p *parser) peek() tok { return p.toks[min(p.pos+1, len(p.toks)-1)] }

func (p *parser) next() tok {
	t := p.toks[p.pos]
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

func (p *parser) skipOp(op string) bool {
	if p.cur().op(op) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.cur().is(name) {
		p.pos++
		return true
	}
	return false
}

// fail ends the parsing with a fault in the present line, which Parse returns.
func (p *parser) fail(format string, args ...any) { p.failAt(p.cur().line, format, args...) }

func (p *parser) failAt(line int, format string, args ...any) {
	panic(&Error{Line: line, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) expectOp(op string) {
	if !p.skipOp(op) {
		p.fail("expected '%s', found %v", op, p.cur())
	}
}

func (p *parser) expect(k kind) tok {
	if p.cur().kind != k {
		p.fail("expected %v, found %v", tok{kind: k, text: "a name"}, p.cur())
	}
	return p.next()
}

// enter goes a level deeper, and bound stops what goes too deep.
func (p *parser) enter() {
	p.depth++
	p.bound(p.depth)
}

func (p *parser) bound(depth int) {
	if depth > maxNesting {
		p.fail("the template nests more than %d levels deep", maxNesting)
	}
}

// body parses up to a block whose name is one of ends, and leaves the parser at that name.
// With no ends it parses up to the end of the template.
func (p *parser) body(ends ...string) []stmt {
	p.enter()
	defer func() { p.depth-- }()
	var out []stmt
	for {
		switch t := p.next(); t.kind {
		case tokEOF:
			if len(ends) > 0 {
				p.fail("the template ends before {%% %s %%}", ends[len(ends)-1])
			}
			return out
		case tokData:
			out = append(out, &text{t.text})
		case tokVarBegin:
			out = append(out, &print{p.tuple(tupleRules{cond: true}), t.line})
			p.expect(tokVarEnd)
		case tokBlockBegin:
			name := p.cur()
			if name.kind == tokName && slices.Contains(ends, name.text) {
				return out
			}
			out = append(out, p.statement())
			p.expect(tokBlockEnd)
		default:
			p.fail("unexpected %v", t)
		}
	}
}

// inner parses what a block encloses: the opening tag's end, the body, and the closing word, its
// result.
func (p *parser) inner(ends ...string) ([]stmt, tok) {
	p.skipOp(":")
	p.expect(tokBlockEnd)
	return p.body(ends...), p.next()
}

// statement parses what stands between {% and %}, and a block up to the name of its closing tag.
func (p *parser) statement() stmt {
	t := p.expect(tokName)
	switch t.text {
	case "if":
		return p.ifBlock()
	case "for":
		return p.forBlock()
	case "set":
		return p.set()
	case "macro":
		return p.macro()
	case "call":
		return p.callBlock()
	case "with":
		return p.with()
	case "filter":
		return p.filterBlock()
	case "generation":
		w := &scoped{}
		w.frame = p.within(nil, func() { w.body, _ = p.inner("endgeneration") })
		return w
	case "break", "continue":
		if p.loops == 0 {
			p.failAt(t.line, "{%% %s %%} outside of a loop", t.text)
		}
		if t.text == "break" {
			return jump(flowBreak)
		}
		return jump(flowContinue)
	case "include", "import", "from", "extends":
		for p.cur().kind != tokBlockEnd && p.cur().kind != tokEOF {
			p.next()
		}
		return &foreign{t.text, t.line}
	}
	p.failAt(t.line, "the tag {%% %s %%} is not supported", t.text)
	return nil
}

// foreign is a tag that refers to another template. There is none, here as in the servers, which
// is a fault where a template comes to it.
type foreign struct {
	tag  string
	line int
}

func (f *foreign) exec(m *machine, _ *scope) flow {
	m.line = f.line
	panic(bad("the tag {%% %s %%} is not supported: there are no other templates", f.tag))
}

func (p *parser) ifBlock() stmt {
	root := &ifStmt{}
	around := p.frame.branches
	defer func() { p.frame.branches = around }()
	for node := root; ; {
		node.test = p.tuple(tupleRules{})
		p.frame.branches = around + 1
		var end tok
		node.then, end = p.inner("elif", "else", "endif")
		if end.text != "elif" {
			if end.text == "else" {
				node.or, _ = p.inner("endif")
			}
			return root
		}
		next := &ifStmt{}
		node.or = []stmt{next}
		node = next
	}
}

func (p *parser) forBlock() stmt {
	f := &forStmt{line: p.cur().line, target: p.target(tupleRules{})}
	if !p.skipName("in") {
		p.fail("expected 'in', found %v", p.cur())
	}
	f.items = p.tuple(tupleRules{})
	params := append(names(f.target), "loop")
	if p.skipName("if") {
		p.within(params, func() { f.test = p.condition() })
	}
	f.recursive = p.skipName("recursive")
	p.loops++
	var end tok
	f.frame = p.within(params, func() { f.body, end = p.inner("else", "endfor") })
	p.loops--
	if end.text == "else" {
		f.orFrame = p.within(nil, func() { f.or, _ = p.inner("endfor") })
	}
	return f
}

func (p *parser) set() stmt {
	line := p.cur().line
	to := p.target(tupleRules{attrs: true})
	if p.skipOp("=") {
		s := &setStmt{target: to, value: p.tuple(tupleRules{cond: true}), line: line}
		p.sets(to)
		return s
	}
	p.sets(to)
	b := &setBlock{target: to, line: line, filter: p.filters(&captured{}, false)}
	b.frame, b.body = p.parseBody(nil, "endset")
	return b
}

// sets notes that a target's names have values from here on.
func (p *parser) sets(t target) {
	if a, ok := t.(*attrTarget); ok {
		p.frame.read(a.of)
	}
	for _, name := range names(t) {
		p.frame.set(name)
	}
}

// parseBody parses a body that no break or continue of an outer loop can leave, up to the tag end.
func (p *parser) parseBody(params []string, end string) (f *frame, b []stmt) {
	loops := p.loops
	p.loops = 0
	f = p.within(params, func() { b, _ = p.inner(end) })
	p.loops = loops
	return f, b
}

func (p *parser) macro() stmt {
	name := p.expect(tokName)
	m := &macroDef{name: name.text, line: name.line}
	p.frame.set(m.name)
	seen := len(p.names)
	p.signature(m)
	m.frame, m.body = p.parseBody(m.takes(), "endmacro")
	m.uses(p.names[seen:])
	return &macroStmt{m}
}

func (p *parser) signature(m *macroDef) {
	p.expectOp("(")
	for !p.cur().op(")") {
		if len(m.params) > 0 {
			p.expectOp(",")
		}
		prm := param{name: p.expect(tokName).text}
		if p.skipOp("=") {
			prm.value = p.condition()
		} else if n := len(m.params); n > 0 && m.params[n-1].value != nil {
			p.fail("the parameter %s without a default follows one with a default", prm.name)
		}
		m.params = append(m.params, prm)
	}
	p.expectOp(")")
}

func (p *parser) callBlock() stmt {
	m := &macroDef{name: "caller", anonymous: true, line: p.cur().line}
	seen := len(p.names)
	if p.cur().op("(") {
		p.signature(m)
	}
	call, ok := p.condition().(*callExpr)
	if !ok {
		p.failAt(m.line, "{%% call %%} is not followed by a call")
	}
	m.frame, m.body = p.parseBody(m.takes(), "endcall")
	m.uses(p.names[seen:])
	return &callStmt{call: call, caller: m}
}

func (p *parser) with() stmt {
	w := &scoped{line: p.cur().line}
	var params []string
	for p.cur().kind != tokBlockEnd {
		if len(w.targets) > 0 {
			p.expectOp(",")
		}
		t := p.target(tupleRules{})
		p.expectOp("=")
		w.targets, w.values = append(w.targets, t), append(w.values, p.condition())
		params = append(params, names(t)...)
	}
	w.frame = p.within(params, func() { w.body, _ = p.inner("endwith") })
	return w
}

func (p *parser) filterBlock() stmt {
	f := &filterStmt{filter: p.filters(&captured{}, true)}
	f.frame, f.body = p.parseBody(nil, "endfilter")
	return f
}

// target parses what a value is given to: a name, a namespace's attribute where allowed, or
// several.
func (p *parser) target(r tupleRules) target {
	r.simple = true
	line := p.cur().line
	reading := p.frame
	p.frame = newFrame(nil) // what stands here is set, not read
	t, ok := asTarget(p.tuple(r))
	p.frame = reading
	if !ok {
		p.failAt(line, "cannot assign to this expression")
	}
	return t
}

func asTarget(e expr) (target, bool) {
	switch e := e.(type) {
	case *nameExpr:
		return nameTarget(e.name), true
	case *attrExpr:
		if of, ok := e.of.(*nameExpr); ok && e.assign {
			return &attrTarget{of: of.name, attr: e.name}, true
		}
	case *listExpr:
		if e.kind != kindTuple {
			return nil, false
		}
		var all tupleTarget
		for _, item := range e.items {
			t, ok := asTarget(item)
			if !ok {
				return nil, false
			}
			all = append(all, t)
		}
		return all, true
	}
	return nil, false
}
