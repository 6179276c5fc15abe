package mock

import (
	"bytes"
	"math"
	"strconv"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

// appendJSONValues writes raw values as JSON, separated by commas.
func appendJSONValues(b []byte, datatype string, data []byte) []byte {
	size := repository.ElementSize(datatype)
	for i := 0; len(data) > 0; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		if size == 0 {
			n := min(repository.StringLength(data), len(data)-4)
			b = body.AppendQuoted(b, string(data[4:4+n]))
			data = data[4+n:]
			continue
		}
		b = appendJSONValue(b, datatype, data[:size])
		data = data[size:]
	}
	return b
}

func appendJSONValue(b []byte, datatype string, data []byte) []byte {
	var v uint64
	for i := len(data) - 1; i >= 0; i-- {
		v = v<<8 | uint64(data[i])
	}
	float := func(f float64, bits int) []byte {
		from := len(b)
		b = strconv.AppendFloat(b, f, 'g', -1, bits)
		if !bytes.ContainsAny(b[from:], ".e") {
			b = append(b, ".0"...)
		}
		return b
	}
	switch datatype {
	case "BOOL":
		return strconv.AppendBool(b, v != 0)
	case "FP32":
		return float(float64(math.Float32frombits(uint32(v))), 32)
	case "FP64":
		return float(math.Float64frombits(v), 64)
	case "INT8":
		return strconv.AppendInt(b, int64(int8(v)), 10)
	case "INT16":
		return strconv.AppendInt(b, int64(int16(v)), 10)
	case "INT32":
		return strconv.AppendInt(b, int64(int32(v)), 10)
	case "INT64":
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendUint(b, v, 10)
}
