// Package tensor is about the tensors of the KServe v2 protocol: datatypes, shapes, and values in
// the raw form in which they travel, row-major and little-endian. It makes them from JSON, files
// and seeds, and writes JSON. It sends nothing.
package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Tensor is a named array of elements.
type Tensor struct {
	Name     string
	Datatype Datatype
	Shape    []int64
	Data     []byte // row-major, little-endian; of Bytes, each element with its length as four bytes in front
}

// Spec is what a model says of one of its tensors.
type Spec struct {
	Name     string
	Datatype Datatype
	Shape    []int64 // of one item of a batch; -1: of any length
	Optional bool    // the model does without it
	// ShapeTensor: its values are a shape, one for the batch: it has no batch dimension.
	ShapeTensor bool
	// Elsewhere: the request has a value for it from another place, so that it is
	// neither missing nor made up where the data has none.
	Elsewhere bool
}

// Open reports whether the model leaves a dimension to the request.
func (s *Spec) Open() bool { return slices.ContainsFunc(s.Shape, func(d int64) bool { return d < 0 }) }

// mostElements bounds what a shape may ask for, so that sizes never overflow.
const mostElements = 1 << 40

// Elements is the number of elements of a shape; -1: a dimension is free. Overflow gives the
// largest number.
func Elements(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		if d < 0 {
			return -1
		}
		n = times(n, d)
	}
	return n
}

// times multiplies without overflow.
func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// CheckShape says what is wrong with a shape that a user gave.
func CheckShape(shape []int64) error {
	n := int64(1)
	for _, d := range shape {
		switch {
		case d < 0:
			return fmt.Errorf("the shape %s has a negative dimension", ShapeText(shape))
		case d > 0 && n > mostElements/d:
			return fmt.Errorf("the shape %s is too large", ShapeText(shape))
		}
		n *= d
	}
	return nil
}

// ShapeText is a shape as people write it, such as [2,-1].
func ShapeText(shape []int64) string {
	words := make([]string, len(shape))
	for i, d := range shape {
		words[i] = strconv.FormatInt(d, 10)
	}
	return "[" + strings.Join(words, ",") + "]"
}

// Check says whether the data has the size that datatype and shape ask for.
func (t *Tensor) Check() error {
	if err := CheckShape(t.Shape); err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	want := Elements(t.Shape)
	if t.Datatype == Bytes {
		have, err := CountBytes(t.Data)
		switch {
		case err != nil:
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		case have != want:
			return fmt.Errorf("tensor %q of shape %s has %d strings, not %d", t.Name, ShapeText(t.Shape), have, want)
		}
		return nil
	}
	if t.Datatype.Size() == 0 {
		return fmt.Errorf("tensor %q has no known datatype", t.Name)
	}
	if have, want := int64(len(t.Data)), want*int64(t.Datatype.Size()); have != want {
		return fmt.Errorf("tensor %q, %s of shape %s, has %d bytes, not %d", t.Name, t.Datatype, ShapeText(t.Shape), have, want)
	}
	return nil
}

// AppendString adds one element of Bytes. Its length must fit 32 bits.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

// errCut is data of Bytes that breaks off.
var errCut = errors.New("its data is not a sequence of strings with their lengths in front")

// CountBytes is the number of elements in data of Bytes.
func CountBytes(data []byte) (int64, error) {
	n := int64(0)
	for len(data) > 0 {
		if len(data) < 4 {
			return 0, errCut
		}
		size := binary.LittleEndian.Uint32(data)
		if uint64(size) > uint64(len(data)-4) {
			return 0, errCut
		}
		data = data[4+size:]
		n++
	}
	return n, nil
}

// Strings goes through the elements of Bytes. It ends early where the data is cut.
func (t *Tensor) Strings() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for data := t.Data; len(data) >= 4; {
			size := binary.LittleEndian.Uint32(data)
			if uint64(size) > uint64(len(data)-4) {
				return
			}
			if !yield(data[4 : 4+size : 4+size]) {
				return
			}
			data = data[4+size:]
		}
	}
}

// Stack joins tensors of one shape and name along a new first dimension: items become a batch.
func Stack(items []Tensor) (Tensor, error) {
	if len(items) == 0 {
		return Tensor{}, errors.New("there is nothing to make a batch of")
	}
	first := items[0]
	size := 0
	for i := range items {
		if items[i].Datatype != first.Datatype || !slices.Equal(items[i].Shape, first.Shape) {
			return Tensor{}, fmt.Errorf("tensor %q is %s%s in one item and %s%s in another: they cannot go in one batch; give all the same shape or use batch size 1",
				first.Name, first.Datatype, ShapeText(first.Shape), items[i].Datatype, ShapeText(items[i].Shape))
		}
		size += len(items[i].Data)
	}
	all := Tensor{Name: first.Name, Datatype: first.Datatype, Shape: append([]int64{int64(len(items))}, first.Shape...)}
	if len(items) == 1 {
		all.Data = first.Data
		return all, nil
	}
	all.Data = make([]byte, 0, size)
	for i := range items {
		all.Data = append(all.Data, items[i].Data...)
	}
	return all, nil
}

// appendInt adds an integer's lowest bytes.
func appendInt(dst []byte, bits uint64, size int) []byte {
	switch size {
	case 1:
		return append(dst, byte(bits))
	case 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(bits))
	case 4:
		return binary.LittleEndian.AppendUint32(dst, uint32(bits))
	default:
		return binary.LittleEndian.AppendUint64(dst, bits)
	}
}

// AppendFloat adds a number in one of the floating-point formats, rounded to the
// nearest.
func AppendFloat(dst []byte, d Datatype, x float64) []byte {
	switch d {
	case FP16:
		return binary.LittleEndian.AppendUint16(dst, ToFP16(x))
	case BF16:
		return binary.LittleEndian.AppendUint16(dst, ToBF16(x))
	case FP32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(x)))
	default:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
}

// AppendInt adds an integer as an element of datatype d, which has room for it.
func AppendInt(dst []byte, d Datatype, x int64) []byte {
	if d.Float() {
		return AppendFloat(dst, d, float64(x))
	}
	return appendInt(dst, uint64(x), d.Size())
}

// Finite reports whether no element is NaN or infinite.
func (t *Tensor) Finite() bool {
	size := t.Datatype.Size()
	if !t.Datatype.Float() {
		return true
	}
	for data := t.Data; len(data) >= size; data = data[size:] {
		if x := number(t.Datatype, data); math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// Signature is what a model says of its tensors.
type Signature struct {
	Name      string
	Inputs    []Spec
	Outputs   []Spec
	MaxBatch  int  // 0: it takes no batches
	Sequences bool // it keeps state over sequences of requests
}
