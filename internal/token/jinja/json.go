package jinja

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/lib/number"
)

// FromJSON reads a value that templates can use: mappings keep the order of their keys.
func FromJSON(data []byte) (any, error) {
	var s jsonscan.Scanner
	s.Reset(data)
	v := scan(&s, 0)
	s.End()
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return v, nil
}

func scan(s *jsonscan.Scanner, depth int) any {
	if depth > maxNesting {
		s.Fail("less nesting")
		return nil
	}
	switch s.Peek() {
	case '{':
		d := &Dict{}
		s.Object()
		for k, ok := s.Key(); ok; k, ok = s.Key() {
			name := string(k)
			d.Set(name, scan(s, depth+1))
		}
		return d
	case '[':
		l := &List{}
		s.Array()
		for s.More() {
			l.items = append(l.items, scan(s, depth+1))
		}
		return l
	case '"':
		return strings.ToValidUTF8(string(s.Quoted()), "\ufffd")
	case 't', 'f':
		return s.Bool()
	case 'n':
		s.Null()
		return nil
	}
	text := string(s.Number())
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return bigInt(text)
		}
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) && s.Err() == nil {
		s.Fail("a number")
	}
	return f
}

type jsonStyle struct {
	ascii      bool
	indent     string
	lines      bool // one value a line
	item, pair string
	sort       bool
}

// jsonFilter is tojson with the arguments of chat templates, which are those of json.dumps.
func jsonFilter(_ *machine, v []any, _ []bool) any {
	st := jsonStyle{ascii: truth(v[1]), item: ", ", pair: ": ", sort: truth(v[4])}
	if v[2] != nil {
		st.lines, st.item = true, ","
		if n, ok := asInt(v[2]); ok {
			st.indent = strings.Repeat(" ", int(min(max(n, 0), 100)))
		} else if st.indent, ok = asString(v[2]); !ok {
			panic(bad("the indent of tojson is a number or a string, not a %s", typeName(v[2])))
		}
	}
	if v[3] != nil {
		l, ok := v[3].(*List)
		if ok && len(l.items) == 2 {
			st.item, ok = both(ok, asString, l.items[0])
			st.pair, ok = both(ok, asString, l.items[1])
		}
		if !ok || len(l.items) != 2 {
			panic(bad("the separators of tojson are two strings"))
		}
	}
	var b strings.Builder
	st.write(&b, v[0], 0)
	return b.String()
}

func (st *jsonStyle) write(b *strings.Builder, v any, depth int) {
	if depth > maxNesting || b.Len() > maxText {
		panic(bad("a value is too large for tojson"))
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case bigInt:
		b.WriteString(v.digits())
	case float64:
		b.WriteString(jsonFloat(v))
	case string:
		st.quote(b, v)
	case markup:
		st.quote(b, string(v))
	case *List:
		if v.kind == kindRange {
			panic(bad("tojson cannot write a range"))
		}
		st.container(b, '[', ']', len(v.items), depth, func(i int) { st.write(b, v.items[i], depth+1) })
	case *Dict:
		st.dict(b, v, depth)
	case *undefined:
		panic(v.fail())
	default:
		panic(bad("tojson cannot write a %s", typeName(v)))
	}
}

func (st *jsonStyle) container(b *strings.Builder, open, end byte, n, depth int, each func(i int)) {
	b.WriteByte(open)
	for i := range n {
		if i > 0 {
			b.WriteString(st.item)
		}
		st.newline(b, depth+1)
		each(i)
	}
	if n > 0 {
		st.newline(b, depth)
	}
	b.WriteByte(end)
}

func (st *jsonStyle) newline(b *strings.Builder, depth int) {
	if st.lines {
		b.WriteByte('\n')
		for range depth {
			b.WriteString(st.indent)
		}
	}
}

func (st *jsonStyle) dict(b *strings.Builder, d *Dict, depth int) {
	at := make([]int, len(d.keys))
	for i := range at {
		at[i] = i
	}
	if st.sort {
		slices.SortStableFunc(at, func(i, j int) int { return order("<", d.keys[i], d.keys[j]) })
	}
	st.container(b, '{', '}', len(at), depth, func(i int) {
		key := d.keys[at[i]]
		if s, ok := asString(key); ok {
			st.quote(b, s)
		} else {
			b.WriteByte('"')
			st.write(b, key, depth)
			b.WriteByte('"')
		}
		b.WriteString(st.pair)
		st.write(b, d.vals[at[i]], depth+1)
	})
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return number.Python(f)
}

func (st *jsonStyle) quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\b' <= r && r <= '\r' && r != '\v':
			b.WriteByte('\\')
			b.WriteByte("btn?fr"[r-'\b'])
		case r < 0x20 || st.ascii && r > 0x7f && r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		case st.ascii && r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
