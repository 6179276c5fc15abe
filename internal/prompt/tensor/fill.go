package tensor

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/inferometer/inferometer/internal/message"
)

// FillKind says what inputs that are given no value are made of.
type FillKind uint8

// What inputs without a value are made of.
const (
	FillNone   FillKind = iota // nothing: they are missing
	FillZero                   // zeros
	FillRandom                 // random values
)

// Fill makes tensors out of nothing. Strings are random with either kind, unless
// String says what they are: an empty string tells a server little.
type Fill struct {
	Kind   FillKind
	Length int    // of random strings; 0: DefaultLength
	String string // each element of Bytes, in place of random ones; empty: none
	Seed   uint64
}

// DefaultLength is the default length of random strings.
const DefaultLength = 128

// mostFill bounds the bytes of a tensor that is made up.
const mostFill = 1 << 31

// letters are what random strings are made of.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .?!"

// Tensor makes the values of a tensor by the seed and its name alone. Shape is the user's; nil: the
// model's, which then must leave nothing free.
func (f *Fill) Tensor(spec *Spec, shape []int64) (Tensor, error) {
	if spec.ShapeTensor {
		return Tensor{}, fmt.Errorf("input %q is a shape tensor, which cannot be generated: give its value in the data", spec.Name)
	}
	if shape == nil {
		shape = spec.Shape
	} else if err := fits(spec, shape); err != nil {
		return Tensor{}, err
	}
	n := Elements(shape)
	if n < 0 {
		return Tensor{}, message.Errorf("input %q has the shape %s, which the model leaves open: %vgive the input in the data", spec.Name, ShapeText(shape),
			message.New("state it with %v %s:D1,D2, or ", message.Shape, spec.Name).Or(""))
	}
	t := Tensor{Name: spec.Name, Datatype: spec.Datatype, Shape: slices.Clone(shape)}
	h := fnv.New64a()
	h.Write([]byte(spec.Name))
	rng := rand.New(rand.NewPCG(f.Seed, h.Sum64()))
	each := int64(spec.Datatype.Size())
	if spec.Datatype == Bytes {
		each = int64(4 + f.stringLength())
	}
	if each == 0 || times(n, each) > mostFill {
		return Tensor{}, fmt.Errorf("input %q, %s of shape %s, is too large to generate", spec.Name, spec.Datatype, ShapeText(shape))
	}
	t.Data = make([]byte, 0, n*each)
	switch {
	case spec.Datatype == Bytes:
		for range n {
			t.Data = f.appendString(t.Data, rng)
		}
	case f.Kind == FillZero:
		t.Data = t.Data[:n*each]
	default:
		for range n {
			t.Data = appendRandom(t.Data, spec.Datatype, rng)
		}
	}
	return t, nil
}

func (f *Fill) stringLength() int {
	switch {
	case f.String != "":
		return len(f.String)
	case f.Length > 0:
		return f.Length
	default:
		return DefaultLength
	}
}

func (f *Fill) appendString(dst []byte, rng *rand.Rand) []byte {
	if f.String != "" {
		return AppendString(dst, f.String)
	}
	size := f.stringLength()
	dst = appendInt(dst, uint64(size), 4)
	for range size {
		dst = append(dst, letters[rng.IntN(len(letters))])
	}
	return dst
}

// appendRandom adds a random element: any whole number, a number from 0 to 1, true or
// false.
func appendRandom(dst []byte, d Datatype, rng *rand.Rand) []byte {
	switch {
	case d == Bool:
		return append(dst, byte(rng.Uint64()&1))
	case d.Float():
		return AppendFloat(dst, d, rng.Float64())
	default:
		return appendInt(dst, rng.Uint64(), d.Size())
	}
}
