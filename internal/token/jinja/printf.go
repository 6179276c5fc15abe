package jinja

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// percent is a text, or markup, % a value. Of what goes into markup texts are escaped.
func percent(s string, v any, mark bool) any {
	args := []any{v}
	if t, ok := v.(*List); ok && t.kind == kindTuple {
		args = t.items
	}
	if !mark {
		return printf(s, args, v)
	}
	escape := func(values []any) {
		for i, v := range values {
			if t, ok := v.(string); ok {
				values[i] = escapeHTML(t)
			}
		}
	}
	args = slices.Clone(args)
	escape(args)
	if d, ok := v.(*Dict); ok {
		d = d.Clone()
		escape(d.vals)
		v = d
	}
	return markup(printf(s, args, v))
}

// printf is Python's % operator on strings. Mapping is the value that names refer to.
func printf(format string, args []any, mapping any) string {
	var b strings.Builder
	used, named := 0, false
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			panic(bad("the format %q ends after '%%'", format))
		}
		if format[i] == '%' {
			b.WriteByte('%')
			continue
		}
		var v any
		if format[i] == '(' {
			end := strings.IndexByte(format[i:], ')')
			d, ok := mapping.(*Dict)
			if end < 0 || !ok {
				panic(bad("the format %q needs a mapping", format))
			}
			if v, ok = d.get(format[i+1 : i+end]); !ok {
				panic(bad("the format %q needs the key %s", format, format[i+1:i+end]))
			}
			i += end + 1
			named = true
		}
		start := i
		for i < len(format) && strings.IndexByte("-+ #0123456789.", format[i]) >= 0 {
			i++
		}
		if i == len(format) {
			panic(bad("the format %q is incomplete", format))
		}
		if !named {
			if used == len(args) {
				panic(bad("the format %q needs more values than the %d given", format, len(args)))
			}
			v = args[used]
			used++
		}
		if b.WriteString(verb(format[start:i], format[i], v)); b.Len() > maxText {
			panic(bad(tooLarge))
		}
	}
	_, isDict := mapping.(*Dict)
	if !named && used < len(args) && !isDict {
		panic(bad("the format %q needs fewer values than the %d given", format, len(args)))
	}
	return b.String()
}

func verb(flags string, c byte, v any) string {
	for _, part := range strings.FieldsFunc(flags, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(part); err != nil || n > 10000 {
			panic(bad("the width or precision of a format is too large"))
		}
	}
	switch c {
	case 's', 'r':
		s := str(v)
		if c == 'r' {
			s = repr(v, 0)
		}
		return fmt.Sprintf("%"+strings.ReplaceAll(flags, "0", "")+"s", s)
	case 'd', 'i', 'u', 'x', 'X', 'o':
		if c == 'i' || c == 'u' {
			c = 'd'
		}
		n, ok := bigOf(v)
		if f, isFloat := v.(float64); isFloat && c == 'd' && !math.IsNaN(f) && !math.IsInf(f, 0) {
			n, ok = new(big.Int), true
			new(big.Float).SetFloat64(f).Int(n)
		}
		if !ok {
			panic(bad("the format %%%c takes a number, not a %s", c, typeName(v)))
		}
		return fmt.Sprintf("%"+flags+string(c), n)
	case 'f', 'F', 'e', 'E', 'g', 'G':
		f, ok := asFloat(v)
		if !ok {
			panic(bad("the format %%%c takes a number, not a %s", c, typeName(v)))
		}
		if (c == 'g' || c == 'G') && !strings.Contains(flags, ".") {
			flags += ".6"
		}
		return fmt.Sprintf("%"+flags+string(c), f)
	}
	panic(bad("the format %%%c is not supported", c))
}

func formatFilter(_ *machine, c call) any {
	if len(c.args) == 0 || (len(c.args) > 1 && len(c.names) > 0) {
		panic(bad("format takes values either with or without names"))
	}
	s := str(c.args[0])
	if len(c.names) > 0 {
		return printf(s, nil, pairsOf(call{names: c.names, named: c.named}))
	}
	return printf(s, c.args[1:], nil)
}
