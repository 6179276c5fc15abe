package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// partial reads how many spans or points a collector refused, and why, out of its response.
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

// fields hands over each field's number, and its value or content. It ends at what is not protobuf.
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
