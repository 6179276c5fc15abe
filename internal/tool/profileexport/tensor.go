package profileexport

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// FromTensor is a tensor as the file has it: one element alone, several as a flat list.
// An empty one is an empty text.
//
// asOriginal writes it as Perf Analyzer does: several strings run together with their
// lengths as four bytes between them, and numbers of 16 bits are null.
func FromTensor(t *tensor.Tensor, asOriginal bool) Field {
	f := Field{Name: t.Name}
	half := t.Datatype == tensor.FP16 || t.Datatype == tensor.BF16
	switch {
	case len(t.Data) == 0:
		f.Value = json.RawMessage(`""`)
	case asOriginal && t.Datatype == tensor.Bytes && len(t.Data) > 4:
		f.Value = quoted(string(t.Data[4:]))
	case asOriginal && half:
		f.Value = json.RawMessage("null")
	default:
		f.Value = elements(t)
	}
	return f
}

func elements(t *tensor.Tensor) json.RawMessage {
	var list []byte
	n := 0
	next := func() {
		if n++; n > 1 {
			list = append(list, ',')
		}
	}
	switch {
	case t.Datatype == tensor.Bytes:
		for s := range t.Strings() {
			next()
			list = tensor.AppendQuoted(list, s)
		}
	case t.Datatype.Float():
		for x := range t.Floats() {
			next()
			list = appendNumber(list, x)
		}
	default:
		list = t.AppendJSON(nil)
		list = list[1 : len(list)-1]
		n = 1 + strings.Count(string(list), ",")
	}
	if n == 1 {
		return list
	}
	return append(append([]byte{'['}, list...), ']')
}

// appendNumber writes a number so that it reads back as the same one, with a fraction.
// What JSON has no word for is null.
func appendNumber(dst []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(dst, "null"...)
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(dst, text...)
}
