package chat

func (p *parser) call(of expr) (expr, error) {
	c := &callExpr{of: of, line: p.cur().line}
	var err error
	c.args, err = p.arguments()
	return c, err
}

// arguments parses what stands between the parentheses of a call.
func (p *parser) arguments() (arguments, error) {
	var a arguments
	if err := p.expectOp("("); err != nil {
		return a, err
	}
	for first := true; !p.cur().op(")"); first = false {
		if !first {
			if err := p.expectOp(","); err != nil {
				return a, err
			}
			if p.cur().op(")") {
				break
			}
		}
		t := p.cur()
		if a.dict != nil || a.list != nil && !t.op("**") && !(t.kind == tokName && p.look().op("=")) {
			return a, p.fail("an argument follows those of a list or a mapping")
		}
		if t.op("*") || t.op("**") {
			p.next()
			e, err := p.condition()
			if err != nil {
				return a, err
			}
			if t.text == "*" {
				a.list = e
			} else {
				a.dict = e
			}
			continue
		}
		if t.kind == tokName && p.look().op("=") {
			p.next()
			p.next()
			e, err := p.condition()
			if err != nil {
				return a, err
			}
			a.names, a.named = append(a.names, t.text), append(a.named, e)
			continue
		}
		if len(a.names) > 0 {
			return a, p.fail("an argument without a name follows one with a name")
		}
		e, err := p.condition()
		if err != nil {
			return a, err
		}
		a.args = append(a.args, e)
	}
	return a, p.expectOp(")")
}
