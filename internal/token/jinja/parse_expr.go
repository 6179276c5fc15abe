package jinja

import "slices"

// tupleRules say how a list of expressions with commas between them is parsed.
type tupleRules struct {
	simple bool // names and literals only
	attrs  bool // also attributes, which are then assigned to
	cond   bool // a if b else c is allowed
	parens bool // in parentheses: may be empty
}

// tuple parses one expression, or several with commas between them, which make a tuple.
func (p *parser) tuple(r tupleRules) expr {
	var items []expr
	comma := false
	for {
		if len(items) > 0 {
			p.expectOp(",")
		}
		if p.tupleEnds() {
			break
		}
		items = append(items, p.element(r))
		if !p.cur().op(",") {
			break
		}
		comma = true
	}
	if !comma {
		if len(items) == 1 {
			return items[0]
		}
		if !r.parens {
			p.fail("expected an expression, found %v", p.cur())
		}
	}
	return &listExpr{kind: kindTuple, items: items}
}

func (p *parser) tupleEnds() bool {
	t := p.cur()
	return t.kind == tokVarEnd || t.kind == tokBlockEnd || t.op(")")
}

func (p *parser) element(r tupleRules) expr {
	switch {
	case r.simple:
		return p.primary(r.attrs)
	case r.cond:
		return p.condition()
	}
	return p.or()
}

// condition parses a whole expression, a if b else c among them.
func (p *parser) condition() expr {
	p.enter()
	defer func() { p.depth-- }()
	e := p.or()
	for p.skipName("if") {
		c := &condExpr{then: e, test: p.or()}
		if p.skipName("else") {
			c.or = p.condition()
		}
		e = c
	}
	return e
}

func (p *parser) or() expr {
	left := p.and()
	for p.skipName("or") {
		left = &logic{or: true, left: left, right: p.and()}
	}
	return left
}

func (p *parser) and() expr {
	left := p.not()
	for p.skipName("and") {
		left = &logic{left: left, right: p.not()}
	}
	return left
}

func (p *parser) not() expr {
	n := 0
	for p.skipName("not") {
		n++
	}
	e := p.compare()
	for range n {
		e = &notExpr{e}
	}
	return e
}

func (p *parser) compare() expr {
	first := p.math(0)
	c := &compareExpr{first: first, line: p.cur().line}
	for {
		var op string
		switch t := p.cur(); {
		case t.op("=="), t.op("!="), t.op("<"), t.op("<="), t.op(">"), t.op(">="):
			op = t.text
			p.next()
		case p.skipName("in"):
			op = "in"
		case t.is("not") && p.peek().is("in"):
			op = "not in"
			p.next()
			p.next()
		default:
			if len(c.ops) == 0 {
				return first
			}
			return c
		}
		c.ops = append(c.ops, operand{op, p.math(0)})
	}
}

// levels are the operators from those that bind least to those that bind most.
var levels = [][]string{{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}

// math parses operators that bind at least as tightly as a level's.
func (p *parser) math(level int) expr {
	if level == len(levels) {
		return p.unary(true)
	}
	left := p.math(level + 1)
	for slices.ContainsFunc(levels[level], p.cur().op) {
		t := p.next()
		left = &binary{op: t.text, left: left, right: p.math(level + 1), line: t.line}
	}
	return left
}

func (p *parser) unary(filters bool) (e expr) {
	p.enter()
	defer func() { p.depth-- }()
	if t := p.cur(); t.op("-") || t.op("+") {
		p.next()
		e = &signExpr{minus: t.text == "-", e: p.unary(false), line: t.line}
	} else {
		e = p.primary(false)
	}
	e = p.postfix(e)
	if filters {
		e = p.filterExpr(e)
	}
	return e
}

func (p *parser) primary(attrs bool) expr {
	t := p.cur()
	switch {
	case t.kind == tokName:
		p.next()
		switch t.text {
		case "true", "True":
			return &literal{true}
		case "false", "False":
			return &literal{false}
		case "none", "None":
			return &literal{nil}
		}
		p.names = append(p.names, t.text)
		p.frame.read(t.text)
		n := &nameExpr{t.text}
		if attrs && p.skipOp(".") {
			return &attrExpr{of: n, name: p.expect(tokName).text, line: t.line, assign: true}
		}
		return n
	case t.kind == tokString:
		s := ""
		for p.cur().kind == tokString {
			s += p.next().text
		}
		return &literal{s}
	case t.kind == tokInt, t.kind == tokFloat:
		p.next()
		return &literal{t.num}
	case p.skipOp("("):
		e := p.tuple(tupleRules{cond: true, parens: true})
		p.expectOp(")")
		return e
	case p.skipOp("["):
		l := &listExpr{kind: kindList}
		p.separated("]", func() { l.items = append(l.items, p.condition()) })
		return l
	case p.skipOp("{"):
		d := &dictExpr{line: p.cur().line}
		p.separated("}", func() {
			d.keys = append(d.keys, p.condition())
			p.expectOp(":")
			d.vals = append(d.vals, p.condition())
		})
		return d
	}
	p.fail("unexpected %v", t)
	return nil
}

// separated parses items between commas, perhaps with one behind the last, up to a bracket.
func (p *parser) separated(end string, item func()) {
	for first := true; !p.cur().op(end); first = false {
		if !first {
			if p.expectOp(","); p.cur().op(end) {
				break
			}
		}
		item()
	}
	p.expectOp(end)
}

// postfix parses attributes, subscripts and calls.
func (p *parser) postfix(e expr) expr {
	for n := 0; ; n++ {
		p.bound(n)
		t := p.cur()
		switch {
		case t.op("."):
			p.next()
			switch a := p.next(); a.kind {
			case tokName:
				e = &attrExpr{of: e, name: a.text, line: t.line}
			case tokInt:
				e = &itemExpr{of: e, key: &literal{a.num}, line: t.line}
			default:
				p.fail("expected a name or a number, found %v", a)
			}
		case t.op("["):
			p.next()
			e = p.subscript(e, t.line)
		case t.op("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) subscript(of expr, line int) expr {
	var part [3]expr
	slice := false
	for i := range part {
		t := p.cur()
		if !t.op(":") && !t.op("]") && !t.op(",") {
			part[i] = p.condition()
		}
		if i == 2 || !p.skipOp(":") {
			break
		}
		slice = true
	}
	if p.cur().op(",") {
		p.fail("a subscript of several values is not supported")
	}
	p.expectOp("]")
	if slice {
		return &sliceExpr{of: of, from: part[0], to: part[1], step: part[2], line: line}
	}
	if part[0] == nil {
		p.fail("expected an expression, found ']'")
	}
	return &itemExpr{of: of, key: part[0], line: line}
}

// filterExpr parses filters and tests after an expression.
func (p *parser) filterExpr(e expr) expr {
	for n := 0; ; n++ {
		p.bound(n)
		switch t := p.cur(); {
		case t.op("|"):
			e = p.filters(e, false)
		case t.is("is"):
			e = p.test(e)
		case t.op("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

// filters parses a chain of filters; inline: the first has no '|' before it.
func (p *parser) filters(e expr, inline bool) expr {
	for n := 0; inline || p.cur().op("|"); n++ {
		p.bound(n)
		if !inline {
			p.next()
		}
		inline = false
		name := p.expect(tokName)
		f, ok := p.filterTable[name.text]
		if !ok {
			f = unknown("filter", name.text)
		}
		n := &filterExpr{of: e, f: f, line: name.line}
		if p.cur().op("(") {
			n.args = p.arguments()
		}
		e = n
	}
	return e
}

func (p *parser) test(e expr) expr {
	p.next()
	negated := p.skipName("not")
	name := p.expect(tokName)
	f, ok := p.testTable[name.text]
	if !ok {
		f = unknown("test", name.text)
	}
	t := &filterExpr{of: e, f: f, line: name.line}
	switch c := p.cur(); {
	case c.op("("):
		t.args = p.arguments()
	case c.is("else"), c.is("or"), c.is("and"):
	case c.is("is"):
		p.fail("two tests in a row need parentheses")
	case c.kind == tokName, c.kind == tokString, c.kind == tokInt, c.kind == tokFloat, c.op("["), c.op("{"):
		t.args.args = []expr{p.postfix(p.primary(false))}
	}
	if negated {
		return &notExpr{t}
	}
	return t
}

// unknown stands for a filter or a test that does not exist. It fails when reached: real templates
// name some of other engines in branches for those.
func unknown(what, name string) *callable {
	return &callable{name: name, call: func(*machine, call) any { panic(bad("the %s %s is not supported", what, name)) }}
}

func (p *parser) call(of expr) expr {
	line := p.cur().line
	return &callExpr{of: of, args: p.arguments(), line: line}
}

// arguments parses what stands between the parentheses of a call.
func (p *parser) arguments() (a arguments) {
	p.expectOp("(")
	p.separated(")", func() {
		t := p.cur()
		named := t.kind == tokName && p.peek().op("=")
		switch {
		case a.dict != nil || a.list != nil && !t.op("**") && !named:
			p.fail("an argument follows those of a list or a mapping")
		case p.skipOp("*"):
			a.list = p.condition()
		case p.skipOp("**"):
			a.dict = p.condition()
		case named:
			p.next()
			p.next()
			a.names, a.named = append(a.names, t.text), append(a.named, p.condition())
		case len(a.names) > 0:
			p.fail("an argument without a name follows one with a name")
		default:
			a.args = append(a.args, p.condition())
		}
	})
	return a
}
