package chat

import (
	"errors"
	"fmt"
)

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
	for name, f := range map[string]func(*machine, call) (any, error){
		"range": rangeOf, "dict": dictOf, "namespace": namespaceOf, "cycler": cycler,
	} {
		out[name] = &callable{name: name, call: f}
	}
	return out
}

func rangeOf(_ *machine, c call) (any, error) {
	if len(c.names) > 0 || len(c.args) == 0 || len(c.args) > 3 {
		return nil, errors.New("range takes one to three integers")
	}
	n := [3]int64{0, 0, 1}
	for i, a := range c.args {
		v, ok := asInt(a)
		if !ok {
			if u, ok := a.(*undefined); ok {
				return nil, u.fail()
			}
			return nil, fmt.Errorf("range takes integers, not a %s", typeName(a))
		}
		n[i] = v
	}
	if len(c.args) == 1 {
		n[0], n[1] = 0, n[0]
	}
	if n[2] == 0 {
		return nil, errors.New("the step of a range is 0")
	}
	out := &List{kind: kindRange}
	for i := n[0]; (n[2] > 0 && i < n[1]) || (n[2] < 0 && i > n[1]); i += n[2] {
		if len(out.items) == maxRange {
			return nil, fmt.Errorf("a range has more than %d items", maxRange)
		}
		out.items = append(out.items, i)
	}
	return out, nil
}

// pairsOf makes a mapping of the arguments of dict() or namespace().
func pairsOf(c call) (*Dict, error) {
	d := &Dict{}
	if len(c.args) > 1 {
		return nil, errors.New("at most one argument without a name is taken")
	}
	if len(c.args) == 1 {
		if from, ok := c.args[0].(*Dict); ok {
			for i := range from.keys {
				if err := d.set(from.keys[i], from.vals[i]); err != nil {
					return nil, err
				}
			}
		} else {
			items, err := iterate(c.args[0])
			if err != nil {
				return nil, err
			}
			for _, pair := range items {
				kv, err := iterate(pair)
				if err != nil || len(kv) != 2 {
					return nil, errors.New("a mapping is made of another one, or of pairs")
				}
				if err := d.set(kv[0], kv[1]); err != nil {
					return nil, err
				}
			}
		}
	}
	for i, n := range c.names {
		d.Set(n, c.named[i])
	}
	return d, nil
}

func dictOf(_ *machine, c call) (any, error) { return pairsOf(c) }

func namespaceOf(_ *machine, c call) (any, error) {
	d, err := pairsOf(c)
	return &namespace{d}, err
}

// joiner gives a function that returns nothing at first and a separator from then on.
func joiner(_ *machine, v []any, given []bool) (any, error) {
	var sep any = ", "
	if given[0] {
		sep = v[0]
	}
	used := false
	return &callable{name: "joiner", call: func(*machine, call) (any, error) {
		if !used {
			used = true
			return "", nil
		}
		return sep, nil
	}}, nil
}

func raise(_ *machine, v []any, _ []bool) (any, error) {
	s, err := str(v[0])
	if err != nil {
		return nil, err
	}
	return nil, &Raised{Message: s}
}

func strftimeNow(m *machine, v []any, _ []bool) (any, error) {
	f, ok := asString(v[0])
	if !ok {
		return nil, fmt.Errorf("strftime_now takes a string, not a %s", typeName(v[0]))
	}
	return strftime(m.now(), f)
}
