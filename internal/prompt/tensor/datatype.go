package tensor

import (
	"fmt"
	"strings"
)

// Datatype is the type of a tensor's elements.
type Datatype uint8

// The datatypes of the protocol.
const (
	Unknown Datatype = iota
	Bool
	Uint8
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	FP16
	FP32
	FP64
	BF16
	Bytes // strings, each with its length in front
)

// datatypes are the protocol's names and the size of an element in bytes.
var datatypes = [...]struct {
	name string
	size int
}{
	Unknown: {"unknown", 0},
	Bool:    {"BOOL", 1},
	Uint8:   {"UINT8", 1},
	Uint16:  {"UINT16", 2},
	Uint32:  {"UINT32", 4},
	Uint64:  {"UINT64", 8},
	Int8:    {"INT8", 1},
	Int16:   {"INT16", 2},
	Int32:   {"INT32", 4},
	Int64:   {"INT64", 8},
	FP16:    {"FP16", 2},
	FP32:    {"FP32", 4},
	FP64:    {"FP64", 8},
	BF16:    {"BF16", 2},
	Bytes:   {"BYTES", 0},
}

// ParseDatatype takes a name of metadata ("FP32", "BYTES") or a config ("TYPE_FP32",
// "TYPE_STRING").
func ParseDatatype(name string) (Datatype, error) {
	short, inConfig := strings.CutPrefix(name, "TYPE_")
	if inConfig && short == "STRING" {
		return Bytes, nil
	}
	for d, row := range datatypes {
		if row.name == short && Datatype(d) != Unknown {
			return Datatype(d), nil
		}
	}
	return Unknown, fmt.Errorf("unknown datatype %q; known: %s", name, strings.Join(Datatypes(), ", "))
}

// Datatypes are the names of all datatypes.
func Datatypes() []string {
	var names []string
	for _, row := range datatypes[Unknown+1:] {
		names = append(names, row.name)
	}
	return names
}

// String is the name that metadata uses.
func (d Datatype) String() string {
	if int(d) < len(datatypes) {
		return datatypes[d].name
	}
	return datatypes[Unknown].name
}

// Size is the bytes of one element; 0 for Bytes, whose elements differ in size.
func (d Datatype) Size() int {
	if int(d) < len(datatypes) {
		return datatypes[d].size
	}
	return 0
}

// Float reports whether elements are floating-point numbers.
func (d Datatype) Float() bool { return d >= FP16 && d <= BF16 }

// Unsigned reports whether elements are integers without a sign.
func (d Datatype) Unsigned() bool { return d >= Uint8 && d <= Uint64 }

// Signed reports whether elements are integers with a sign.
func (d Datatype) Signed() bool { return d >= Int8 && d <= Int64 }
