package chat

import (
	"fmt"
	"slices"
)

// maxNesting bounds how deep statements and expressions nest.
const maxNesting = 200

// parser builds statements of tokens.
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
func (p *parser) look() tok { return p.toks[min(p.pos+1, len(p.toks)-1)] }

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

func (p *parser) fail(format string, args ...any) error {
	return &Error{Line: p.cur().line, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) expectOp(op string) error {
	if !p.skipOp(op) {
		return p.fail("expected '%s', found %v", op, p.cur())
	}
	return nil
}

func (p *parser) expect(k kind) (tok, error) {
	if p.cur().kind != k {
		return tok{}, p.fail("expected %v, found %v", tok{kind: k, text: "a name"}, p.cur())
	}
	return p.next(), nil
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxNesting {
		return p.fail("the template nests more than %d levels deep", maxNesting)
	}
	return nil
}

// body parses up to a block whose name is one of ends, and leaves the parser at that name.
// With no ends it parses up to the end of the template.
func (p *parser) body(ends ...string) ([]stmt, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var out []stmt
	for {
		switch t := p.next(); t.kind {
		case tokEOF:
			if len(ends) > 0 {
				return nil, p.fail("the template ends before {%% %s %%}", ends[len(ends)-1])
			}
			return out, nil
		case tokData:
			out = append(out, &text{t.text})
		case tokVarBegin:
			e, err := p.tuple(tupleRules{cond: true})
			if err != nil {
				return nil, err
			}
			if _, err := p.expect(tokVarEnd); err != nil {
				return nil, err
			}
			out = append(out, &print{e})
		case tokBlockBegin:
			name := p.cur()
			if name.kind == tokName && slices.Contains(ends, name.text) {
				return out, nil
			}
			s, err := p.statement()
			if err != nil {
				return nil, err
			}
			if _, err := p.expect(tokBlockEnd); err != nil {
				return nil, err
			}
			out = append(out, s)
		default:
			return nil, p.fail("unexpected %v", t)
		}
	}
}

// inner parses what a block encloses: the end of the opening tag, the body, and
// the word of the closing tag, which is returned.
func (p *parser) inner(ends ...string) ([]stmt, tok, error) {
	p.skipOp(":")
	if _, err := p.expect(tokBlockEnd); err != nil {
		return nil, tok{}, err
	}
	b, err := p.body(ends...)
	return b, p.next(), err
}

// statement parses what stands between {% and %}, and for a block all it encloses
// up to the name of its closing tag.
func (p *parser) statement() (stmt, error) {
	t, err := p.expect(tokName)
	if err != nil {
		return nil, err
	}
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
		w.frame, err = p.within(nil, func() (err error) { w.body, _, err = p.inner("endgeneration"); return })
		return w, err
	case "break", "continue":
		if p.loops == 0 {
			return nil, &Error{Line: t.line, Message: "{% " + t.text + " %} stands outside of a loop"}
		}
		if t.text == "break" {
			return jump(flowBreak), nil
		}
		return jump(flowContinue), nil
	}
	if slices.Contains([]string{"include", "import", "from", "extends"}, t.text) {
		for p.cur().kind != tokBlockEnd && p.cur().kind != tokEOF {
			p.next()
		}
		return &foreign{t.text, t.line}, nil
	}
	return nil, &Error{Line: t.line, Message: "the tag {% " + t.text + " %} is not supported"}
}

// foreign is a tag that refers to another template. There is none, here as in the servers, which
// is a fault where a template comes to it.
type foreign struct {
	tag  string
	line int
}

func (f *foreign) exec(*machine, *scope) (flow, error) {
	return flowNext, &Error{Line: f.line, Message: "the tag {% " + f.tag + " %} is not supported: there are no other templates"}
}

func (p *parser) ifBlock() (stmt, error) {
	root := &ifStmt{}
	around := p.frame.branches
	defer func() { p.frame.branches = around }()
	node := root
	for {
		var err error
		if node.test, err = p.tuple(tupleRules{}); err != nil {
			return nil, err
		}
		p.frame.branches = around + 1
		var end tok
		if node.then, end, err = p.inner("elif", "else", "endif"); err != nil {
			return nil, err
		}
		switch end.text {
		case "elif":
			next := &ifStmt{}
			node.or = []stmt{next}
			node = next
			continue
		case "else":
			node.or, _, err = p.inner("endif")
		}
		return root, err
	}
}

func (p *parser) forBlock() (stmt, error) {
	f := &forStmt{line: p.cur().line}
	var err error
	if f.target, err = p.target(tupleRules{}); err != nil {
		return nil, err
	}
	if !p.skipName("in") {
		return nil, p.fail("expected 'in', found %v", p.cur())
	}
	if f.items, err = p.tuple(tupleRules{}); err != nil {
		return nil, err
	}
	params := append(names(f.target), "loop")
	if p.skipName("if") {
		if _, err = p.within(params, func() (err error) { f.test, err = p.condition(); return }); err != nil {
			return nil, err
		}
	}
	f.recursive = p.skipName("recursive")
	p.loops++
	var end tok
	f.frame, err = p.within(params, func() (err error) { f.body, end, err = p.inner("else", "endfor"); return })
	p.loops--
	if err == nil && end.text == "else" {
		f.orFrame, err = p.within(nil, func() (err error) { f.or, _, err = p.inner("endfor"); return })
	}
	return f, err
}

func (p *parser) set() (stmt, error) {
	s := &setStmt{line: p.cur().line}
	var err error
	if s.target, err = p.target(tupleRules{attrs: true}); err != nil {
		return nil, err
	}
	if p.skipOp("=") {
		s.value, err = p.tuple(tupleRules{cond: true})
		p.sets(s.target)
		return s, err
	}
	p.sets(s.target)
	b := &setBlock{target: s.target, line: s.line}
	if b.filter, err = p.filters(&captured{}, false); err != nil {
		return nil, err
	}
	b.frame, b.body, err = p.own(nil, func() ([]stmt, tok, error) { return p.inner("endset") })
	return b, err
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

// own parses a body that no break or continue of an outer loop can leave.
func (p *parser) own(params []string, parse func() ([]stmt, tok, error)) (f *frame, b []stmt, err error) {
	loops := p.loops
	p.loops = 0
	f, err = p.within(params, func() (err error) { b, _, err = parse(); return })
	p.loops = loops
	return f, b, err
}

func (p *parser) macro() (stmt, error) {
	name, err := p.expect(tokName)
	if err != nil {
		return nil, err
	}
	m := &macroDef{name: name.text, line: name.line}
	p.frame.set(m.name)
	seen := len(p.names)
	if err := p.signature(m); err != nil {
		return nil, err
	}
	if m.frame, m.body, err = p.own(m.takes(), func() ([]stmt, tok, error) { return p.inner("endmacro") }); err != nil {
		return nil, err
	}
	m.uses(p.names[seen:])
	return &macroStmt{m}, nil
}

// signature parses the parameters of a macro.
func (p *parser) signature(m *macroDef) error {
	if err := p.expectOp("("); err != nil {
		return err
	}
	for !p.cur().op(")") {
		if len(m.params) > 0 {
			if err := p.expectOp(","); err != nil {
				return err
			}
		}
		name, err := p.expect(tokName)
		if err != nil {
			return err
		}
		prm := param{name: name.text}
		if p.skipOp("=") {
			if prm.value, err = p.condition(); err != nil {
				return err
			}
		} else if n := len(m.params); n > 0 && m.params[n-1].value != nil {
			return p.fail("the parameter %s without a default follows one with a default", prm.name)
		}
		m.params = append(m.params, prm)
	}
	return p.expectOp(")")
}

func (p *parser) callBlock() (stmt, error) {
	m := &macroDef{name: "caller", anonymous: true, line: p.cur().line}
	seen := len(p.names)
	if p.cur().op("(") {
		if err := p.signature(m); err != nil {
			return nil, err
		}
	}
	e, err := p.condition()
	if err != nil {
		return nil, err
	}
	call, ok := e.(*callExpr)
	if !ok {
		return nil, &Error{Line: m.line, Message: "{% call %} is not followed by a call"}
	}
	if m.frame, m.body, err = p.own(m.takes(), func() ([]stmt, tok, error) { return p.inner("endcall") }); err != nil {
		return nil, err
	}
	m.uses(p.names[seen:])
	return &callStmt{call: call, caller: m}, nil
}

func (p *parser) with() (stmt, error) {
	w := &scoped{}
	for p.cur().kind != tokBlockEnd {
		if len(w.targets) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		t, err := p.target(tupleRules{})
		if err != nil {
			return nil, err
		}
		if err := p.expectOp("="); err != nil {
			return nil, err
		}
		v, err := p.condition()
		if err != nil {
			return nil, err
		}
		w.targets, w.values = append(w.targets, t), append(w.values, v)
	}
	var params []string
	for _, t := range w.targets {
		params = append(params, names(t)...)
	}
	var err error
	w.frame, err = p.within(params, func() (err error) { w.body, _, err = p.inner("endwith"); return })
	return w, err
}

func (p *parser) filterBlock() (stmt, error) {
	f, err := p.filters(&captured{}, true)
	if err != nil {
		return nil, err
	}
	fr, b, err := p.own(nil, func() ([]stmt, tok, error) { return p.inner("endfilter") })
	return &filterStmt{filter: f, body: b, frame: fr}, err
}

// target parses what a value is given to: a name, an attribute of a namespace
// where the rules allow it, or several of them.
func (p *parser) target(r tupleRules) (target, error) {
	r.simple = true
	line := p.cur().line
	reading := p.frame
	p.frame = newFrame(nil) // what stands here is set, not read
	e, err := p.tuple(r)
	p.frame = reading
	if err != nil {
		return nil, err
	}
	t, ok := asTarget(e)
	if !ok {
		return nil, &Error{Line: line, Message: "nothing can be assigned to what stands here"}
	}
	return t, nil
}

func asTarget(e expr) (target, bool) {
	switch e := e.(type) {
	case *nameExpr:
		return nameTarget(e.name), true
	case *attrExpr:
		if of, ok := e.of.(*nameExpr); ok && e.assign {
			return &attrTarget{of: of.name, attr: e.name, line: e.line}, true
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
