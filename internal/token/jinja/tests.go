package jinja

func testNames() map[string]*callable {
	plain := map[string]func(v any) bool{
		"defined":   func(v any) bool { return !isUndefined(v) },
		"undefined": isUndefined,
		"none":      func(v any) bool { return v == nil },
		"boolean":   func(v any) bool { _, ok := v.(bool); return ok },
		"true":      func(v any) bool { return v == true },
		"false":     func(v any) bool { return v == false },
		"integer":   func(v any) bool { return typeName(v) == "int" },
		"float":     func(v any) bool { _, ok := v.(float64); return ok },
		"number":    func(v any) bool { _, ok := asFloat(v); return ok || typeName(v) == "int" },
		"string":    func(v any) bool { _, ok := asString(v); return ok },
		"mapping":   func(v any) bool { _, ok := v.(*Dict); return ok },
		"callable": func(v any) bool {
			switch v := v.(type) {
			case *callable, *undefined: // calling what is undefined is what fails
				return true
			case *loop:
				return v != nil
			}
			return false
		},
		"escaped":  isMarkup,
		"iterable": isIterable,
		"sequence": func(v any) bool {
			switch v.(type) {
			case string, markup, *List, *Dict, *undefined:
				return true
			}
			return false
		},
	}
	out := map[string]*callable{}
	for name, f := range plain {
		out[name] = takes(name, "value", one(f))
	}
	for name, op := range map[string]string{
		"==": "==", "eq": "==", "equalto": "==", "!=": "!=", "ne": "!=", ">": ">", "gt": ">", "greaterthan": ">",
		">=": ">=", "ge": ">=", "<": "<", "lt": "<", "lessthan": "<", "<=": "<=", "le": "<=", "in": "in",
	} {
		out[name] = takes(name, "value other", func(_ *machine, v []any, given []bool) any {
			if !given[1] {
				panic(bad("the test %s takes a value", name))
			}
			return compare(op, v[0], v[1])
		})
	}
	for name, want := range map[string]int64{"even": 0, "odd": 1} {
		out[name] = takes(name, "value", one(func(v any) bool { return equal(arithmetic("%", v, int64(2)), want) }))
	}
	out["divisibleby"] = takes("divisibleby", "value num", func(_ *machine, v []any, _ []bool) any {
		return equal(arithmetic("%", v[0], v[1]), int64(0))
	})
	for name, in := range map[string]func(*machine) map[string]*callable{
		"filter": func(m *machine) map[string]*callable { return m.filters }, "test": func(m *machine) map[string]*callable { return m.tests },
	} {
		out[name] = takes(name, "value", func(m *machine, v []any, _ []bool) any {
			s, _ := asString(v[0])
			return in(m)[s] != nil
		})
	}
	out["sameas"] = takes("sameas", "value other", sameAs)
	for name, ok := range map[string]func(string) bool{"lower": isLower, "upper": isUpper} {
		out[name] = takes(name, "value", one(func(v any) bool { return ok(str(v)) }))
	}
	return out
}

func isUndefined(v any) bool {
	_, ok := v.(*undefined)
	return ok
}

func isIterable(v any) bool {
	switch v.(type) {
	case string, markup, *List, *Dict, *view, *gen, *undefined, *loop:
		return true
	}
	return false
}

// sameAs compares identities. Those of numbers and strings depend on how Python
// stores them, so that only the response for different values is sure.
func sameAs(_ *machine, v []any, _ []bool) any {
	switch a := v[0].(type) {
	case int64, bigInt, float64, string, markup:
		if typeName(a) != typeName(v[1]) || !equal(a, v[1]) {
			return false
		}
		if i, ok := a.(int64); ok && i >= -5 && i <= 256 { // of these Python has one each
			return true
		}
		panic(bad("the test sameas is not supported for a %s", typeName(a)))
	}
	return v[0] == v[1]
}
