package tensor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
)

// resolveShape finds the shape of values that a user gave: as the user says it, else as the
// model does, with what is free there filled in from the number and the nesting of
// the values. nested is nil where nothing is known about nesting.
func resolveShape(spec *Spec, given, nested []int64, n int64) ([]int64, error) {
	shape := spec.Shape
	if given != nil {
		if err := fits(spec, given); err != nil {
			return nil, err
		}
		shape = given
	}
	free := 0
	for _, d := range shape {
		if d < 0 {
			free++
		}
	}
	switch {
	case free > 0 && matches(nested, shape):
		shape = slices.Clone(nested)
	case free == 1:
		shape = fill(shape, n)
	case free > 1 && n == 1:
		shape = slices.Clone(shape)
		for i, d := range shape {
			if d < 0 {
				shape[i] = 1
			}
		}
	case free > 1:
		return nil, message.Errorf("tensor %q of the model's shape %s can have many shapes with %d values: state its shape, in the data%v",
			spec.Name, ShapeText(spec.Shape), n, message.New(" or with %v %s:D1,D2", message.Shape, spec.Name).Or(""))
	}
	if want := Elements(shape); want != n || shape == nil && len(spec.Shape) > 0 {
		return nil, fmt.Errorf("tensor %q, %s of shape %s, is given %d values", spec.Name, spec.Datatype, ShapeText(orElse(shape, spec.Shape)), n)
	}
	if len(nested) > 1 && !slices.Equal(nested, shape) && !slices.Equal(squeeze(nested), squeeze(shape)) {
		return nil, fmt.Errorf("tensor %q has shape %s, and its values nest as %s", spec.Name, ShapeText(shape), ShapeText(nested))
	}
	return shape, nil
}

func orElse(a, b []int64) []int64 {
	if a == nil {
		return b
	}
	return a
}

// squeeze leaves out dimensions of length 1.
func squeeze(shape []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(shape), func(d int64) bool { return d == 1 })
}

// matches reports whether a shape is one of those that a pattern allows.
func matches(shape, pattern []int64) bool {
	return len(shape) == len(pattern) && !slices.ContainsFunc(zip(shape, pattern), func(p [2]int64) bool {
		return p[1] >= 0 && p[0] != p[1]
	})
}

func zip(a, b []int64) [][2]int64 {
	pairs := make([][2]int64, len(a))
	for i := range a {
		pairs[i] = [2]int64{a[i], b[i]}
	}
	return pairs
}

// fill is the shape with its only free dimension such that n elements fit; nil where
// none does.
func fill(shape []int64, n int64) []int64 {
	full := slices.Clone(shape)
	at, rest := 0, int64(1)
	for i, d := range shape {
		if d < 0 {
			at = i
		} else {
			rest = times(rest, d)
		}
	}
	if rest == 0 || n%rest != 0 {
		return nil
	}
	full[at] = n / rest
	return full
}

// fits says whether the model can take a shape that a user gave.
func fits(spec *Spec, given []int64) error {
	for _, d := range given {
		if d < -1 {
			return fmt.Errorf("tensor %q: the shape %s has a negative dimension", spec.Name, ShapeText(given))
		}
	}
	if len(given) == len(spec.Shape) {
		ok := true
		for i, d := range given {
			ok = ok && (spec.Shape[i] < 0 || spec.Shape[i] == d)
		}
		if ok {
			return nil
		}
	}
	return fmt.Errorf("tensor %q: the given shape %s does not fit the model's %s", spec.Name, ShapeText(given), ShapeText(spec.Shape))
}

// ParseShape reads name:d1,d2 as command lines write it.
func ParseShape(s string) (name string, shape []int64, err error) {
	at := strings.LastIndexByte(s, ':')
	if at < 1 {
		return "", nil, fmt.Errorf("%q is not a shape; write it as NAME:D1,D2", s)
	}
	for word := range strings.SplitSeq(s[at+1:], ",") {
		d, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil || d < 1 {
			return "", nil, fmt.Errorf("the shape of %q has the dimension %q; dimensions are whole numbers from 1", s[:at], word)
		}
		shape = append(shape, d)
	}
	if err := CheckShape(shape); err != nil {
		return "", nil, err
	}
	return s[:at], shape, nil
}
