package chat

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// percent is a text, or markup, % a value. Of what goes into markup texts are escaped.
func percent(s string, v any, mark bool) (any, error) {
	args := []any{v}
	if t, ok := v.(*List); ok && t.kind == kindTuple {
		args = t.items
	}
	if !mark {
		return printf(s, args, v)
	}
	escaped := func(v any) any {
		if t, ok := v.(string); ok {
			return escapeHTML(t)
		}
		return v
	}
	args = slices.Clone(args)
	for i := range args {
		args[i] = escaped(args[i])
	}
	if d, ok := v.(*Dict); ok {
		d = d.clone()
		for i := range d.vals {
			d.vals[i] = escaped(d.vals[i])
		}
		v = d
	}
	out, err := printf(s, args, v)
	if err != nil {
		return nil, err
	}
	return markup(out.(string)), nil
}

// printf is Python's % operator on strings. Mapping is the value that names refer to.
func printf(format string, args []any, mapping any) (any, error) {
	var b strings.Builder
	used, named := 0, false
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			return nil, fmt.Errorf("the format %q ends after '%%'", format)
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
				return nil, fmt.Errorf("the format %q needs a mapping", format)
			}
			var err error
			if v, ok, err = d.get(format[i+1 : i+end]); err != nil || !ok {
				return nil, either(err, fmt.Errorf("the format %q needs the key %s", format, format[i+1:i+end]))
			}
			i += end + 1
			named = true
		}
		start := i
		for i < len(format) && strings.IndexByte("-+ #0123456789.", format[i]) >= 0 {
			i++
		}
		if i == len(format) {
			return nil, fmt.Errorf("the format %q is cut short", format)
		}
		if !named {
			if used == len(args) {
				return nil, fmt.Errorf("the format %q needs more values than the %d given", format, len(args))
			}
			v = args[used]
			used++
		}
		s, err := verb(format[start:i], format[i], v)
		if err != nil {
			return nil, err
		}
		if b.WriteString(s); b.Len() > maxText {
			return nil, errLarge
		}
	}
	_, isDict := mapping.(*Dict)
	if !named && used < len(args) && !isDict {
		return nil, fmt.Errorf("the format %q needs fewer values than the %d given", format, len(args))
	}
	return b.String(), nil
}

// verb writes one value.
func verb(flags string, c byte, v any) (string, error) {
	for _, part := range strings.FieldsFunc(flags, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(part); err != nil || n > 10000 {
			return "", fmt.Errorf("a format asks for too many letters")
		}
	}
	switch c {
	case 's', 'r':
		s, err := str(v)
		if c == 'r' {
			s, err = repr(v, 0)
		}
		return fmt.Sprintf("%"+strings.ReplaceAll(flags, "0", "")+"s", s), err
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
			return "", fmt.Errorf("the format %%%c takes a number, not a %s", c, typeName(v))
		}
		return fmt.Sprintf("%"+flags+string(c), n), nil
	case 'f', 'F', 'e', 'E', 'g', 'G':
		f, ok := asFloat(v)
		if !ok {
			return "", fmt.Errorf("the format %%%c takes a number, not a %s", c, typeName(v))
		}
		if (c == 'g' || c == 'G') && !strings.Contains(flags, ".") {
			flags += ".6"
		}
		return fmt.Sprintf("%"+flags+string(c), f), nil
	}
	return "", fmt.Errorf("the format %%%c is not supported", c)
}

func formatFilter(_ *machine, c call) (any, error) {
	if len(c.args) == 0 || (len(c.args) > 1 && len(c.names) > 0) {
		return nil, fmt.Errorf("format takes values either with or without names")
	}
	s, err := str(c.args[0])
	if err != nil {
		return nil, err
	}
	if len(c.names) > 0 {
		d, err := pairsOf(call{names: c.names, named: c.named})
		if err != nil {
			return nil, err
		}
		return printf(s, nil, d)
	}
	return printf(s, c.args[1:], nil)
}
