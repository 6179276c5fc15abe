package jinja

import (
	"fmt"
	"html"
	"math"
	"net/url"
	"slices"
	"strings"
)

// sliceFilter cuts a sequence into so many parts, the first of which are longer by one.
func sliceFilter(_ *machine, v []any, _ []bool) any {
	items := iterate(v[0])
	n, ok := asInt(v[1])
	if !ok || n < 1 || n > maxItems {
		panic(bad("slice takes the number of parts"))
	}
	size, longer := len(items)/int(n), len(items)%int(n)
	var out []any
	for i, from := 0, 0; i < int(n); i++ {
		to := from + size
		if i < longer {
			to++
		}
		part := slices.Clone(items[from:to])
		if v[2] != nil && i >= longer {
			part = append(part, v[2])
		}
		out = append(out, &List{items: part})
		from = to
	}
	return &gen{out}
}

// groupFilter puts items with the same attribute together, sorted by it.
func groupFilter(_ *machine, v []any, given []bool) any {
	if !given[1] {
		panic(bad("groupby takes an attribute"))
	}
	items := iterate(v[0])
	keys, folds, at := make([]any, len(items)), make([]any, len(items)), make([]any, len(items))
	for i, x := range items {
		keys[i] = path(x, v[1])
		if isUndefined(keys[i]) && v[2] != nil {
			keys[i] = v[2]
		}
		folds[i], at[i] = folded(keys[i], truth(v[3])), i
	}
	at = sorted(at, folds, false)
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
	return out
}

func urlEncodeFilter(_ *machine, v []any, _ []bool) any {
	items, ok := elements(v[0])
	if d, ok := v[0].(*Dict); ok {
		items = d.pairs()
	}
	if _, isText := asString(v[0]); isText || !ok {
		return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(str(v[0])), "+", "%20"), "%2F", "/")
	}
	var parts []string
	for _, x := range items {
		pair, ok := elements(x)
		if !ok || len(pair) != 2 {
			panic(bad("urlencode takes a text, a mapping or pairs"))
		}
		parts = append(parts, url.QueryEscape(str(pair[0]))+"="+url.QueryEscape(str(pair[1])))
	}
	return strings.Join(parts, "&")
}

// stripTags takes tags and comments away, and makes white space one blank each.
func stripTags(v any) string {
	var b strings.Builder
	s := str(v)
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
	return html.UnescapeString(strings.Join(strings.FieldsFunc(b.String(), IsSpace), " "))
}

func fileSizeFilter(_ *machine, v []any, _ []bool) any {
	n, ok := asNumber(v[0])
	if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		panic(bad("filesizeformat takes a number, not a %s", typeName(v[0])))
	}
	base, prefixes, end := 1000.0, "kMGTPEZY", "B"
	if truth(v[1]) {
		base, prefixes, end = 1024, "KMGTPEZY", "iB"
	}
	switch {
	case n == 1:
		return "1 Byte"
	case n < base:
		return fmt.Sprintf("%d Bytes", int64(n))
	}
	i, unit := 0, base*base
	for n >= unit && i < len(prefixes)-1 {
		i, unit = i+1, unit*base
	}
	return fmt.Sprintf("%.1f %c%s", base*n/unit, prefixes[i], end)
}

func xmlAttrFilter(_ *machine, v []any, given []bool) any {
	d, ok := v[0].(*Dict)
	if !ok {
		panic(bad("xmlattr takes a mapping, not a %s", typeName(v[0])))
	}
	var parts []string
	for i, k := range d.keys {
		if d.vals[i] == nil || isUndefined(d.vals[i]) {
			continue
		}
		name, ok := asString(k)
		if !ok || strings.ContainsAny(name, "/>= \t\n\f\r\v") {
			panic(bad("xmlattr takes names without blanks, '/', '>' and '='"))
		}
		s := str(d.vals[i])
		if !isMarkup(d.vals[i]) {
			s = escapeHTML(s)
		}
		parts = append(parts, escapeHTML(name)+`="`+s+`"`)
	}
	out := strings.Join(parts, " ")
	if out != "" && (!given[1] || truth(v[1])) {
		out = " " + out
	}
	return out
}

// cycler goes through its items again and again.
func cycler(_ *machine, c call) any {
	if len(c.args) == 0 || len(c.names) > 0 {
		panic(bad("cycler takes at least one item"))
	}
	at := 0
	step := func(f func() any) *callable {
		return takes("cycler", "", func(*machine, []any, []bool) any { return f() })
	}
	return &cycle{
		current: func() any { return c.args[at] },
		next:    step(func() any { v := c.args[at]; at = (at + 1) % len(c.args); return v }),
		reset:   step(func() any { at = 0; return nil }),
	}
}

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
