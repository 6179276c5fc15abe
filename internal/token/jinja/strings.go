package jinja

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringMethods are the methods of strings, with Python's rules.
var stringMethods = map[string]func(string, call) any{
	"strip":  func(s string, c call) any { return strip(s, c, "strip", true, true) },
	"lstrip": func(s string, c call) any { return strip(s, c, "lstrip", true, false) },
	"rstrip": func(s string, c call) any { return strip(s, c, "rstrip", false, true) },

	"upper":      bare("upper", upper),
	"lower":      bare("lower", lower),
	"title":      bare("title", titleWords),
	"capitalize": bare("capitalize", capitalize),

	"startswith": func(s string, c call) any { return affix(s, c, "startswith", strings.HasPrefix) },
	"endswith":   func(s string, c call) any { return affix(s, c, "endswith", strings.HasSuffix) },

	"removeprefix": func(s string, c call) any { return without(s, c, "removeprefix", strings.TrimPrefix) },
	"removesuffix": func(s string, c call) any { return without(s, c, "removesuffix", strings.TrimSuffix) },

	"split":      func(s string, c call) any { return split(s, c, false) },
	"rsplit":     func(s string, c call) any { return split(s, c, true) },
	"splitlines": splitLinesMethod,
	"partition":  func(s string, c call) any { return partition(s, c, "partition", strings.Index) },
	"rpartition": func(s string, c call) any { return partition(s, c, "rpartition", strings.LastIndex) },

	"replace": replaceMethod,
	"join":    joinMethod,

	"find":     func(s string, c call) any { return find(s, c, "find", strings.Index) },
	"rfind":    func(s string, c call) any { return find(s, c, "rfind", strings.LastIndex) },
	"casefold": bare("casefold", casefold),
	"swapcase": bare("swapcase", swapcase),
	"expandtabs": func(s string, c call) any {
		v, given := c.bind("expandtabs", "tabsize")
		size, ok := int64(8), true
		if given[0] {
			size, ok = asInt(v[0])
		}
		if !ok || size > 1000 {
			panic(bad("expandtabs takes a number of columns"))
		}
		return expandTabs(s, int(max(size, 0)))
	},
	"index":  func(s string, c call) any { return mustFind(s, c, "index", strings.Index) },
	"rindex": func(s string, c call) any { return mustFind(s, c, "rindex", strings.LastIndex) },
	"count": func(s string, c call) any {
		part, _, sub := window(s, c, "count")
		if part == nil {
			return int64(0)
		}
		return int64(strings.Count(*part, sub))
	},

	"isspace":      bare("isspace", every(IsSpace)),
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

	"center": func(s string, c call) any { return justify(s, c, "center") },
	"ljust":  func(s string, c call) any { return justify(s, c, "ljust") },
	"rjust":  func(s string, c call) any { return justify(s, c, "rjust") },
	"zfill":  func(s string, c call) any { return justify(s, c, "zfill") },
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
func texts(c call, name string, least, most int) []string {
	if len(c.names) > 0 || len(c.args) < least || len(c.args) > most {
		panic(bad("%s takes %d to %d arguments without names", name, least, most))
	}
	var out []string
	for _, a := range c.args {
		s, ok := asString(a)
		if !ok {
			panic(bad("%s takes strings, not a %s", name, typeName(a)))
		}
		out = append(out, s)
	}
	return out
}

func without(s string, c call, name string, trim func(s, t string) string) any {
	return trim(s, texts(c, name, 1, 1)[0])
}

func strip(s string, c call, name string, left, right bool) any {
	in := IsSpace
	if len(c.args) != 1 || c.args[0] != nil {
		t := texts(c, name, 0, 1)
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
	return s
}

func affix(s string, c call, name string, has func(s, t string) bool) any {
	of := []any{""}
	if len(c.args) > 0 {
		of[0] = c.args[0]
		if l, ok := c.args[0].(*List); ok && l.kind == kindTuple {
			of = l.items
		}
		c.args = append([]any{""}, c.args[1:]...)
	}
	part, _, _ := window(s, c, name)
	return slices.ContainsFunc(texts(call{args: of}, name, 0, len(of)), func(t string) bool { return part != nil && has(*part, t) })
}

// window is the part of a string that a method with the arguments sub, start and end looks at,
// and how many letters stand before it; nil means it begins behind the string's end.
func window(s string, c call, name string) (part *string, before int, sub string) {
	if len(c.names) > 0 || len(c.args) == 0 || len(c.args) > 3 {
		panic(bad("%s takes one to three arguments without names", name))
	}
	sub, ok := asString(c.args[0])
	if !ok {
		panic(bad("%s takes a string, not a %s", name, typeName(c.args[0])))
	}
	if len(c.args) == 1 {
		return &s, 0, sub
	}
	letters := []rune(s)
	parts := [3]any{}
	copy(parts[:], c.args[1:])
	if n, ok := asInt(parts[0]); ok && n > int64(len(letters)) {
		return nil, 0, sub
	}
	from, to, _ := bounds(parts, len(letters))
	if from > to {
		return nil, 0, sub
	}
	text := string(letters[from:to])
	return &text, from, sub
}

// split is s.split(sep, maxsplit) and its twin from the right.
func split(s string, c call, right bool) any {
	v, given := c.bind("split", "sep", "maxsplit")
	limit := int64(-1)
	if given[1] {
		var ok bool
		if limit, ok = asInt(v[1]); !ok {
			panic(bad("split takes an integer as its limit, not a %s", typeName(v[1])))
		}
	}
	if v[0] == nil {
		return list(splitSpace(s, limit, right))
	}
	sep, ok := asString(v[0])
	if !ok || sep == "" {
		panic(bad("split takes a string that is not empty"))
	}
	n := -1
	if limit >= 0 {
		n = int(min(limit, int64(len(s)))) + 1
	}
	if !right || n < 0 {
		return list(strings.SplitN(s, sep, n))
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
	return list(parts)
}

// splitSpace splits at runs of white space, at most limit times.
func splitSpace(s string, limit int64, right bool) []string {
	parts := strings.FieldsFunc(s, IsSpace)
	if limit < 0 || int64(len(parts)) <= limit {
		return parts
	}
	if right {
		s = strings.TrimRightFunc(s, IsSpace)
		keep := parts[int64(len(parts))-limit:]
		for _, p := range slices.Backward(keep) {
			s = strings.TrimRightFunc(strings.TrimSuffix(s, p), IsSpace)
		}
		if s == "" {
			return keep
		}
		return append([]string{s}, keep...)
	}
	s = strings.TrimLeftFunc(s, IsSpace)
	for _, p := range parts[:limit] {
		s = strings.TrimLeftFunc(strings.TrimPrefix(s, p), IsSpace)
	}
	keep := slices.Clone(parts[:limit])
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

func splitLinesMethod(s string, c call) any {
	v, _ := c.bind("splitlines", "keepends")
	return list(splitLines(s, truth(v[0])))
}

func partition(s string, c call, name string, index func(s, t string) int) any {
	t := texts(c, name, 1, 1)
	if t[0] == "" {
		panic(bad("%s takes a string that is not empty", name))
	}
	parts := []any{s, "", ""}
	if i := index(s, t[0]); i >= 0 {
		parts = []any{s[:i], t[0], s[i+len(t[0]):]}
	} else if name == "rpartition" {
		parts = []any{"", "", s}
	}
	return &List{kind: kindTuple, items: parts}
}

func replaceMethod(s string, c call) any {
	v, _ := c.bind("replace", "old", "new", "count")
	return replace(s, v)
}

// replace takes the old text, the new one and how often at most.
func replace(s string, v []any) any {
	n := int64(-1)
	if v[2] != nil {
		var ok bool
		if n, ok = asInt(v[2]); !ok {
			panic(bad("replace takes an integer as its limit, not a %s", typeName(v[2])))
		}
	}
	from, ok := asString(v[0])
	to, ok2 := asString(v[1])
	if !ok || !ok2 {
		panic(bad("replace takes two strings, not a %s and a %s", typeName(v[0]), typeName(v[1])))
	}
	if (strings.Count(s, from)+1)*len(to)+len(s) > maxText {
		panic(bad(tooLarge))
	}
	return strings.Replace(s, from, to, int(min(max(n, -1), int64(len(s)+1))))
}

func joinMethod(s string, c call) any {
	v, _ := c.bind("join", "items")
	items := iterate(v[0])
	return strings.Join(texts(call{args: items}, "join", 0, len(items)), s)
}

func find(s string, c call, name string, index func(s, t string) int) any {
	part, before, sub := window(s, c, name)
	if part == nil {
		return int64(-1)
	}
	i := index(*part, sub)
	if i >= 0 {
		i = before + utf8.RuneCountInString((*part)[:i])
	}
	return int64(i)
}

func mustFind(s string, c call, name string, index func(s, t string) int) any {
	v := find(s, c, name, index)
	if v == int64(-1) {
		panic(bad("the text is not in the string"))
	}
	return v
}

func justify(s string, c call, name string) any {
	v, given := c.bind(name, "width", "fill")
	width, ok := asInt(v[0])
	fill := " "
	if given[1] {
		fill, _ = asString(v[1])
	}
	if !ok || width > maxItems || utf8.RuneCountInString(fill) != 1 {
		panic(bad("%s takes a width and one letter", name))
	}
	return justified(name, s, int(width), fill)
}

// justified brings s to a width, as the method of the given name does.
func justified(name, s string, width int, fill string) string {
	pad := width - utf8.RuneCountInString(s)
	if pad <= 0 {
		return s
	}
	switch name {
	case "ljust":
		return s + strings.Repeat(fill, pad)
	case "rjust":
		return strings.Repeat(fill, pad) + s
	case "center":
		left := pad/2 + pad&width&1
		return strings.Repeat(fill, left) + s + strings.Repeat(fill, pad-left)
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", pad) + s
}
