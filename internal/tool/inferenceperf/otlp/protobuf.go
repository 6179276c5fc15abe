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

// id adds an identity that JSON has in hexadecimal.
func (m *message) id(field protowire.Number, s string) {
	if b, err := hex.DecodeString(s); err == nil && len(b) > 0 {
		m.bytes(field, b)
	}
}

func (m *message) attributes(field protowire.Number, list []attribute) {
	for _, a := range list {
		var pair message
		pair.text(1, a.Key)
		pair.bytes(2, a.Value.protobuf())
		m.bytes(field, pair)
	}
}

// protobuf is an opentelemetry.proto.common.v1.AnyValue.
func (v value) protobuf() (m message) {
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

// protobuf is an opentelemetry.proto.trace.v1.Span.
func (s *span) protobuf() (m message) {
	m.id(1, s.TraceID)
	m.id(2, s.SpanID)
	m.id(4, s.Parent)
	m.text(5, s.Name)
	m.varint(6, uint64(s.Kind))
	m.fixed(7, uint64(s.Start))
	m.fixed(8, uint64(s.End))
	m.attributes(9, s.Attributes)
	for _, e := range s.Events {
		var event message
		event.fixed(1, uint64(e.Time))
		event.text(2, e.Name)
		m.bytes(11, event)
	}
	if s.Status != (status{}) {
		var end message
		end.text(2, s.Status.Message)
		end.varint(3, uint64(s.Status.Code))
		m.bytes(15, end)
	}
	return m
}

// protobuf is the batch as an opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest.
func (e *Exporter) protobuf() (m message) {
	var resource, scope, spans, all message
	resource.attributes(1, e.resource())
	scope.text(1, scopeName)
	scope.text(2, e.maker.run.Version)
	spans.bytes(1, scope)
	for i := range e.batch {
		spans.bytes(2, e.batch[i].protobuf())
	}
	all.bytes(1, resource)
	all.bytes(2, spans)
	m.bytes(1, all)
	return m
}

// partial reads how many spans a collector refused, and why, out of an
// ExportTraceServiceResponse.
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
