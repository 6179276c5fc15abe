package triton

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/wire/grpc"
)

// The field numbers of the protocol's messages that are read or written by hand.
const (
	// ModelStreamInferResponse
	fieldErrorMessage  = 1
	fieldInferResponse = 2

	// ModelInferRequest and ModelInferResponse
	fieldModelName    = 1
	fieldModelVersion = 2
	fieldID           = 3
	fieldParameters   = 4
	fieldTensors      = 5 // inputs of a request, outputs of a response
	fieldOutputs      = 6 // that a request asks for
	fieldRawOutputs   = 6
	fieldRawInputs    = 7

	// InferInputTensor and InferOutputTensor
	fieldTensorName       = 1
	fieldTensorDatatype   = 2
	fieldTensorShape      = 3
	fieldTensorParameters = 4
	fieldTensorContents   = 5

	// InferRequestedOutputTensor
	fieldOutputParameters = 2

	// an entry of a map
	fieldKey   = 1
	fieldValue = 2

	// InferParameter
	fieldBoolParameter   = 1
	fieldIntParameter    = 2
	fieldStringParameter = 3
	fieldDoubleParameter = 4
	fieldUintParameter   = 5
)

var _ grpc.Sorter = sortResponse

// sortResponse says whose a message of a ModelStreamInfer stream is, and whether it is
// the last one of its request. It runs on the clock, once for each message: it looks
// at the bytes and keeps nothing.
func sortResponse(message []byte) (id []byte, last, failed bool) {
	for b := message; len(b) > 0; {
		num, typ, value, rest, ok := nextField(b)
		if !ok {
			return id, last, failed
		}
		b = rest
		if typ != protowire.BytesType {
			continue
		}
		switch num {
		case fieldErrorMessage:
			failed = len(value) > 0
		case fieldInferResponse:
			id, last = sortInner(value, id, last)
		}
	}
	return id, last || failed, failed
}

// sortInner looks at a ModelInferResponse. What it has takes the place of what an
// earlier piece of the same message had.
func sortInner(b, id []byte, last bool) ([]byte, bool) {
	for len(b) > 0 {
		num, typ, value, rest, ok := nextField(b)
		if !ok {
			return id, last
		}
		b = rest
		if typ != protowire.BytesType {
			continue
		}
		switch num {
		case fieldID:
			id = value
		case fieldParameters:
			if final, ok := finalParameter(value); ok {
				last = final
			}
		}
	}
	return id, last
}

// finalParameter reads an entry of the map of parameters, if it is the one that marks
// the last response.
func finalParameter(entry []byte) (final, ok bool) {
	for len(entry) > 0 {
		num, typ, value, rest, good := nextField(entry)
		if !good {
			return final, ok
		}
		entry = rest
		if typ != protowire.BytesType {
			continue
		}
		switch num {
		case fieldKey:
			ok = string(value) == kserve.ParameterFinal
		case fieldValue:
			final = boolParameter(value, final)
		}
	}
	return final, ok
}

// boolParameter reads an InferParameter as true or false. Of several values the last
// counts, and one of another type is false.
func boolParameter(b []byte, final bool) bool {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return final
		}
		b = b[n:]
		if num == fieldBoolParameter && typ == protowire.VarintType {
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return final
			}
			final, b = v != 0, b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return final
		}
		switch {
		case num == fieldIntParameter && typ == protowire.VarintType, num == fieldUintParameter && typ == protowire.VarintType,
			num == fieldStringParameter && typ == protowire.BytesType, num == fieldDoubleParameter && typ == protowire.Fixed64Type:
			final = false
		}
		b = b[n:]
	}
	return final
}

// nextField takes the first field off a message. value is that of a field with bytes,
// and the undecoded one of any other.
func nextField(b []byte) (num protowire.Number, typ protowire.Type, value, rest []byte, ok bool) {
	// Nearly all fields have a tag of one byte and are shorter than 128 bytes.
	if len(b) >= 2 && b[0] < 0x80 && b[0]&7 == byte(protowire.BytesType) && b[0] >= 8 && b[1] < 0x80 {
		if end := 2 + int(b[1]); end <= len(b) {
			return protowire.Number(b[0] >> 3), protowire.BytesType, b[2:end], b[end:], true
		}
		return 0, 0, nil, nil, false
	}
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return 0, 0, nil, nil, false
	}
	b = b[n:]
	if typ == protowire.BytesType {
		value, n = protowire.ConsumeBytes(b)
	} else if n = protowire.ConsumeFieldValue(num, typ, b); n >= 0 {
		value = b[:n]
	}
	if n < 0 {
		return 0, 0, nil, nil, false
	}
	return num, typ, value, b[n:], true
}

// frame takes the first gRPC message off a body: a prefix of five bytes and as many
// as it says.
func frame(body []byte) (message, rest []byte, ok bool) {
	if len(body) < 5 {
		return nil, nil, false
	}
	n := uint64(binary.BigEndian.Uint32(body[1:]))
	if n > uint64(len(body)-5) {
		return nil, nil, false
	}
	return body[5 : 5+n], body[5+n:], true
}
