package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

func filterNames() map[string]*callable {
	out := map[string]*callable{}
	for name, f := range map[string]func(m *machine, c call) any{
		"map": mapFilter, "select": selectFilter(true, false), "reject": selectFilter(false, false),
		"selectattr": selectFilter(true, true), "rejectattr": selectFilter(false, true), "format": formatFilter,
	} {
		out[name] = &callable{name: name, call: f}
	}
	for _, f := range []struct {
		names, params string
		call          function
	}{
		{"trim", "value chars", trimFilter}, {"string", "value", unless(isMarkup, str)}, {"safe", "value", one(safe)}, {"escape e", "value", unless(isMarkup, escaped)},
		{"upper", "value", textFilter(upper)}, {"lower", "value", textFilter(lower)}, {"title", "value", textFilter(titleFilter)}, {"capitalize", "value", textFilter(capitalize)},
		{"length count", "value", one(length)}, {"default d", "value default_value boolean", defaultFilter},
		{"tojson", "value ensure_ascii indent separators sort_keys", jsonFilter}, {"indent", "s width first blank", indentFilter},
		{"replace", "s old new count", replaceFilter}, {"join", "value d attribute", joinFilter},
		{"truncate", "s length killwords end leeway", truncateFilter}, {"wordcount", "s", one(wordCount)}, {"center", "value width", centerFilter},
		{"int", "value default base", intFilter}, {"float", "value default", floatFilter}, {"abs", "value", one(absolute)}, {"round", "value precision method", roundFilter},
		{"list", "value", listFilter}, {"first", "value", firstFilter}, {"last", "value", lastFilter}, {"reverse", "value", reverseFilter}, {"items", "value", itemsFilter},
		{"attr", "obj name", attrFilter}, {"sort", "value reverse case_sensitive attribute", sortFilter},
		{"dictsort", "value case_sensitive by reverse", dictSortFilter}, {"unique", "value case_sensitive attribute", uniqueFilter},
		{"sum", "value attribute start", sumFilter}, {"batch", "value linecount fill_with", batchFilter},
		{"min", "value case_sensitive attribute", extremeFilter("min", -1)}, {"max", "value case_sensitive attribute", extremeFilter("max", 1)},
		{"groupby", "value attribute default case_sensitive", groupFilter}, {"slice", "value slices fill_with", sliceFilter},
		{"urlencode", "value", urlEncodeFilter}, {"forceescape", "value", one(escaped)}, {"striptags", "value", one(stripTags)},
		{"filesizeformat", "value binary", fileSizeFilter}, {"xmlattr", "d autospace", xmlAttrFilter},
	} {
		for _, name := range strings.Fields(f.names) {
			out[name] = takes(name, f.params, f.call)
		}
	}
	return out
}

// keep gives a text the kind, string or markup, of the value it was made from.
func keep(of any, s string) any {
	if isMarkup(of) {
		return markup(s)
	}
	return s
}

func trimFilter(_ *machine, v []any, _ []bool) any {
	s := str(v[0])
	in := IsSpace
	if v[1] != nil {
		set, ok := asString(v[1])
		if !ok {
			panic(bad("trim takes a string, not a %s", typeName(v[1])))
		}
		in = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	return keep(v[0], strings.TrimFunc(s, in))
}

// one is a filter that takes nothing but its value.
func one[T any](f func(any) T) function {
	return func(_ *machine, v []any, _ []bool) any { return f(v[0]) }
}

// unless is one that leaves some values as they are.
func unless[T any](stays func(any) bool, f func(any) T) function {
	return one(func(v any) any {
		if stays(v) {
			return v
		}
		return f(v)
	})
}

func safe(v any) markup { return markup(str(v)) }

func escaped(v any) markup { return markup(escapeHTML(str(v))) }

func textFilter(f func(string) string) function {
	return one(func(v any) any { return keep(v, f(str(v))) })
}

// titleFilter begins the words that spaces, dashes and opening brackets separate
// with a capital.
func titleFilter(s string) string {
	var b strings.Builder
	begin, start := true, 0
	flush := func(end int) {
		word := s[start:end]
		if word != "" {
			_, n := utf8.DecodeRuneInString(word)
			b.WriteString(upper(word[:n]) + lower(word[n:]))
		}
		start = end
	}
	for i, r := range s {
		separates := r == '-' || IsSpace(r) || strings.ContainsRune("([{<", r)
		if separates != begin {
			flush(i)
			begin = separates
		}
	}
	flush(len(s))
	return b.String()
}

func defaultFilter(_ *machine, v []any, given []bool) any {
	if isUndefined(v[0]) || truth(v[2]) && !truth(v[0]) {
		if !given[1] {
			return ""
		}
		return v[1]
	}
	return v[0]
}

func indentFilter(_ *machine, v []any, given []bool) any {
	s, ok := asString(v[0])
	if !ok {
		panic(bad("indent takes a string, not a %s", typeName(v[0])))
	}
	by := "    "
	if given[1] {
		if n, ok := asInt(v[1]); ok {
			by = strings.Repeat(" ", int(min(max(n, 0), 1000)))
		} else if by, ok = asString(v[1]); !ok {
			panic(bad("indent takes a number or a string, not a %s", typeName(v[1])))
		}
	}
	lines := splitLines(s+"\n", false)
	for i, line := range lines {
		if i > 0 && (line != "" || truth(v[3])) {
			lines[i] = by + line
		}
	}
	out := strings.Join(lines, "\n")
	if truth(v[2]) {
		out = by + out
	}
	return keep(v[0], out)
}

func replaceFilter(_ *machine, v []any, _ []bool) any {
	for i := range 3 {
		v[i] = str(v[i])
	}
	return replace(v[0].(string), v[1:])
}

func joinFilter(_ *machine, v []any, given []bool) any {
	items := iterate(v[0])
	sep := ""
	if given[1] {
		sep = str(v[1])
	}
	var parts []string
	for _, x := range items {
		parts = append(parts, str(path(x, v[2])))
	}
	return strings.Join(parts, sep)
}

func truncateFilter(_ *machine, v []any, given []bool) any {
	s, ok := asString(v[0])
	n, leeway, end := int64(255), int64(5), "..."
	if given[1] {
		n, ok = both(ok, asInt, v[1])
	}
	if given[3] {
		end, ok = both(ok, asString, v[3])
	}
	if v[4] != nil {
		leeway, ok = both(ok, asInt, v[4])
	}
	letters, tail := []rune(s), []rune(end)
	if !ok || n < int64(len(tail)) || leeway < 0 {
		panic(bad("truncate does not take these arguments"))
	}
	if int64(len(letters)) <= n+leeway {
		return v[0]
	}
	cut := string(letters[:n-int64(len(tail))])
	if !truth(v[2]) {
		if i := strings.LastIndex(cut, " "); i >= 0 {
			cut = cut[:i]
		}
	}
	return cut + end
}

// both converts a value where all was well so far.
func both[T any](ok bool, f func(any) (T, bool), v any) (T, bool) {
	t, good := f(v)
	return t, good && ok
}

func wordCount(v any) int64 {
	return int64(len(strings.FieldsFunc(str(v), func(r rune) bool { return r != '_' && !isWordLetter(r) })))
}

func centerFilter(_ *machine, v []any, given []bool) any {
	width := int64(80)
	if given[1] {
		var ok bool
		if width, ok = asInt(v[1]); !ok || width > maxItems {
			panic(bad("center takes a width"))
		}
	}
	return justified("center", str(v[0]), int(width), " ")
}

func intFilter(_ *machine, v []any, given []bool) any {
	base, isInt := int64(10), true
	if given[2] {
		base, isInt = asInt(v[2])
	}
	var or any = int64(0)
	if given[1] {
		or = v[1]
	}
	defined(v[0])
	if n, ok := bigOf(v[0]); ok {
		return integer(n)
	}
	if s, ok := asString(v[0]); ok && isInt {
		if n, ok := readInt(s, base); ok {
			return integer(n)
		}
	}
	f, ok := asNumber(v[0])
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return or
	}
	n, _ := big.NewFloat(f).Int(nil)
	return integer(n)
}

// readInt is Python's int of a string: white space around, a sign, a base's prefix, single
// underscores.
func readInt(s string, base int64) (*big.Int, bool) {
	s = strings.TrimFunc(s, IsSpace)
	digits := strings.TrimLeft(s, "+-")
	sign := s[:len(s)-len(digits)]
	prefix := map[int64]string{2: "0b", 8: "0o", 16: "0x"}[base]
	lower := strings.ToLower(digits)
	if prefix != "" && strings.HasPrefix(lower, prefix) {
		digits = strings.TrimPrefix(digits[2:], "_")
	}
	switch {
	case len(sign) > 1 || base < 0 || base == 1 || base > 36 || digits == "" || len(digits) > maxDigits && base&(base-1) != 0,
		strings.HasPrefix(digits, "_"), strings.HasSuffix(digits, "_"), strings.Contains(digits, "__"), strings.ContainsAny(digits, "+-"):
		return nil, false
	case base == 0 && len(lower) > 1 && lower[0] == '0' && strings.Trim(lower, "0_") != "" && strings.IndexByte("box", lower[1]) < 0:
		return nil, false
	}
	if base != 0 {
		digits = strings.ReplaceAll(digits, "_", "")
	}
	return new(big.Int).SetString(sign+digits, int(base))
}

// asNumber reads a number, or a string that holds one.
func asNumber(v any) (float64, bool) {
	if f, ok := asFloat(v); ok {
		return f, true
	}
	s, ok := asString(v)
	s = strings.TrimFunc(s, IsSpace)
	if !ok || strings.ContainsAny(s, "xXpP") || !underscores(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || math.IsInf(f, 0)
}

// underscores reports whether every underscore stands between two digits.
func underscores(s string) bool {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || s[i-1]-'0' > 9 || s[i+1]-'0' > 9) {
			return false
		}
	}
	return true
}

func floatFilter(_ *machine, v []any, given []bool) any {
	defined(v[0])
	if f, ok := asNumber(v[0]); ok {
		return f
	}
	if given[1] {
		return v[1]
	}
	return 0.0
}

func absolute(v any) any {
	if f, ok := v.(float64); ok {
		return math.Abs(f)
	}
	n, ok := bigOf(v)
	if !ok {
		panic(bad("abs takes a number, not a %s", typeName(v)))
	}
	return integer(n.Abs(n))
}

func roundFilter(_ *machine, v []any, given []bool) any {
	places := int64(0)
	ok := true
	if given[1] {
		places, ok = asInt(v[1])
	}
	f, isNum := asFloat(v[0])
	if !ok || !isNum || places < -300 || places > 15 {
		panic(bad("round does not take these arguments"))
	}
	how := "common"
	if given[2] {
		how, _ = asString(v[2])
	}
	unit := math.Pow(10, float64(places))
	switch how {
	case "common":
		if n, ok := bigOf(v[0]); ok {
			return roundWhole(n, places)
		}
		if places < 0 {
			return math.RoundToEven(f*math.Pow(10, float64(places))) * math.Pow(10, float64(-places))
		}
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(places), 64), 64) // it was a number before
		return f
	case "ceil":
		return math.Ceil(f*unit) / unit
	case "floor":
		return math.Floor(f*unit) / unit
	}
	panic(bad("round supports common, ceil and floor, not %q", how))
}

// roundWhole rounds an integer to tens, hundreds and so on, halves to the even one.
func roundWhole(n *big.Int, places int64) any {
	if places >= 0 {
		return integer(n)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-places), nil)
	low := new(big.Int).Sub(n, new(big.Int).Mod(n, unit))
	twice := new(big.Int).Mul(big.NewInt(2), new(big.Int).Sub(n, low))
	odd := new(big.Int).Div(low, unit).Bit(0) == 1
	if c := twice.Cmp(unit); c > 0 || c == 0 && odd {
		low.Add(low, unit)
	}
	return integer(low)
}
