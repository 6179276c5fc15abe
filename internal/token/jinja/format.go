package jinja

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// fields is one call of str.format: what its fields refer to.
type fields struct {
	call
	next  int // number of the next empty field
	given bool
}

func formatMethod(s string, c call) any { return (&fields{call: c}).format(s, 2) }

// formatMapMethod is str.format_map: names are keys of a mapping.
func formatMapMethod(s string, c call) any {
	v, _ := c.bind("format_map", "mapping")
	d, ok := v[0].(*Dict)
	if !ok {
		panic(bad("format_map takes a mapping, not a %s", typeName(v[0])))
	}
	f := &fields{}
	for i, k := range d.keys {
		if name, ok := asString(k); ok {
			f.names, f.named = append(f.names, name), append(f.named, d.vals[i])
		}
	}
	return f.format(s, 2)
}

// format fills in a text; depth bounds formats inside of formats.
func (f *fields) format(s string, depth int) string {
	if depth == 0 {
		panic(bad("formats are nested too deeply"))
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '{' && s[i] != '}' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == s[i] {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := fieldEnd(s[i:])
		if s[i] == '}' || end < 0 {
			panic(bad("the format %q has an unmatched brace", s))
		}
		if b.WriteString(f.field(s[i+1:i+end], depth)); b.Len() > maxText {
			panic(bad(tooLarge))
		}
		i += end
	}
	return b.String()
}

// fieldEnd is the index of the brace that ends a field; -1: there is none.
func fieldEnd(s string) int {
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

// field writes what stands between two braces: NAME!CONVERSION:SPEC.
func (f *fields) field(text string, depth int) string {
	at, bracket := len(text), false
	for i := range len(text) {
		bracket = text[i] == '[' || bracket && text[i] != ']'
		if !bracket && (text[i] == '!' || text[i] == ':') {
			at = i
			break
		}
	}
	name, rest := text[:at], text[at:]
	v := f.value(name)
	if strings.HasPrefix(rest, "!") {
		if len(rest) < 2 || len(rest) > 2 && rest[2] != ':' || strings.IndexByte("rsa", rest[1]) < 0 {
			panic(bad("the format {%s} has a conversion other than r, s and a", text))
		}
		switch rest[1] {
		case 's':
			v = str(v)
		case 'r':
			v = repr(v, 0)
		case 'a':
			v = ascii(repr(v, 0))
		}
		rest = rest[2:]
	}
	spec := strings.TrimPrefix(rest, ":")
	if strings.ContainsAny(spec, "{}") {
		spec = f.format(spec, depth-1)
	}
	if spec == "" {
		return str(v)
	}
	return formatted(v, spec)
}

func ascii(s string) string {
	var b []byte
	for _, r := range s {
		if r < utf8.RuneSelf {
			b = append(b, byte(r))
		} else {
			b = appendEscaped(b, r)
		}
	}
	return string(b)
}

// value is what the name of a field refers to: a number, a name, or nothing for the next
// argument, with attributes and items behind it.
func (f *fields) value(name string) any {
	at := strings.IndexAny(name, ".[")
	if at < 0 {
		at = len(name)
	}
	v := f.argument(name[:at])
	for rest := name[at:]; rest != ""; {
		if rest[0] == '[' {
			key, more, ok := strings.Cut(rest[1:], "]")
			if !ok || key == "" || more != "" && more[0] != '.' && more[0] != '[' {
				panic(bad("the format {%s} has an unmatched bracket", name))
			}
			v, rest = member(v, key), more
			continue
		}
		end := strings.IndexAny(rest[1:], ".[") + 1
		if end == 0 {
			end = len(rest)
		}
		v, rest = attribute(v, rest[1:end]), rest[end:]
	}
	return v
}

func (f *fields) argument(name string) any {
	if i := slices.Index(f.names, name); i >= 0 {
		return f.named[i]
	}
	at := f.next
	switch n, err := strconv.Atoi(name); {
	case name == "" && !f.given:
		f.next++
	case name != "" && err != nil:
		panic(bad("the format {%s} does not name an argument", name))
	case name == "" || f.next > 0:
		panic(bad("a format mixes fields with and without numbers"))
	default:
		at, f.given = n, true
	}
	if at < 0 || at >= len(f.args) {
		panic(bad("the format needs an argument number %d", at))
	}
	return f.args[at]
}

// layout is a format's specification: [[fill]align][sign][z][#][0][width][group][.precision][type].
type layout struct {
	fill        string
	align, sign byte
	alternate   bool
	width       int
	group       string
	precision   int // -1: none
	kind        byte
}

func readLayout(spec string) layout {
	l := layout{fill: " ", precision: -1}
	invalid := bad("invalid format %q", spec)
	_, n := utf8.DecodeRuneInString(spec)
	switch {
	case n < len(spec) && strings.IndexByte("<>=^", spec[n]) >= 0:
		l.fill, l.align, spec = spec[:n], spec[n], spec[n+1:]
	case spec != "" && strings.IndexByte("<>=^", spec[0]) >= 0:
		l.align, spec = spec[0], spec[1:]
	}
	if spec != "" && strings.IndexByte("+- ", spec[0]) >= 0 {
		l.sign, spec = spec[0], spec[1:]
	}
	spec, l.alternate = cutFlag(spec, "#")
	if more, zero := cutFlag(spec, "0"); zero {
		spec = more
		if l.fill == " " && l.align == 0 {
			l.fill = "0"
			l.align = '0' // '=' for numbers, nothing for texts
		} else if l.align == 0 {
			l.align = '='
		}
	}
	var ok bool
	if l.width, spec, ok = cutNumber(spec, 0); !ok {
		panic(invalid)
	}
	if spec != "" && (spec[0] == ',' || spec[0] == '_') {
		l.group, spec = spec[:1], spec[1:]
	}
	if strings.HasPrefix(spec, ".") {
		if l.precision, spec, ok = cutNumber(spec[1:], -1); !ok || l.precision < 0 {
			panic(invalid)
		}
	}
	if len(spec) > 1 {
		panic(invalid)
	}
	if spec != "" {
		l.kind = spec[0]
	}
	return l
}

func cutFlag(s, flag string) (string, bool) {
	t := strings.TrimPrefix(s, flag)
	return t, len(t) < len(s)
}

func cutNumber(s string, missing int) (n int, rest string, ok bool) {
	end := digits(s)
	if end == 0 {
		return missing, s, true
	}
	n, err := strconv.Atoi(s[:end])
	return n, s[end:], err == nil && n <= 10000
}

// formatted is Python's format(v, spec).
func formatted(v any, spec string) string {
	l := readLayout(spec)
	mismatched := bad("the format %q cannot be used with a %s", spec, typeName(v))
	if s, ok := asString(v); ok {
		if l.kind != 0 && l.kind != 's' || l.sign != 0 || l.alternate || l.group != "" || l.align == '=' {
			panic(mismatched)
		}
		if l.align == '0' {
			l.align = '<'
		}
		if letters := []rune(s); l.precision >= 0 && l.precision < len(letters) {
			s = string(letters[:l.precision])
		}
		return l.pad("", s, '<')
	}
	if l.align == '0' {
		l.align = '='
	}
	if n, ok := bigOf(v); ok && strings.IndexByte("eEfFgG%", l.kind) < 0 {
		return l.integer(n, mismatched)
	}
	f, ok := asFloat(v)
	if !ok || strings.IndexByte("\x00eEfFgGn%", l.kind) < 0 {
		panic(mismatched)
	}
	return l.float(f)
}

func (l *layout) integer(n *big.Int, mismatched *Error) string {
	base, prefix, size := 10, "", 3
	switch l.kind {
	case 0, 'd', 'n':
	case 'b':
		base, prefix, size = 2, "0b", 4
	case 'o':
		base, prefix, size = 8, "0o", 4
	case 'x', 'X':
		base, prefix, size = 16, "0"+string(l.kind), 4
	case 'c':
		if !n.IsInt64() || n.Sign() < 0 || n.Int64() > utf8.MaxRune || l.sign != 0 {
			panic(mismatched)
		}
		return l.pad("", string(rune(n.Int64())), '<')
	default:
		panic(mismatched)
	}
	if l.precision >= 0 || l.group == "," && base != 10 {
		panic(mismatched)
	}
	text := new(big.Int).Abs(n).Text(base)
	if l.kind == 'X' {
		text = strings.ToUpper(text)
	}
	if !l.alternate {
		prefix = ""
	}
	return l.number(n.Sign() < 0, prefix, text, "", size)
}

func (l *layout) float(f float64) string {
	kind, precision := l.kind, l.precision
	percent := ""
	switch {
	case kind == '%':
		f, kind, percent = f*100, 'f', "%"
	case kind == 'n':
		kind = 'g'
	}
	text := number.Python(f)
	if kind != 0 || precision >= 0 {
		if precision < 0 {
			precision = 6
		}
		verb := kind
		if kind == 0 {
			verb = 'g'
		}
		text = fmt.Sprintf("%"+map[bool]string{true: "#"}[l.alternate]+"."+strconv.Itoa(precision)+string(verb), f)
		if kind == 0 && strings.Trim(text, "-0123456789") == "" {
			text = roundText(f, text, precision)
		}
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "+Inf", "inf"), "NaN", "nan")
	text = strings.ReplaceAll(text, "Inf", "inf")
	if kind == 'F' || kind == 'G' || kind == 'E' {
		text = strings.ToUpper(text)
	}
	minus := strings.HasPrefix(text, "-")
	text = strings.TrimLeft(text, "-+")
	end := digits(text)
	return l.number(minus, "", text[:end], text[end:]+percent, 3)
}

// roundText is an integer with a precision and no kind: one digit behind the point, or an
// exponent where the digits do not leave room for it.
func roundText(f float64, text string, precision int) string {
	if len(strings.TrimPrefix(text, "-")) >= precision && precision > 0 && f != 0 {
		t := strconv.FormatFloat(f, 'e', precision-1, 64)
		mantissa, exp, _ := strings.Cut(t, "e")
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return mantissa + "e" + exp
	}
	return text + ".0"
}

// number puts sign, prefix, digits and the rest together.
func (l *layout) number(minus bool, prefix, text, rest string, size int) string {
	sign := ""
	switch {
	case minus:
		sign = "-"
	case l.sign == '+' || l.sign == ' ':
		sign = string(l.sign)
	}
	head := sign + prefix
	if l.group != "" {
		if l.fill == "0" && l.align == '=' {
			for len(head)+len(grouped(text, l.group, size))+len(rest) < l.width {
				if len(head)+len(grouped("0"+text, l.group, size))+len(rest) > l.width+1 {
					break
				}
				text = "0" + text
			}
		}
		text = grouped(text, l.group, size)
	}
	return l.pad(head, text+rest, '>')
}

// grouped puts a separator between groups of digits.
func grouped(text, sep string, size int) string {
	for i := len(text) - size; i > 0; i -= size {
		text = text[:i] + sep + text[i:]
	}
	return text
}

func (l *layout) pad(head, text string, usual byte) string {
	n := l.width - utf8.RuneCountInString(head) - utf8.RuneCountInString(text)
	if n <= 0 {
		return head + text
	}
	align := l.align
	if align == 0 {
		align = usual
	}
	switch align {
	case '<':
		return head + text + strings.Repeat(l.fill, n)
	case '^':
		return strings.Repeat(l.fill, n/2) + head + text + strings.Repeat(l.fill, n-n/2)
	case '=':
		return head + strings.Repeat(l.fill, n) + text
	}
	return strings.Repeat(l.fill, n) + head + text
}
