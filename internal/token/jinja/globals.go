package jinja

// maxRange is the longest range that templates may make.
const maxRange = 100000

// globals are the names that every template knows.
func globals() map[string]any {
	out := map[string]any{
		"raise_exception": takes("raise_exception", "message", raise),
		"strftime_now":    takes("strftime_now", "format", strftimeNow),
		"joiner":          takes("joiner", "sep", joiner),
		"lipsum":          unknown("function", "lipsum"),
	}
	for name, f := range map[string]func(*machine, call) any{
		"range": rangeOf, "dict": dictOf, "namespace": namespaceOf, "cycler": cycler,
	} {
		out[name] = &callable{name: name, call: f}
	}
	return out
}

func rangeOf(_ *machine, c call) any {
	if len(c.names) > 0 || len(c.args) == 0 || len(c.args) > 3 {
		panic(bad("range takes one to three integers"))
	}
	n := [3]int64{0, 0, 1}
	for i, a := range c.args {
		v, ok := asInt(a)
		if !ok {
			defined(a)
			panic(bad("range takes integers, not a %s", typeName(a)))
		}
		n[i] = v
	}
	if len(c.args) == 1 {
		n[0], n[1] = 0, n[0]
	}
	if n[2] == 0 {
		panic(bad("the step of a range is 0"))
	}
	out := &List{kind: kindRange}
	for i := n[0]; (n[2] > 0 && i < n[1]) || (n[2] < 0 && i > n[1]); i += n[2] {
		if len(out.items) == maxRange {
			panic(bad("a range has more than %d items", maxRange))
		}
		out.items = append(out.items, i)
	}
	return out
}

// pairsOf makes a mapping of the arguments of dict() or namespace().
func pairsOf(c call) *Dict {
	d := &Dict{}
	if len(c.args) > 1 {
		panic(bad("at most one argument without a name is taken"))
	}
	if len(c.args) == 1 {
		items := iterate(c.args[0])
		if from, ok := c.args[0].(*Dict); ok {
			items = from.pairs()
		}
		for _, pair := range items {
			kv, ok := elements(pair)
			if !ok || len(kv) != 2 {
				panic(bad("a mapping is made of another one, or of pairs"))
			}
			d.set(kv[0], kv[1])
		}
	}
	for i, n := range c.names {
		d.Set(n, c.named[i])
	}
	return d
}

func dictOf(_ *machine, c call) any { return pairsOf(c) }

func namespaceOf(_ *machine, c call) any { return &namespace{pairsOf(c)} }

// joiner gives a function that returns nothing at first and a separator from then on.
func joiner(_ *machine, v []any, given []bool) any {
	var sep any = ", "
	if given[0] {
		sep = v[0]
	}
	used := false
	return &callable{name: "joiner", call: func(*machine, call) any {
		if !used {
			used = true
			return ""
		}
		return sep
	}}
}

func raise(_ *machine, v []any, _ []bool) any { panic(&Raised{Message: str(v[0])}) }

func strftimeNow(m *machine, v []any, _ []bool) any {
	f, ok := asString(v[0])
	if !ok {
		panic(bad("strftime_now takes a string, not a %s", typeName(v[0])))
	}
	return strftime(m.now(), f)
}
