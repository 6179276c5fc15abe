// Package report prints summaries as inference-perf does: its JSON files with
// their names, keys and order, its partial benchmark report in YAML, and its tables.
package report

import (
	"bufio"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// object is a JSON object whose fields keep their order.
type object []field

type field struct {
	name  string
	value any
}

type list []any

func (o *object) put(name string, value any) { *o = append(*o, field{name, value}) }

// set gives a field a value, at its place where there is one of the name.
func (o *object) set(name string, value any) {
	if i := slices.IndexFunc(*o, func(f field) bool { return f.name == name }); i >= 0 {
		(*o)[i].value = value
		return
	}
	o.put(name, value)
}

// appendJSON appends a value of the types of this package with two spaces of indent, as
// Python's json module writes it. A nil pointer is null, a duration is in seconds.
func appendJSON(dst []byte, v any, indent int) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return append(dst, number.PythonJSON(v)...)
	case time.Duration:
		return append(dst, number.PythonJSON(v.Seconds())...)
	case *int:
		if v != nil {
			return appendJSON(dst, *v, indent)
		}
	case *float64:
		if v != nil {
			return appendJSON(dst, *v, indent)
		}
	case *dialect.Dist:
		if v != nil {
			return appendJSON(dst, distFields(v), indent)
		}
	case string:
		return appendText(dst, v)
	case json.Number:
		return append(dst, v...)
	case object:
		return appendAll(dst, "{", "}", len(v), indent, func(dst []byte, i int) []byte {
			dst = append(appendText(dst, v[i].name), ": "...)
			return appendJSON(dst, v[i].value, indent+1)
		})
	case list:
		return appendAll(dst, "[", "]", len(v), indent, func(dst []byte, i int) []byte {
			return appendJSON(dst, v[i], indent+1)
		})
	}
	return append(dst, "null"...)
}

// appendAll appends the parts of an object or an array, one to a line.
func appendAll(dst []byte, open, end string, n, indent int, part func([]byte, int) []byte) []byte {
	dst = append(dst, open...)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLine(dst, indent+1)
		dst = part(dst, i)
	}
	if n > 0 {
		dst = appendLine(dst, indent)
	}
	return append(dst, end...)
}

// array writes a JSON array, one entry after the other.
type array struct {
	out *bufio.Writer
	buf []byte
	n   int64
}

func (a *array) put(v any) {
	a.buf = append(a.buf[:0], "[,"[min(a.n, 1)])
	a.buf = appendJSON(appendLine(a.buf, 1), v, 1)
	a.n++
	_, _ = a.out.Write(a.buf) // close gives the first error
}

func (a *array) close() error {
	end := "\n]"
	if a.n == 0 {
		end = "[]"
	}
	_, _ = a.out.WriteString(end)
	return a.out.Flush()
}

func appendLine(dst []byte, indent int) []byte {
	return append(append(dst, '\n'), strings.Repeat("  ", indent)...)
}

func appendText(dst []byte, s string) []byte {
	text, _ := orderedjson.Compact(strings.ToValidUTF8(s, "\ufffd")) // a string always works
	return append(dst, text...)
}
