package chat

import "fmt"

// tupleRules say how a list of expressions with commas between them is parsed.
type tupleRules struct {
	simple bool // names and literals only
	attrs  bool // also attributes, which are then assigned to
	cond   bool // a if b else c is allowed
	parens bool // in parentheses: may be empty
}

// tuple parses one expression, or several with commas between them, which make a tuple.
func (p *parser) tuple(r tupleRules) (expr, error) {
	var items []expr
	comma := false
	for {
		if len(items) > 0 && !p.skipOp(",") {
			return nil, p.fail("expected ',', found %v", p.cur())
		}
		if p.tupleEnds() {
			break
		}
		e, err := p.element(r)
		if err != nil {
			return nil, err
		}
		items = append(items, e)
		if !p.cur().op(",") {
			break
		}
		comma = true
	}
	if !comma {
		if len(items) == 1 {
			return items[0], nil
		}
		if !r.parens {
			return nil, p.fail("expected an expression, found %v", p.cur())
		}
	}
	return &listExpr{kind: kindTuple, items: items}, nil
}

func (p *parser) tupleEnds() bool {
	t := p.cur()
	return t.kind == tokVarEnd || t.kind == tokBlockEnd || t.op(")")
}

func (p *parser) element(r tupleRules) (expr, error) {
	switch {
	case r.simple:
		return p.primary(r.attrs)
	case r.cond:
		return p.condition()
	}
	return p.or()
}

// condition parses a whole expression, a if b else c among them.
func (p *parser) condition() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e, err := p.or()
	for err == nil && p.skipName("if") {
		c := &condExpr{then: e}
		if c.test, err = p.or(); err != nil {
			return nil, err
		}
		if p.skipName("else") {
			if c.or, err = p.condition(); err != nil {
				return nil, err
			}
		}
		e = c
	}
	return e, err
}

func (p *parser) or() (expr, error) {
	left, err := p.and()
	for err == nil && p.skipName("or") {
		var right expr
		right, err = p.and()
		left = &logic{or: true, left: left, right: right}
	}
	return left, err
}

func (p *parser) and() (expr, error) {
	left, err := p.not()
	for err == nil && p.skipName("and") {
		var right expr
		right, err = p.not()
		left = &logic{left: left, right: right}
	}
	return left, err
}

func (p *parser) not() (expr, error) {
	n := 0
	for p.skipName("not") {
		n++
	}
	e, err := p.compare()
	for range n {
		e = &notExpr{e}
	}
	return e, err
}

func (p *parser) compare() (expr, error) {
	first, err := p.math(0)
	if err != nil {
		return nil, err
	}
	c := &compareExpr{first: first, line: p.cur().line}
	for {
		var op string
		switch t := p.cur(); {
		case t.op("=="), t.op("!="), t.op("<"), t.op("<="), t.op(">"), t.op(">="):
			op = t.text
			p.next()
		case p.skipName("in"):
			op = "in"
		case t.is("not") && p.look().is("in"):
			op = "not in"
			p.next()
			p.next()
		default:
			if len(c.ops) == 0 {
				return first, nil
			}
			return c, nil
		}
		e, err := p.math(0)
		if err != nil {
			return nil, err
		}
		c.ops = append(c.ops, operand{op, e})
	}
}

// levels are the operators from those that bind least to those that bind most.
var levels = [][]string{{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}

// math parses operators that bind at least as tightly as a level's.
func (p *parser) math(level int) (expr, error) {
	if level == len(levels) {
		return p.unary(true)
	}
	left, err := p.math(level + 1)
	for err == nil {
		op := ""
		for _, o := range levels[level] {
			if p.cur().op(o) {
				op = o
			}
		}
		if op == "" {
			return left, nil
		}
		line := p.next().line
		var right expr
		right, err = p.math(level + 1)
		left = &binary{op: op, left: left, right: right, line: line}
	}
	return nil, err
}

func (p *parser) unary(filters bool) (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var e expr
	var err error
	if t := p.cur(); t.op("-") || t.op("+") {
		p.next()
		e, err = p.unary(false)
		e = &signExpr{minus: t.text == "-", e: e, line: t.line}
	} else {
		e, err = p.primary(false)
	}
	if err == nil {
		e, err = p.postfix(e)
	}
	if err == nil && filters {
		e, err = p.filterExpr(e)
	}
	return e, err
}

func (p *parser) primary(attrs bool) (expr, error) {
	t := p.cur()
	switch t.kind {
	case tokName:
		p.next()
		switch t.text {
		case "true", "True":
			return &literal{true}, nil
		case "false", "False":
			return &literal{false}, nil
		case "none", "None":
			return &literal{nil}, nil
		}
		p.names = append(p.names, t.text)
		p.frame.read(t.text)
		n := &nameExpr{t.text}
		if attrs && p.skipOp(".") {
			attr, err := p.expect(tokName)
			return &attrExpr{of: n, name: attr.text, line: t.line, assign: true}, err
		}
		return n, nil
	case tokString:
		s := ""
		for p.cur().kind == tokString {
			s += p.next().text
		}
		return &literal{s}, nil
	case tokInt, tokFloat:
		p.next()
		return &literal{t.num}, nil
	case tokOp:
		switch t.text {
		case "(":
			p.next()
			e, err := p.tuple(tupleRules{cond: true, parens: true})
			if err != nil {
				return nil, err
			}
			return e, p.expectOp(")")
		case "[":
			p.next()
			items, err := p.sequence("]")
			return &listExpr{kind: kindList, items: items}, err
		case "{":
			p.next()
			return p.dict()
		}
	}
	return nil, p.fail("unexpected %v", t)
}

// sequence parses expressions with commas between them up to a closing bracket.
func (p *parser) sequence(end string) ([]expr, error) {
	var items []expr
	for !p.cur().op(end) {
		if len(items) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
			if p.cur().op(end) {
				break
			}
		}
		e, err := p.condition()
		if err != nil {
			return nil, err
		}
		items = append(items, e)
	}
	return items, p.expectOp(end)
}

func (p *parser) dict() (expr, error) {
	d := &dictExpr{line: p.cur().line}
	for !p.cur().op("}") {
		if len(d.keys) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
			if p.cur().op("}") {
				break
			}
		}
		k, err := p.condition()
		if err != nil {
			return nil, err
		}
		if err := p.expectOp(":"); err != nil {
			return nil, err
		}
		v, err := p.condition()
		if err != nil {
			return nil, err
		}
		d.keys, d.vals = append(d.keys, k), append(d.vals, v)
	}
	return d, p.expectOp("}")
}

// postfix parses attributes, subscripts and calls.
func (p *parser) postfix(e expr) (expr, error) {
	var err error
	for n := 0; err == nil; n++ {
		if n > maxNesting {
			return nil, p.fail("the template nests more than %d levels deep", maxNesting)
		}
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
				return nil, p.fail("expected a name or a number, found %v", a)
			}
		case t.op("["):
			p.next()
			e, err = p.subscript(e, t.line)
		case t.op("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) subscript(of expr, line int) (expr, error) {
	var part [3]expr
	slice := false
	for i := range part {
		t := p.cur()
		if !t.op(":") && !t.op("]") && !t.op(",") {
			e, err := p.condition()
			if err != nil {
				return nil, err
			}
			part[i] = e
		}
		if i == 2 || !p.skipOp(":") {
			break
		}
		slice = true
	}
	if p.cur().op(",") {
		return nil, p.fail("a subscript of several values is not supported")
	}
	if err := p.expectOp("]"); err != nil {
		return nil, err
	}
	if slice {
		return &sliceExpr{of: of, from: part[0], to: part[1], step: part[2], line: line}, nil
	}
	if part[0] == nil {
		return nil, p.fail("expected an expression, found ']'")
	}
	return &itemExpr{of: of, key: part[0], line: line}, nil
}

// filterExpr parses filters and tests after an expression.
func (p *parser) filterExpr(e expr) (expr, error) {
	var err error
	for n := 0; err == nil; n++ {
		if n > maxNesting {
			return nil, p.fail("the template nests more than %d levels deep", maxNesting)
		}
		switch t := p.cur(); {
		case t.op("|"):
			e, err = p.filters(e, false)
		case t.is("is"):
			e, err = p.test(e)
		case t.op("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

// filters parses a chain of filters; inline: the first has no '|' before it.
func (p *parser) filters(e expr, inline bool) (expr, error) {
	for n := 0; inline || p.cur().op("|"); n++ {
		if n > maxNesting {
			return nil, p.fail("the template nests more than %d levels deep", maxNesting)
		}
		if !inline {
			p.next()
		}
		inline = false
		name, err := p.expect(tokName)
		if err != nil {
			return nil, err
		}
		f, ok := p.filterTable[name.text]
		if !ok {
			f = unknown("filter", name.text)
		}
		n := &filterExpr{of: e, f: f, line: name.line}
		if p.cur().op("(") {
			if n.args, err = p.arguments(); err != nil {
				return nil, err
			}
		}
		e = n
	}
	return e, nil
}

func (p *parser) test(e expr) (expr, error) {
	p.next()
	negated := p.skipName("not")
	name, err := p.expect(tokName)
	if err != nil {
		return nil, err
	}
	f, ok := p.testTable[name.text]
	if !ok {
		f = unknown("test", name.text)
	}
	t := &testExpr{of: e, f: f, line: name.line}
	switch c := p.cur(); {
	case c.op("("):
		if t.args, err = p.arguments(); err != nil {
			return nil, err
		}
	case c.is("else"), c.is("or"), c.is("and"):
	case c.is("is"):
		return nil, p.fail("two tests in a row need parentheses")
	case c.kind == tokName, c.kind == tokString, c.kind == tokInt, c.kind == tokFloat, c.op("["), c.op("{"):
		a, err := p.primary(false)
		if err == nil {
			a, err = p.postfix(a)
		}
		if err != nil {
			return nil, err
		}
		t.args.args = []expr{a}
	}
	if negated {
		return &notExpr{t}, nil
	}
	return t, nil
}

// unknown stands for a filter or a test that there is not. It fails where a
// template comes to it: real templates name some that only other engines have, in
// branches that are taken nowhere else.
func unknown(what, name string) *callable {
	return &callable{name: name, call: func(*machine, call) (any, error) {
		return nil, fmt.Errorf("the %s %s is not supported", what, name)
	}}
}
