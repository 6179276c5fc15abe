package chat

import (
	"fmt"
	"html"
	"math"
	"net/url"
	"strings"
)

// slice cuts a sequence into so many parts, the first of which are longer by one.
func sliceFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	n, ok := asInt(v[1])
	if err != nil || !ok || n < 1 || n > maxItems {
		return nil, either(err, fmt.Errorf("slice takes the number of parts"))
	}
	size, longer := len(items)/int(n), len(items)%int(n)
	var out []any
	for i, from := 0, 0; i < int(n); i++ {
		to := from + size
		if i < longer {
			to++
		}
		part := append([]any{}, items[from:to]...)
		if v[2] != nil && i >= longer {
			part = append(part, v[2])
		}
		out = append(out, &List{items: part})
		from = to
	}
	return &gen{out}, nil
}

// groupFilter puts items with the same attribute together, sorted by it.
func groupFilter(_ *machine, v []any, given []bool) (any, error) {
	if !given[1] {
		return nil, fmt.Errorf("groupby takes an attribute")
	}
	items, err := iterate(v[0])
	if err != nil {
		return nil, err
	}
	keys, at := make([]any, len(items)), make([]any, len(items))
	for i, x := range items {
		if keys[i], err = path(x, v[1]); err != nil {
			return nil, err
		}
		if isUndefined(keys[i]) && v[2] != nil {
			keys[i] = v[2]
		}
		at[i] = i
	}
	folds := make([]any, len(items))
	for i, k := range keys {
		folds[i] = folded(k, truth(v[3]))
	}
	if at, err = sorted(at, folds, false); err != nil {
		return nil, err
	}
	out := &List{}
	var last *List
	for i, x := range at {
		j := x.(int)
		if i == 0 || !equal(folds[j], folds[at[i-1].(int)]) {
			last = &List{}
			out.items = append(out.items, &List{kind: kindTuple, group: true, items: []any{keys[j], last}})
		}
		last.items = append(last.items, items[j])
	}
	return out, nil
}

func urlEncodeFilter(_ *machine, v []any, _ []bool) (any, error) {
	items, err := iterate(v[0])
	if d, ok := v[0].(*Dict); ok {
		items = d.pairs()
	}
	if _, isText := asString(v[0]); isText || err != nil {
		s, err := str(v[0])
		return quoted(s, "/"), err
	}
	var parts []string
	for _, x := range items {
		pair, err := iterate(x)
		if err != nil || len(pair) != 2 {
			return nil, fmt.Errorf("urlencode takes a text, a mapping or pairs")
		}
		k, err := str(pair[0])
		if err != nil {
			return nil, err
		}
		s, err := str(pair[1])
		if err != nil {
			return nil, err
		}
		parts = append(parts, strings.ReplaceAll(quoted(k, ""), "%20", "+")+"="+strings.ReplaceAll(quoted(s, ""), "%20", "+"))
	}
	return strings.Join(parts, "&"), nil
}

// quoted escapes all but letters, digits, "_.-~" and what is safe.
func quoted(s, safe string) string {
	t := strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	if safe == "/" {
		t = strings.ReplaceAll(t, "%2F", "/")
	}
	return t
}

func forceEscapeFilter(_ *machine, v []any, _ []bool) (any, error) {
	s, err := str(v[0])
	return markup(escapeHTML(s)), err
}

// stripTags takes tags and comments away, and makes white space one blank each.
func stripTags(s string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '<')
		if start < 0 {
			break
		}
		close, skip := ">", 0
		if strings.HasPrefix(s[start:], "<!--") {
			close, skip = "-->", 4
		}
		end := strings.Index(s[start+skip:], close)
		if end < 0 {
			break
		}
		b.WriteString(s[:start])
		s = s[start+skip+end+len(close):]
	}
	b.WriteString(s)
	return html.UnescapeString(strings.Join(strings.FieldsFunc(b.String(), isSpace), " "))
}

func stripTagsFilter(_ *machine, v []any, _ []bool) (any, error) {
	s, err := str(v[0])
	return stripTags(s), err
}

func fileSizeFilter(_ *machine, v []any, _ []bool) (any, error) {
	n, ok := asNumber(v[0])
	if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, fmt.Errorf("filesizeformat takes a number, not a %s", typeName(v[0]))
	}
	base, prefixes, end := 1000.0, "kMGTPEZY", "B"
	if truth(v[1]) {
		base, prefixes, end = 1024, "KMGTPEZY", "iB"
	}
	switch {
	case n == 1:
		return "1 Byte", nil
	case n < base:
		return fmt.Sprintf("%d Bytes", int64(n)), nil
	}
	unit := base
	for i := range prefixes {
		unit *= base
		if n < unit || i == len(prefixes)-1 {
			return fmt.Sprintf("%.1f %c%s", base*n/unit, prefixes[i], end), nil
		}
	}
	return nil, nil
}

func xmlAttrFilter(_ *machine, v []any, given []bool) (any, error) {
	d, ok := v[0].(*Dict)
	if !ok {
		return nil, fmt.Errorf("xmlattr takes a mapping, not a %s", typeName(v[0]))
	}
	var parts []string
	for i, k := range d.keys {
		if d.vals[i] == nil || isUndefined(d.vals[i]) {
			continue
		}
		name, ok := asString(k)
		if !ok || strings.ContainsAny(name, "/>= \t\n\f\r\v") {
			return nil, fmt.Errorf("xmlattr takes names without blanks, '/', '>' and '='")
		}
		s, err := str(d.vals[i])
		if err != nil {
			return nil, err
		}
		if !isMarkup(d.vals[i]) {
			s = escapeHTML(s)
		}
		parts = append(parts, escapeHTML(name)+`="`+s+`"`)
	}
	out := strings.Join(parts, " ")
	if out != "" && (!given[1] || truth(v[1])) {
		out = " " + out
	}
	return out, nil
}

// cycler goes through its items again and again.
func cycler(_ *machine, c call) (any, error) {
	if len(c.args) == 0 || len(c.names) > 0 {
		return nil, fmt.Errorf("cycler takes at least one item")
	}
	at := 0
	step := func(f func() any) *callable {
		return takes("cycler", "", func(*machine, []any, []bool) (any, error) { return f(), nil })
	}
	return &cycle{
		current: func() any { return c.args[at] },
		next:    step(func() any { v := c.args[at]; at = (at + 1) % len(c.args); return v }),
		reset:   step(func() any { at = 0; return nil }),
	}, nil
}

// cycle is what cycler gives.
type cycle struct {
	current     func() any
	next, reset *callable
}

func (c *cycle) attr(name string) (any, bool) {
	switch name {
	case "current":
		return c.current(), true
	case "next":
		return c.next, true
	case "reset":
		return c.reset, true
	}
	return nil, false
}
