package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/lib/truncate"
)

// FromJSON reads a tensor's values: an array, flat or nested, or one value alone. given is the
// user's shape; nil: it follows from the model's and the values.
func FromJSON(spec *Spec, given []int64, text []byte) (Tensor, error) {
	return fromJSON(spec, given, text, false)
}

// fromJSON does it; exact is as for [Value].
func fromJSON(spec *Spec, given []int64, text []byte, exact bool) (Tensor, error) {
	if spec.Datatype != Bytes && spec.Datatype.Size() == 0 {
		return Tensor{}, fmt.Errorf("tensor %q has no known datatype", spec.Name)
	}
	p := parser{datatype: spec.Datatype, exact: exact}
	p.scan.Reset(text)
	if exact && p.scan.Peek() != '[' {
		p.err = fmt.Errorf("its values must be a list, are %s", jsonscan.Kind(p.scan.Peek()))
	} else {
		p.value(0)
	}
	if p.err == nil {
		p.scan.End()
		p.err = p.scan.Err()
	}
	if p.err != nil {
		return Tensor{}, fmt.Errorf("tensor %q: %w", spec.Name, p.err)
	}
	shape, err := resolveShape(spec, given, p.lengths, p.n)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{Name: spec.Name, Datatype: spec.Datatype, Shape: shape, Data: p.data}, nil
}

// mostDepth bounds how deep arrays may nest.
const mostDepth = 64

// parser turns JSON values into raw elements.
type parser struct {
	scan     jsonscan.Scanner
	datatype Datatype
	exact    bool // as for Value: one list, and integers of 8 and 16 bits are read as ones of 32
	data     []byte
	n        int64   // elements so far
	lengths  []int64 // of the arrays at each depth
	closed   []bool  // whether an array of that depth has been read to its end
	leaf     int     // depth at which elements stand
	err      error
}

func (p *parser) value(depth int) {
	if p.scan.Peek() != '[' {
		p.element(depth)
		return
	}
	switch {
	case p.exact && depth > 0:
		p.n++
		p.mismatch("a list")
		return
	case depth == mostDepth:
		p.err = fmt.Errorf("arrays nest deeper than %d", mostDepth)
		return
	case p.n > 0 && depth >= p.leaf:
		p.err = errRagged
		return
	case depth == len(p.lengths):
		p.lengths, p.closed = append(p.lengths, 0), append(p.closed, false)
	}
	p.scan.Array()
	length := int64(0)
	for p.scan.More() {
		p.value(depth + 1)
		if p.err != nil {
			return
		}
		length++
	}
	if p.closed[depth] && p.lengths[depth] != length {
		p.err = errRagged
	}
	p.lengths[depth], p.closed[depth] = length, true
}

var errRagged = errors.New("its arrays differ in length or depth")

// element takes one value that is no array.
func (p *parser) element(depth int) {
	if p.n > 0 && depth != p.leaf || p.n == 0 && depth != len(p.lengths) {
		p.err = errRagged
		return
	}
	p.leaf = depth
	p.n++
	start := p.scan.Pos()
	switch d := p.datatype; {
	case d == Bytes:
		p.text()
	case d == Bool:
		p.bool()
	case d.Float():
		p.float()
	default:
		p.int()
	}
	if p.err == nil {
		if err := p.scan.Err(); err != nil {
			p.err = fmt.Errorf("element %d must be %s: %w", p.n-1, p.wanted(), err)
		}
	}
	if p.scan.Pos() == start && p.err == nil {
		p.err = fmt.Errorf("element %d is missing", p.n-1)
	}
}

func (p *parser) wanted() string {
	switch d := p.datatype; {
	case d == Bytes:
		return "a string (BYTES)"
	case d == Bool:
		return "true or false (BOOL)"
	case d.Float():
		return "a number (" + d.String() + ")"
	default:
		return "a whole number (" + p.datatype.String() + ")"
	}
}

// mismatch notes an element that does not fit the datatype.
func (p *parser) mismatch(found string) {
	p.err = fmt.Errorf("element %d must be %s, is %s", p.n-1, p.wanted(), found)
}

func (p *parser) text() {
	if p.scan.Peek() != '"' {
		p.mismatch(jsonscan.Kind(p.scan.Peek()))
		return
	}
	s := p.scan.Quoted()
	if uint64(len(s)) > math.MaxUint32 {
		p.err = fmt.Errorf("element %d is a string of %d bytes, too long for BYTES", p.n-1, len(s))
		return
	}
	p.data = AppendString(p.data, s)
}

func (p *parser) bool() {
	switch c := p.scan.Peek(); c {
	case 't', 'f':
		var b byte
		if p.scan.Bool() {
			b = 1
		}
		p.data = append(p.data, b)
	case '0', '1':
		if p.exact {
			p.mismatch("a number")
			return
		}
		if s := p.scan.Number(); len(s) != 1 {
			p.mismatch(string(s))
			return
		}
		p.data = append(p.data, c-'0')
	default:
		p.mismatch(jsonscan.Kind(p.scan.Peek()))
	}
}

func (p *parser) int() {
	if !p.scan.IsNumber() {
		p.mismatch(jsonscan.Kind(p.scan.Peek()))
		return
	}
	s := p.scan.Number()
	bits := p.datatype.Size() * 8
	read := bits
	if p.exact {
		read = max(bits, 32)
	}
	var v uint64
	var err error
	if p.datatype.Unsigned() {
		if string(s) == "-0" {
			s = s[1:]
		}
		v, err = strconv.ParseUint(string(s), 10, read)
	} else {
		var signed int64
		signed, err = strconv.ParseInt(string(s), 10, read)
		v = uint64(signed)
	}
	switch {
	case errors.Is(err, strconv.ErrRange) || err != nil && len(s) > 0 && s[0] == '-' && isDigits(s[1:]):
		p.err = fmt.Errorf("element %d is %s, out of range for %s", p.n-1, clip(s), p.datatype)
	case err != nil:
		p.mismatch(clip(s))
	}
	p.data = appendInt(p.data, v, bits/8)
}

func isDigits(s []byte) bool {
	return !slices.ContainsFunc(s, func(c byte) bool { return c < '0' || c > '9' })
}

func clip(s []byte) string { return truncate.Text(string(s), 40) }

func (p *parser) float() {
	if p.exact && p.datatype.Size() == 2 {
		p.err = fmt.Errorf("its values cannot be written as numbers, being %s: give their bytes as {\"b64\": \"…\"}", p.datatype)
		return
	}
	if p.scan.Peek() == '"' {
		s := p.scan.Quoted()
		x, ok := special(string(s))
		if !ok {
			p.mismatch("a string, " + strconv.Quote(clip(s)))
			return
		}
		p.data = AppendFloat(p.data, p.datatype, x)
		return
	}
	if !p.scan.IsNumber() {
		p.mismatch(jsonscan.Kind(p.scan.Peek()))
		return
	}
	s := p.scan.Number()
	if p.exact && wholeNumber(s) {
		p.mismatch(clip(s) + "; write it with a decimal point")
		return
	}
	size := 64
	if p.datatype == FP32 && !p.exact {
		size = 32 // rounded once, from the text
	}
	x, err := strconv.ParseFloat(string(s), size)
	if err != nil {
		if p.scan.Err() == nil {
			p.err = fmt.Errorf("element %d is %s, out of range for %s", p.n-1, clip(s), p.datatype)
		}
		return
	}
	before := len(p.data)
	p.data = AppendFloat(p.data, p.datatype, x)
	if last := p.data[before:]; len(last) == 2 && math.IsInf(number(p.datatype, last), 0) {
		p.err = fmt.Errorf("element %d is %s, out of range for %s", p.n-1, clip(s), p.datatype)
	}
}

// wholeNumber reports whether a number is written as a whole one that fits 64 bits.
func wholeNumber(s []byte) bool {
	_, signed := strconv.ParseInt(string(s), 10, 64)
	_, unsigned := strconv.ParseUint(string(s), 10, 64)
	return signed == nil || unsigned == nil
}

// special is a number that JSON has no digits for, by the names that people use.
func special(s string) (float64, bool) {
	switch s {
	case "NaN", "nan":
		return math.NaN(), true
	case "Inf", "Infinity", "inf", "+Inf", "+Infinity":
		return math.Inf(1), true
	case "-Inf", "-Infinity", "-inf":
		return math.Inf(-1), true
	}
	return 0, false
}

func number(d Datatype, data []byte) float64 {
	switch d {
	case FP16:
		return FromFP16(binary.LittleEndian.Uint16(data))
	case BF16:
		return FromBF16(binary.LittleEndian.Uint16(data))
	case FP32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	default:
		return math.Float64frombits(binary.LittleEndian.Uint64(data))
	}
}

// Floats goes through the elements of a tensor of floating-point numbers.
func (t *Tensor) Floats() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		size := t.Datatype.Size()
		for data := t.Data; size > 0 && len(data) >= size; data = data[size:] {
			if !yield(number(t.Datatype, data[:size])) {
				return
			}
		}
	}
}

// AppendJSON writes the elements as one flat array. NaN and the infinities are strings, and so is
// text that is not UTF-8, with faulty bytes replaced.
func (t *Tensor) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	start := len(dst)
	if t.Datatype == Bytes {
		for s := range t.Strings() {
			dst = appendQuoted(separate(dst, start), s)
		}
		return append(dst, ']')
	}
	size := t.Datatype.Size()
	for data := t.Data; size > 0 && len(data) >= size; data = data[size:] {
		dst = appendElement(separate(dst, start), t.Datatype, data[:size])
	}
	return append(dst, ']')
}

func separate(dst []byte, start int) []byte {
	if len(dst) > start {
		return append(dst, ',')
	}
	return dst
}

func appendElement(dst []byte, d Datatype, data []byte) []byte {
	switch {
	case d == Bool:
		return strconv.AppendBool(dst, data[0] != 0)
	case d.Float():
		return appendNumber(dst, d, number(d, data))
	case d.Signed():
		return strconv.AppendInt(dst, signed(data), 10)
	default:
		return strconv.AppendUint(dst, unsigned(data), 10)
	}
}

func appendNumber(dst []byte, d Datatype, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...)
	}
	size := 64
	if d != FP64 {
		size = 32 // the shortest text that reads back as the same number
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, x, format, -1, size)
}

func unsigned(data []byte) uint64 {
	switch len(data) {
	case 1:
		return uint64(data[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(data))
	case 4:
		return uint64(binary.LittleEndian.Uint32(data))
	default:
		return binary.LittleEndian.Uint64(data)
	}
}

func signed(data []byte) int64 {
	shift := 64 - 8*len(data)
	return int64(unsigned(data)<<shift) >> shift
}

// AppendQuoted adds a JSON string. Bytes that are not UTF-8 are replaced.
func AppendQuoted[S ~string | ~[]byte](dst []byte, s S) []byte { return appendQuoted(dst, []byte(s)) }

func appendQuoted(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, size := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		}
		i++
	}
	return append(dst, '"')
}
