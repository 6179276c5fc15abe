package inputdata

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// The members that the format knows.
const (
	dataMember       = "data"
	validationMember = "validation_data"
	contentMember    = "content"
	shapeMember      = "shape"
	base64Member     = "b64"
)

// mark is the byte order mark that some editors put in front of a text.
const mark = "\ufeff"

type file struct {
	*reader
	name   string
	text   []byte
	scan   jsonscan.Scanner
	breaks []int // offsets of line ends
}

// block is data or validation_data: streams of steps, or steps alone.
type block struct {
	line    int
	streams [][]tensor.Item // steps alone are one stream
	nested  bool
	lines   []int // of each stream or step
}

// parse reads a JSON file. first: it is the one that says whether the data are steps
// or streams.
func (r *reader) parse(name string, text []byte, first bool) {
	if bytes.HasPrefix(text, []byte(mark)) && r.exact {
		r.fault(name, 1, "", "begins with a byte order mark, which is no JSON", "save it as UTF-8 without one")
		return
	}
	f := &file{reader: r, name: name, text: quoteSpecial(bytes.TrimPrefix(text, []byte(mark)))}
	for i, c := range f.text {
		if c == '\n' {
			f.breaks = append(f.breaks, i)
		}
	}
	before := len(r.faults)
	f.scan.Reset(f.text)
	var data, validation *block
	if f.scan.Peek() != '{' {
		f.faultAt(f.here(), "", "is not a JSON object", `write {"data": [ … ]}`)
		return
	}
	f.scan.Object()
	for key, ok := f.scan.Key(); ok; key, ok = f.scan.Key() {
		switch string(key) {
		case dataMember:
			f.once(&data, dataMember)
		case validationMember:
			f.once(&validation, validationMember)
		default:
			f.scan.Skip()
		}
	}
	f.scan.End()
	var syntax *jsonscan.SyntaxError
	if errors.As(f.scan.Err(), &syntax) {
		f.fault(name, f.line(syntax.Offset), "", "is not valid JSON: "+f.column(syntax), "")
		return
	}
	switch {
	case len(r.faults) > before:
	case data == nil:
		f.faultAt(0, "", `has no member "data"`, `write {"data": [ … ]}`)
	case len(data.lines) == 0:
		f.faultAt(data.line, "", "data is empty", "it needs one step at least")
	case !first && len(r.data.Streams) > 0 && data.nested != r.data.Sequences:
		f.faultAt(data.line, "", "has "+kindOf(data.nested)+", and the files before it have "+kindOf(!data.nested), "all files of a run need the same form")
	default:
		if f.align(data, validation) {
			r.add(data)
		}
	}
}

// once reads a block that may have been there before: the first is the one that counts, as for tensors.
func (f *file) once(b **block, name string) {
	switch {
	case *b == nil:
		*b = f.block(name)
	case f.exact:
		f.scan.Skip()
	default:
		f.faultAt(f.here(), "", name+" is given twice", "keep one of them")
		f.scan.Skip()
	}
}

func kindOf(nested bool) string {
	if nested {
		return "streams of steps"
	}
	return "steps"
}

// add appends a block to what is there: streams become more, steps go on with the
// one stream.
func (r *reader) add(b *block) {
	r.data.Sequences = b.nested
	if b.nested || len(r.data.Streams) == 0 {
		r.data.Streams = append(r.data.Streams, b.streams...)
		return
	}
	r.data.Streams[0] = append(r.data.Streams[0], b.streams[0]...)
}

// align puts expected outputs beside the inputs that they belong to.
func (f *file) align(data, validation *block) bool {
	if validation == nil {
		return true
	}
	if validation.nested != data.nested || len(validation.lines) != len(data.lines) {
		f.faultAt(validation.line, "", fmt.Sprintf("validation_data has %d %s and data %d %s", len(validation.lines), unit(validation.nested), len(data.lines), unit(data.nested)), "the two go side by side")
		return false
	}
	for i := range data.streams {
		if len(validation.streams[i]) != len(data.streams[i]) {
			f.faultAt(validation.lines[i], "", fmt.Sprintf("stream %d of validation_data has %d steps and that of data %d", i, len(validation.streams[i]), len(data.streams[i])), "the two go side by side")
			return false
		}
		for k := range data.streams[i] {
			data.streams[i][k].Expected, data.streams[i][k].Complete = validation.streams[i][k].Values, f.exact
		}
	}
	return true
}

func unit(nested bool) string {
	if nested {
		return "streams"
	}
	return "steps"
}

func (f *file) column(e *jsonscan.SyntaxError) string {
	start := 0
	if n := f.line(e.Offset); n > 1 {
		start = f.breaks[n-2] + 1
	}
	return fmt.Sprintf("at column %d %s is expected", e.Offset-start+1, e.Want)
}

// faultAt notes a fault on a line. What seems wrong after the JSON broke off is no fault.
func (f *file) faultAt(line int, name, text, hint string) {
	if f.scan.Err() != nil {
		return
	}
	f.fault(f.name, line, name, text, hint)
}

func (f *file) line(offset int) int {
	i, _ := slices.BinarySearch(f.breaks, offset)
	return i + 1
}

// here is the line of the value that comes next.
func (f *file) here() int {
	f.scan.Peek()
	return f.line(min(f.scan.Pos(), len(f.text)))
}

// block reads data or validation_data.
func (f *file) block(name string) *block {
	b := &block{line: f.here()}
	if f.scan.Peek() != '[' {
		f.faultAt(b.line, "", name+" must be an array", "")
		f.scan.Skip()
		return b
	}
	var steps []tensor.Item
	f.scan.Array()
	for f.scan.More() {
		line := f.here()
		nested := f.scan.Peek() == '['
		if len(b.lines) == 0 {
			b.nested = nested
		} else if nested != b.nested {
			f.faultAt(line, "", "steps and streams of steps are mixed", "write objects alone, or arrays of objects alone")
		}
		b.lines = append(b.lines, line)
		if !nested {
			steps = append(steps, f.step())
			continue
		}
		stream := []tensor.Item{}
		f.scan.Array()
		for f.scan.More() {
			stream = append(stream, f.step())
		}
		if len(stream) == 0 {
			f.faultAt(line, "", "the stream has no steps", "")
		}
		b.streams = append(b.streams, stream)
	}
	if !b.nested {
		b.streams = [][]tensor.Item{steps}
	}
	return b
}

func (f *file) step() tensor.Item {
	var item tensor.Item
	if f.scan.Peek() != '{' {
		f.faultAt(f.here(), "", "a step must be an object of tensors, is "+jsonscan.Kind(f.scan.Peek()), "")
		f.scan.Skip()
		return item
	}
	f.scan.Object()
	for key, ok := f.scan.Key(); ok; key, ok = f.scan.Key() {
		v := tensor.Value{Name: string(key), File: f.name, Line: f.here(), Exact: f.exact}
		if slices.ContainsFunc(item.Values, func(w tensor.Value) bool { return w.Name == v.Name }) {
			if f.exact {
				f.scan.Skip()
				continue
			}
			f.faultAt(v.Line, v.Name, "is given twice in one step", "")
		}
		f.value(&v)
		item.Values = append(item.Values, v)
	}
	return item
}

// value reads what is given for one tensor.
func (f *file) value(v *tensor.Value) {
	switch f.scan.Peek() {
	case '{':
		f.described(v)
	case 'n':
		f.faultAt(v.Line, v.Name, "is null", "leave it out, or give its values")
		f.scan.Skip()
	default:
		v.Text = f.raw()
	}
}

// raw takes the value that comes next as it is written.
func (f *file) raw() []byte {
	f.scan.Peek()
	start := f.scan.Pos()
	f.scan.Skip()
	end := f.scan.Pos()
	return f.text[start:end:end]
}

// described reads a tensor given as an object: content or b64, and shape.
func (f *file) described(v *tensor.Value) {
	found := ""
	f.scan.Object()
	for key, ok := f.scan.Key(); ok; key, ok = f.scan.Key() {
		switch name := string(key); {
		case name == shapeMember:
			v.Shape = f.shape(v.Name)
		case f.exact && (name == contentMember && found == base64Member || name != contentMember && name != base64Member):
			f.scan.Skip()
		case (name == contentMember || name == base64Member) && found != "" && !f.exact:
			f.faultAt(f.here(), v.Name, fmt.Sprintf("has %q and %q", found, name), "keep one of them")
			f.scan.Skip()
		case name == base64Member:
			found = name
			f.base64(v)
		case name == contentMember:
			found = name
			f.content(v)
		default:
			f.faultAt(f.here(), v.Name, "has the unknown member "+strconv.Quote(name), `a tensor is an array of values, or an object with "content" or "b64" and perhaps "shape"`)
			f.scan.Skip()
		}
	}
	if found == "" {
		f.faultAt(v.Line, v.Name, "has no values", `write them as "content": [ … ] or "b64": "…"`)
	}
}

// content reads values, or an object with the bytes in base 64.
func (f *file) content(v *tensor.Value) {
	if f.scan.Peek() != '{' {
		v.Text = f.raw()
		return
	}
	line, found := f.here(), false
	f.scan.Object()
	for key, ok := f.scan.Key(); ok; key, ok = f.scan.Key() {
		if string(key) != base64Member {
			f.scan.Skip()
			continue
		}
		found = true
		f.base64(v)
	}
	if !found {
		f.faultAt(line, v.Name, `its content must be an array or an object with "b64"`, "")
	}
}

func (f *file) base64(v *tensor.Value) {
	line := f.here()
	if f.scan.Peek() != '"' {
		f.faultAt(line, v.Name, "b64 must be a string, is "+jsonscan.Kind(f.scan.Peek()), "")
		f.scan.Skip()
		return
	}
	text := f.scan.Quoted()
	bare := bytes.TrimRight(bytes.Map(dropSpace, text), "=")
	data, err := base64.RawStdEncoding.AppendDecode(nil, bare)
	if err != nil {
		f.faultAt(line, v.Name, "b64 is not base 64: "+err.Error(), "")
		return
	}
	v.Form, v.Text = tensor.FormRaw, data
}

// dropSpace leaves out white space, by which people break long lines.
func dropSpace(r rune) rune {
	if r == ' ' || r == '\n' || r == '\r' || r == '\t' {
		return -1
	}
	return r
}

func (f *file) shape(name string) []int64 {
	line := f.here()
	if f.scan.Peek() != '[' {
		f.faultAt(line, name, "its shape must be an array of whole numbers, is "+jsonscan.Kind(f.scan.Peek()), "")
		f.scan.Skip()
		return nil
	}
	shape := []int64{}
	f.scan.Array()
	for f.scan.More() {
		text := f.raw()
		d, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			f.faultAt(line, name, "its shape must be of whole numbers, has "+string(text[:min(len(text), 40)]), "")
		}
		shape = append(shape, d)
	}
	if err := tensor.CheckShape(shape); err != nil {
		f.faultAt(line, name, err.Error(), "state each dimension")
	}
	return shape
}

// quoteSpecial puts quotes around NaN and infinities, which files may have and
// JSON may not: a tensor's values may have them as strings.
func quoteSpecial(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Inf")) {
		return text
	}
	var out []byte
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i+1)
			out = append(out, text[i:end]...)
			i = end
		case c == 'N' || c == 'I' || c == '-' && i+1 < len(text) && text[i+1] == 'I':
			word := special(text[i:])
			if word == "" {
				out = append(out, c)
				i++
				continue
			}
			out = append(append(append(out, '"'), word...), '"')
			i += len(word)
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

func special(text []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "Inf", "-Inf"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return word
		}
	}
	return ""
}

// stringEnd is the offset after the quote that ends the string whose body begins at i.
func stringEnd(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
