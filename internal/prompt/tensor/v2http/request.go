// Package v2http encodes the infer requests of the KServe v2 protocol over HTTP and decodes
// responses: JSON, and Triton's extension of raw bytes behind it. It does no I/O.
package v2http

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// HeaderLength is the HTTP header that says how many bytes are JSON where raw bytes follow.
const HeaderLength = "Inference-Header-Content-Length"

// The parameters of the protocol that this package reads and writes.
const (
	binaryData    = "binary_data"
	binarySize    = "binary_data_size"
	binaryOutputs = "binary_data_output"
	regionName    = "shared_memory_region"
	regionSize    = "shared_memory_byte_size"
	regionOffset  = "shared_memory_offset"
)

// MemoryRegion is a piece of shared memory in which a tensor lies. Without a name there is
// none.
type MemoryRegion struct {
	Name         string
	Size, Offset int64
}

// Input is a tensor to send.
type Input struct {
	tensor.Tensor
	JSON   bool         // as JSON where JSON can say it; else as raw bytes
	Region MemoryRegion // the tensor lies here and is not sent
}

// Output is a tensor to ask for.
type Output struct {
	Name   string
	JSON   bool
	Region MemoryRegion // where the server is to put it
}

// Request is one inference.
type Request struct {
	ID         string
	Parameters map[string]any // bool, any kind of number, or string
	Inputs     []Input
	Outputs    []Output // none: all that the model has
	// BinaryOutputs asks for raw bytes of all outputs where none are named.
	BinaryOutputs bool
}

// Append adds the body of the request. header is the value of HeaderLength; 0: JSON alone, without
// it.
func (r *Request) Append(dst []byte) (body []byte, header int, err error) {
	start := len(dst)
	dst = append(dst, '{')
	if r.ID != "" {
		dst = append(dst, `"id":`...)
		dst = append(tensor.AppendQuoted(dst, r.ID), ',')
	}
	parameters := r.Parameters
	if r.BinaryOutputs && len(r.Outputs) == 0 {
		parameters = maps.Clone(parameters)
		if parameters == nil {
			parameters = map[string]any{}
		}
		parameters[binaryOutputs] = true
	}
	if len(parameters) > 0 {
		if dst, err = appendParameters(dst, parameters); err != nil {
			return nil, 0, err
		}
		dst = append(dst, ',')
	}
	dst = append(dst, `"inputs":[`...)
	for i := range r.Inputs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.Inputs[i].append(dst)
	}
	dst = append(dst, ']')
	if len(r.Outputs) > 0 {
		dst = append(dst, `,"outputs":[`...)
		for i := range r.Outputs {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = r.Outputs[i].append(dst)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, '}')
	size := len(dst) - start
	for i := range r.Inputs {
		if in := &r.Inputs[i]; in.raw() {
			dst, header = append(dst, in.Data...), size
		}
	}
	return dst, header, nil
}

// raw reports whether the tensor goes as raw bytes after the JSON.
func (in *Input) raw() bool {
	return in.Region.Name == "" && (!in.JSON || !Sayable(&in.Tensor))
}

// Sayable reports whether a server takes the tensor as JSON: 16-bit floating point has no JSON
// form, nor have numbers that are not finite and strings not in UTF-8.
func Sayable(t *tensor.Tensor) bool {
	switch {
	case t.Datatype == tensor.FP16 || t.Datatype == tensor.BF16:
		return false
	case t.Datatype == tensor.Bytes:
		for s := range t.Strings() {
			if !utf8.Valid(s) {
				return false
			}
		}
	case t.Datatype.Float():
		return t.Finite()
	}
	return true
}

func (in *Input) append(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = tensor.AppendQuoted(dst, in.Name)
	dst = append(dst, `,"shape":[`...)
	for i, d := range in.Shape {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, d, 10)
	}
	dst = append(dst, `],"datatype":"`...)
	dst = append(dst, in.Datatype.String()...)
	dst = append(dst, '"')
	switch {
	case in.Region.Name != "":
		dst = append(dst, `,"parameters":`...)
		dst = in.Region.append(dst)
	case in.raw():
		dst = append(dst, `,"parameters":{"`+binarySize+`":`...)
		dst = strconv.AppendInt(dst, int64(len(in.Data)), 10)
		dst = append(dst, '}')
	default:
		dst = append(dst, `,"data":`...)
		dst = in.AppendJSON(dst)
	}
	return append(dst, '}')
}

func (o *Output) append(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = tensor.AppendQuoted(dst, o.Name)
	dst = append(dst, `,"parameters":`...)
	if o.Region.Name != "" {
		dst = o.Region.append(dst)
	} else {
		dst = append(dst, `{"`+binaryData+`":`...)
		dst = strconv.AppendBool(dst, !o.JSON)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func (r MemoryRegion) append(dst []byte) []byte {
	dst = append(dst, `{"`+regionName+`":`...)
	dst = tensor.AppendQuoted(dst, r.Name)
	dst = append(dst, `,"`+regionSize+`":`...)
	dst = strconv.AppendInt(dst, r.Size, 10)
	if r.Offset != 0 {
		dst = append(dst, `,"`+regionOffset+`":`...)
		dst = strconv.AppendInt(dst, r.Offset, 10)
	}
	return append(dst, '}')
}

// appendParameters writes parameters by name: the same request has the same bytes.
func appendParameters(dst []byte, parameters map[string]any) ([]byte, error) {
	dst = append(dst, `"parameters":{`...)
	for i, name := range slices.Sorted(maps.Keys(parameters)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(tensor.AppendQuoted(dst, name), ':')
		switch v := parameters[name].(type) {
		case bool:
			dst = strconv.AppendBool(dst, v)
		case int:
			dst = strconv.AppendInt(dst, int64(v), 10)
		case int64:
			dst = strconv.AppendInt(dst, v, 10)
		case uint64:
			dst = strconv.AppendUint(dst, v, 10)
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("request parameter %q is %v, which JSON cannot say", name, v)
			}
			dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
		case string:
			dst = tensor.AppendQuoted(dst, v)
		default:
			return nil, fmt.Errorf("request parameter %q is a %T; it must be true or false, a number or text", name, v)
		}
	}
	return append(dst, '}'), nil
}
