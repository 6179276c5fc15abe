// Package report prints summaries as inference-perf does: its JSON files with
// their names, keys and order, its partial benchmark report in YAML, and its tables.
package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// object is a JSON object whose fields keep their order.
type object []field

type field struct {
	name  string
	value any
}

// list is a JSON array.
type list []any

func (o *object) put(name string, value any) { *o = append(*o, field{name, value}) }

// set gives a field a value, at its place where there is one of the name.
func (o *object) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	o.put(name, value)
}

// appendJSON appends a value of the types of this package with two spaces of indent, as
// Python's json module writes it.
func appendJSON(dst []byte, v any, indent int) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return append(dst, number.PythonJSON(v)...)
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
	case json.RawMessage:
		return append(dst, v...)
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

func appendLine(dst []byte, indent int) []byte {
	return append(append(dst, '\n'), strings.Repeat("  ", indent)...)
}

func appendText(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.ToValidUTF8(s, "\ufffd")) // a string in memory always works
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
