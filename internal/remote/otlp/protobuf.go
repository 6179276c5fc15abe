package otlp

import (
	"encoding/hex"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is one in protobuf's binary form. Its methods add a field by its number; what
// is empty is left out, as protobuf has it.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) {
	if s != "" {
		m.bytes(field, []byte(s))
	}
}

func (m *message) varint(field protowire.Number, n uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), n)
}

func (m *message) fixed(field protowire.Number, n uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), n)
}

// packed adds a list of numbers of 64 bits.
func (m *message) packed(field protowire.Number, list []uint64) {
	b := make([]byte, 0, 8*len(list))
	for _, n := range list {
		b = protowire.AppendFixed64(b, n)
	}
	m.bytes(field, b)
}

// id adds an identity that JSON has in hexadecimal.
func (m *message) id(field protowire.Number, s string) {
	if b, err := hex.DecodeString(s); err == nil && len(b) > 0 {
		m.bytes(field, b)
	}
}

func (m *message) attributes(field protowire.Number, list []Attribute) {
	for _, a := range list {
		var pair message
		pair.text(1, a.Key)
		pair.bytes(2, a.Value.protobuf())
		m.bytes(field, pair)
	}
}

// protobuf is an opentelemetry.proto.common.v1.AnyValue.
func (v Value) protobuf() (m message) {
	switch {
	case v.String != nil:
		m.bytes(1, []byte(*v.String))
	case v.Bool != nil:
		m.varint(2, protowire.EncodeBool(*v.Bool))
	case v.Int != nil:
		m.varint(3, uint64(*v.Int))
	case v.Double != nil:
		m.fixed(4, math.Float64bits(*v.Double))
	case v.Array != nil:
		var list message
		for _, e := range v.Array.Values {
			list.bytes(1, e.protobuf())
		}
		m.bytes(5, list)
	}
	return m
}

// partial reads how many spans or points a collector refused, and why, out of its answer.
func partial(answer []byte) (rejected int64, why string) {
	fields(answer, func(field protowire.Number, n uint64, b []byte) {
		if field != 1 {
			return
		}
		fields(b, func(field protowire.Number, n uint64, b []byte) {
			switch field {
			case 1:
				rejected = int64(n)
			case 2:
				why = string(b)
			}
		})
	})
	return rejected, why
}

// fields hands over each field of a message: its number, and its value or content. It
// ends at what is not protobuf.
func fields(b []byte, each func(field protowire.Number, n uint64, content []byte)) {
	for len(b) > 0 {
		field, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return
		}
		b = b[size:]
		var n uint64
		var content []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			content, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(field, kind, b)
		}
		if size < 0 {
			return
		}
		each(field, n, content)
		b = b[size:]
	}
}
