package chat

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringMethods are the methods of strings, with Python's rules.
var stringMethods = map[string]func(string, call) (any, error){
	"strip":  func(s string, c call) (any, error) { return strip(s, c, "strip", true, true) },
	"lstrip": func(s string, c call) (any, error) { return strip(s, c, "lstrip", true, false) },
	"rstrip": func(s string, c call) (any, error) { return strip(s, c, "rstrip", false, true) },

	"upper":      bare("upper", upper),
	"lower":      bare("lower", lower),
	"title":      bare("title", titleWords),
	"capitalize": bare("capitalize", capitalize),

	"startswith": func(s string, c call) (any, error) { return affix(s, c, "startswith", strings.HasPrefix) },
	"endswith":   func(s string, c call) (any, error) { return affix(s, c, "endswith", strings.HasSuffix) },

	"removeprefix": func(s string, c call) (any, error) { return without(s, c, "removeprefix", strings.TrimPrefix) },
	"removesuffix": func(s string, c call) (any, error) { return without(s, c, "removesuffix", strings.TrimSuffix) },

	"split":      func(s string, c call) (any, error) { return split(s, c, false) },
	"rsplit":     func(s string, c call) (any, error) { return split(s, c, true) },
	"splitlines": splitLinesMethod,
	"partition":  func(s string, c call) (any, error) { return partition(s, c, "partition", strings.Index) },
	"rpartition": func(s string, c call) (any, error) { return partition(s, c, "rpartition", strings.LastIndex) },

	"replace": replaceMethod,
	"join":    joinMethod,

	"find":     func(s string, c call) (any, error) { return find(s, c, "find", strings.Index) },
	"rfind":    func(s string, c call) (any, error) { return find(s, c, "rfind", strings.LastIndex) },
	"casefold": bare("casefold", casefold),
	"swapcase": bare("swapcase", swapcase),
	"expandtabs": func(s string, c call) (any, error) {
		v, given, err := c.bind("expandtabs", "tabsize")
		if err != nil {
			return nil, err
		}
		size, ok := int64(8), true
		if given[0] {
			size, ok = asInt(v[0])
		}
		if !ok || size > 1000 {
			return nil, fmt.Errorf("expandtabs takes a number of columns")
		}
		return expandTabs(s, int(max(size, 0))), nil
	},
	"index":  func(s string, c call) (any, error) { return mustFind(s, c, "index", strings.Index) },
	"rindex": func(s string, c call) (any, error) { return mustFind(s, c, "rindex", strings.LastIndex) },
	"count": func(s string, c call) (any, error) {
		part, _, sub, err := window(s, c, "count")
		if err != nil || part == nil {
			return int64(0), err
		}
		return int64(strings.Count(*part, sub)), nil
	},

	"isspace":      bare("isspace", every(isSpace)),
	"isalpha":      bare("isalpha", every(unicode.IsLetter)),
	"isdigit":      bare("isdigit", every(isDigit)),
	"isdecimal":    bare("isdecimal", every(unicode.IsDigit)),
	"isnumeric":    bare("isnumeric", every(isNumeric)),
	"isalnum":      bare("isalnum", every(func(r rune) bool { return unicode.IsLetter(r) || isNumeric(r) })),
	"isascii":      bare("isascii", isASCII),
	"isprintable":  bare("isprintable", isPrintable),
	"isidentifier": bare("isidentifier", isIdentifier),
	"istitle":      bare("istitle", isTitle),
	"isupper":      bare("isupper", isUpper),
	"islower":      bare("islower", isLower),

	"center": func(s string, c call) (any, error) { return justify(s, c, "center") },
	"ljust":  func(s string, c call) (any, error) { return justify(s, c, "ljust") },
	"rjust":  func(s string, c call) (any, error) { return justify(s, c, "rjust") },
	"zfill":  func(s string, c call) (any, error) { return justify(s, c, "zfill") },
}

// every makes a test of letters one of texts that are not empty.
func every(ok func(rune) bool) func(string) bool {
	return func(s string) bool { return s != "" && strings.IndexFunc(s, func(r rune) bool { return !ok(r) }) < 0 }
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r != ' ' && (!unicode.IsGraphic(r) || unicode.IsSpace(r)) }) < 0
}

func isIdentifier(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsDigit(first) && every(func(r rune) bool {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
	})(s)
}

// texts are the arguments of a call that takes strings only, by position.
func texts(c call, name string, least, most int) ([]string, error) {
	if len(c.names) > 0 || len(c.args) < least || len(c.args) > most {
		return nil, fmt.Errorf("%s takes %d to %d arguments without names", name, least, most)
	}
	var out []string
	for _, a := range c.args {
		s, ok := asString(a)
		if !ok {
			return nil, fmt.Errorf("%s takes strings, not a %s", name, typeName(a))
		}
		out = append(out, s)
	}
	return out, nil
}

func without(s string, c call, name string, trim func(s, t string) string) (any, error) {
	t, err := texts(c, name, 1, 1)
	if err != nil {
		return nil, err
	}
	return trim(s, t[0]), nil
}

func strip(s string, c call, name string, left, right bool) (any, error) {
	in := isSpace
	if len(c.args) != 1 || c.args[0] != nil {
		t, err := texts(c, name, 0, 1)
		if err != nil {
			return nil, err
		}
		if len(t) == 1 {
			in = func(r rune) bool { return strings.ContainsRune(t[0], r) }
		}
	}
	if left {
		s = strings.TrimLeftFunc(s, in)
	}
	if right {
		s = strings.TrimRightFunc(s, in)
	}
	return s, nil
}

func affix(s string, c call, name string, has func(s, t string) bool) (any, error) {
	of := []any{""}
	if len(c.args) > 0 {
		of[0] = c.args[0]
		if l, ok := c.args[0].(*List); ok && l.kind == kindTuple {
			of = l.items
		}
		c.args = append([]any{""}, c.args[1:]...)
	}
	part, _, _, err := window(s, c, name)
	if err != nil {
		return nil, err
	}
	t, err := texts(call{args: of}, name, 0, len(of))
	for _, x := range t {
		if part != nil && has(*part, x) {
			return true, err
		}
	}
	return false, err
}

// window is the part of a string that a method with the arguments sub, start and end looks at,
// and how many letters stand before it; nil: it begins behind the string's end.
func window(s string, c call, name string) (part *string, before int, sub string, err error) {
	if len(c.names) > 0 || len(c.args) == 0 || len(c.args) > 3 {
		return nil, 0, "", fmt.Errorf("%s takes one to three arguments without names", name)
	}
	sub, ok := asString(c.args[0])
	if !ok {
		return nil, 0, "", fmt.Errorf("%s takes a string, not a %s", name, typeName(c.args[0]))
	}
	if len(c.args) == 1 {
		return &s, 0, sub, nil
	}
	letters := []rune(s)
	parts := [3]any{}
	copy(parts[:], c.args[1:])
	if n, ok := asInt(parts[0]); ok && n > int64(len(letters)) {
		return nil, 0, sub, nil
	}
	from, to, _, err := bounds(parts, len(letters))
	if err != nil || from > to {
		return nil, 0, sub, err
	}
	text := string(letters[from:to])
	return &text, from, sub, nil
}

// split is s.split(sep, maxsplit) and its twin from the right.
func split(s string, c call, right bool) (any, error) {
	v, given, err := c.bind("split", "sep", "maxsplit")
	if err != nil {
		return nil, err
	}
	limit := int64(-1)
	if given[1] {
		var ok bool
		if limit, ok = asInt(v[1]); !ok {
			return nil, fmt.Errorf("split takes an integer as its limit, not a %s", typeName(v[1]))
		}
	}
	if v[0] == nil {
		return list(splitSpace(s, limit, right)), nil
	}
	sep, ok := asString(v[0])
	if !ok || sep == "" {
		return nil, fmt.Errorf("split takes a string that is not empty")
	}
	n := -1
	if limit >= 0 {
		n = int(min(limit, int64(len(s)))) + 1
	}
	if !right || n < 0 {
		return list(strings.SplitN(s, sep, n)), nil
	}
	var parts []string
	for n > 1 {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		parts = append(parts, s[i+len(sep):])
		s = s[:i]
		n--
	}
	parts = append(parts, s)
	slices.Reverse(parts)
	return list(parts), nil
}

// splitSpace splits at runs of white space, at most limit times.
func splitSpace(s string, limit int64, right bool) []string {
	parts := strings.FieldsFunc(s, isSpace)
	if limit < 0 || int64(len(parts)) <= limit {
		return parts
	}
	if right {
		s = strings.TrimRightFunc(s, isSpace)
		keep := parts[int64(len(parts))-limit:]
		for i := len(keep) - 1; i >= 0; i-- {
			s = strings.TrimRightFunc(strings.TrimSuffix(s, keep[i]), isSpace)
		}
		if s == "" {
			return keep
		}
		return append([]string{s}, keep...)
	}
	s = strings.TrimLeftFunc(s, isSpace)
	for _, p := range parts[:limit] {
		s = strings.TrimLeftFunc(strings.TrimPrefix(s, p), isSpace)
	}
	keep := append([]string{}, parts[:limit]...)
	if s == "" {
		return keep
	}
	return append(keep, s)
}

func list(parts []string) *List {
	out := &List{}
	for _, p := range parts {
		out.items = append(out.items, p)
	}
	return out
}

// splitLines splits at every end of line that Python knows.
func splitLines(s string, keep bool) []string {
	var out []string
	for s != "" {
		i := strings.IndexFunc(s, isLineEnd)
		if i < 0 {
			return append(out, s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		if keep {
			out = append(out, s[:i+n])
		} else {
			out = append(out, s[:i])
		}
		s = s[i+n:]
	}
	return out
}

func isLineEnd(r rune) bool {
	switch r {
	case '\n', '\v', '\f', '\r', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

func splitLinesMethod(s string, c call) (any, error) {
	v, _, err := c.bind("splitlines", "keepends")
	if err != nil {
		return nil, err
	}
	return list(splitLines(s, truth(v[0]))), nil
}

func partition(s string, c call, name string, index func(s, t string) int) (any, error) {
	t, err := texts(c, name, 1, 1)
	if err != nil || t[0] == "" {
		return nil, either(err, fmt.Errorf("%s takes a string that is not empty", name))
	}
	parts := []any{s, "", ""}
	if i := index(s, t[0]); i >= 0 {
		parts = []any{s[:i], t[0], s[i+len(t[0]):]}
	} else if name == "rpartition" {
		parts = []any{"", "", s}
	}
	return &List{kind: kindTuple, items: parts}, nil
}

func replaceMethod(s string, c call) (any, error) {
	v, _, err := c.bind("replace", "old", "new", "count")
	if err != nil {
		return nil, err
	}
	return replace(s, v)
}

// replace takes the old text, the new one and how often at most.
func replace(s string, v []any) (any, error) {
	n := int64(-1)
	if v[2] != nil {
		var ok bool
		if n, ok = asInt(v[2]); !ok {
			return nil, fmt.Errorf("replace takes an integer as its limit, not a %s", typeName(v[2]))
		}
	}
	from, ok := asString(v[0])
	to, ok2 := asString(v[1])
	if !ok || !ok2 {
		return nil, fmt.Errorf("replace takes two strings, not a %s and a %s", typeName(v[0]), typeName(v[1]))
	}
	if (strings.Count(s, from)+1)*len(to)+len(s) > maxText {
		return nil, errLarge
	}
	return strings.Replace(s, from, to, int(min(max(n, -1), int64(len(s)+1)))), nil
}

func joinMethod(s string, c call) (any, error) {
	v, _, err := c.bind("join", "items")
	if err != nil {
		return nil, err
	}
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, x := range items {
		t, ok := asString(x)
		if !ok {
			return nil, fmt.Errorf("join takes strings, not a %s", typeName(x))
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, s), nil
}

func find(s string, c call, name string, index func(s, t string) int) (any, error) {
	part, before, sub, err := window(s, c, name)
	if err != nil || part == nil {
		return int64(-1), err
	}
	i := index(*part, sub)
	if i >= 0 {
		i = before + utf8.RuneCountInString((*part)[:i])
	}
	return int64(i), nil
}

func mustFind(s string, c call, name string, index func(s, t string) int) (any, error) {
	v, err := find(s, c, name, index)
	if err == nil && v == int64(-1) {
		return nil, fmt.Errorf("the text is not in the string")
	}
	return v, err
}

func justify(s string, c call, name string) (any, error) {
	v, given, err := c.bind(name, "width", "fill")
	if err != nil {
		return nil, err
	}
	width, ok := asInt(v[0])
	fill := " "
	if given[1] {
		fill, _ = asString(v[1])
	}
	if !ok || width > maxItems || utf8.RuneCountInString(fill) != 1 {
		return nil, fmt.Errorf("%s takes a width and one letter", name)
	}
	pad := int(width) - utf8.RuneCountInString(s)
	if pad <= 0 {
		return s, nil
	}
	switch name {
	case "ljust":
		return s + strings.Repeat(fill, pad), nil
	case "rjust":
		return strings.Repeat(fill, pad) + s, nil
	case "center":
		left := pad/2 + pad&int(width)&1
		return strings.Repeat(fill, left) + s + strings.Repeat(fill, pad-left), nil
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", pad) + s, nil
}
