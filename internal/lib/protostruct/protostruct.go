// Package protostruct writes structs as messages in protobuf's binary form. A field that goes
// there has its number as a tag, `pb:"7"`, and behind it, where the type does not say enough:
//
//	fixed   a whole number of 64 bits, rather than a varint
//	zigzag  a whole number that may well be below 0
//	hex     bytes that the struct has as text in hexadecimal
//	always  what is zero is written, too
//
// As protobuf has it, what is zero is left out otherwise; what a pointer points to is written.
package protostruct

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Append adds a message with the fields of a struct, which may be behind a pointer.
func Append(b []byte, message any) []byte {
	return encoder{}.structure(b, reflect.Indirect(reflect.ValueOf(message)))
}

// encoder has the fields of the structs that it has met.
type encoder map[reflect.Type][]field

type field struct {
	index  int // in the struct
	number protowire.Number
	form   string
}

func (e encoder) fields(t reflect.Type) []field {
	known, ok := e[t]
	if ok {
		return known
	}
	for i := range t.NumField() {
		number, form, _ := strings.Cut(t.Field(i).Tag.Get("pb"), ",")
		if number == "" {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			panic(fmt.Sprintf("protostruct: %s.%s has the number %q", t, t.Field(i).Name, number))
		}
		known = append(known, field{i, protowire.Number(n), form})
	}
	e[t] = known
	return known
}

func (e encoder) structure(b []byte, message reflect.Value) []byte {
	for _, f := range e.fields(message.Type()) {
		v := message.Field(f.index)
		switch {
		case v.IsZero() && f.form != "always":
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			for k := range v.Len() {
				b = e.value(b, f, v.Index(k))
			}
		case v.Kind() == reflect.Slice:
			var packed []byte
			for k := range v.Len() {
				packed, _ = appendNumber(packed, v.Index(k), f.form)
			}
			b = appendBytes(b, f.number, packed)
		default:
			b = e.value(b, f, reflect.Indirect(v))
		}
	}
	return b
}

func (e encoder) value(b []byte, f field, v reflect.Value) []byte {
	switch {
	case v.Kind() == reflect.Struct:
		return appendBytes(b, f.number, e.structure(nil, v))
	case f.form == "hex":
		if id, err := hex.DecodeString(v.String()); err == nil {
			return appendBytes(b, f.number, id)
		}
		return b
	case v.Kind() == reflect.String:
		return protowire.AppendString(protowire.AppendTag(b, f.number, protowire.BytesType), v.String())
	}
	var room [10]byte
	number, kind := appendNumber(room[:0], v, f.form)
	return append(protowire.AppendTag(b, f.number, kind), number...)
}

func appendBytes(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}

func appendNumber(b []byte, v reflect.Value, form string) ([]byte, protowire.Type) {
	var n uint64
	switch {
	case v.CanFloat():
		return protowire.AppendFixed64(b, math.Float64bits(v.Float())), protowire.Fixed64Type
	case v.Kind() == reflect.Bool:
		n = protowire.EncodeBool(v.Bool())
	case v.CanInt() && form == "zigzag":
		n = protowire.EncodeZigZag(v.Int())
	case v.CanInt():
		n = uint64(v.Int())
	default:
		n = v.Uint()
	}
	if form == "fixed" {
		return protowire.AppendFixed64(b, n), protowire.Fixed64Type
	}
	return protowire.AppendVarint(b, n), protowire.VarintType
}
