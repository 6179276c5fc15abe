package mock

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// jsonTensor is a tensor in the JSON of a request.
type jsonTensor struct {
	Name       string                     `json:"name"`
	Datatype   string                     `json:"datatype"`
	Shape      []int64                    `json:"shape"`
	Parameters map[string]json.RawMessage `json:"parameters"`
	Data       json.RawMessage            `json:"data"`
}

// jsonParameter reads a parameter's value, whatever its type.
func jsonParameter(raw json.RawMessage) parameter {
	var v parameter
	switch text := string(raw); {
	case text == "true":
		v.flag = true
	case strings.HasPrefix(text, `"`):
		_ = json.Unmarshal(raw, &v.text)
	default:
		v.number, _ = strconv.ParseInt(text, 10, 64)
	}
	return v
}

// readJSON reads the body of an infer request: JSON, and behind it the raw bytes of
// tensors where length says how long the JSON is.
func (r *inferRequest) readJSON(body []byte, length int) *rpcError {
	rest := []byte(nil)
	if length > 0 && length <= len(body) {
		body, rest = body[:length], body[length:]
	}
	var doc struct {
		ID         string                     `json:"id"`
		Parameters map[string]json.RawMessage `json:"parameters"`
		Inputs     *[]jsonTensor              `json:"inputs"`
		Outputs    []jsonTensor               `json:"outputs"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return refusal(codeInternal, "failed to parse the request JSON buffer: %v", err)
	}
	if doc.Inputs == nil {
		return refusal(codeInternal, "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'")
	}
	r.id = doc.ID
	for name, v := range doc.Parameters {
		r.setParameter(name, jsonParameter(v))
	}
	for _, o := range doc.Outputs {
		w := outputWish{name: o.Name}
		for name, v := range o.Parameters {
			w.setParameter(name, jsonParameter(v))
		}
		r.outputs = append(r.outputs, w)
	}
	for _, t := range *doc.Inputs {
		in := inputTensor{name: t.Name, datatype: t.Datatype, shape: t.Shape}
		size := int64(-1)
		for name, v := range t.Parameters {
			p := jsonParameter(v)
			in.setParameter(name, p)
			if name == "binary_data_size" {
				size = p.number
			}
		}
		switch {
		case in.region != "":
		case size >= 0:
			if size > int64(len(rest)) {
				return refusal(codeInvalid, "unexpected size for input '%s', expecting %d additional bytes for model '%s'", t.Name, size-int64(len(rest)), r.model)
			}
			in.data, rest = rest[:size], rest[size:]
		default:
			data, err := rawOf(t.Datatype, t.Data, elements(t.Shape))
			if err != nil {
				return refusal(codeInternal, "Unable to parse 'data': %v", err)
			}
			in.data = data
		}
		in.has = true
		r.inputs = append(r.inputs, in)
	}
	if len(rest) > 0 {
		return refusal(codeInvalid, "unexpected additional input data for model '%s'", r.model)
	}
	return nil
}

// rawOf makes the values of a JSON array, however it is nested, raw.
func rawOf(datatype string, data json.RawMessage, want int64) ([]byte, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("attempt to access non-existing object member 'data'")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var raw []byte
	var n int64
	for {
		token, err := d.Token()
		if err != nil {
			break // the end: the whole has been decoded once already
		}
		if _, ok := token.(json.Delim); ok {
			continue
		}
		n++
		if raw, err = appendValue(raw, datatype, token); err != nil {
			return nil, err
		}
	}
	if n != want {
		return nil, fmt.Errorf("Shape does not match true shape of 'data' field")
	}
	return raw, nil
}

// appendValue writes a JSON value raw.
func appendValue(b []byte, datatype string, v json.Token) ([]byte, error) {
	switch datatype {
	case "BYTES":
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("attempt to access JSON non-string as string")
		}
		return appendBytes(b, s), nil
	case "BOOL":
		switch x := v.(type) {
		case bool:
			return append(b, byte(boolInt(x))), nil
		case json.Number:
			return append(b, byte(boolInt(x != "0"))), nil
		}
		return nil, fmt.Errorf("attempt to access JSON non-boolean as boolean")
	}
	text, ok := v.(json.Number)
	if !ok {
		return nil, fmt.Errorf("attempt to access JSON non-number as number")
	}
	switch datatype {
	case "FP32", "FP64":
		f, err := text.Float64()
		if err != nil {
			return nil, err
		}
		if datatype == "FP32" {
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f))), nil
		}
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(f)), nil
	case "FP16", "BF16":
		return nil, fmt.Errorf("datatype %s must be given as binary data", datatype)
	case "UINT64":
		u, err := strconv.ParseUint(string(text), 10, 64)
		return appendTyped(b, datatype, u), err
	}
	i, err := strconv.ParseInt(string(text), 10, 64)
	return appendTyped(b, datatype, uint64(i)), err
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
}

// readGenerate reads the body of generate: members that are inputs of the model are
// tensors, the others parameters; "parameters" holds more of both.
func (r *inferRequest) readGenerate(body []byte, m *tritonModel) *rpcError {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil {
		return refusal(codeInternal, "failed to parse the request JSON buffer: %v", err)
	}
	if raw, ok := doc["id"]; ok {
		if err := json.Unmarshal(raw, &r.id); err != nil {
			return refusal(codeInternal, "Unable to parse 'id': attempt to access JSON non-string as string")
		}
		delete(doc, "id")
	}
	for _, spec := range m.spec.inputs {
		raw, ok := doc[spec.name]
		if ok {
			delete(doc, spec.name)
			if failure := r.generateInput(m, &spec, raw); failure != nil {
				return failure
			}
		}
	}
	nested, ok := doc["parameters"]
	delete(doc, "parameters")
	for name, v := range doc {
		r.setParameter(name, jsonParameter(v))
	}
	if !ok {
		return nil
	}
	var more map[string]json.RawMessage
	if err := json.Unmarshal(nested, &more); err != nil {
		return refusal(codeInternal, "Unable to parse 'parameters': attempt to access JSON non-object as object")
	}
	for name, v := range more {
		spec := tensorOf(m.spec.inputs, name)
		if spec == nil || r.find(name) != nil {
			r.setParameter(name, jsonParameter(v))
			continue
		}
		if failure := r.generateInput(m, spec, v); failure != nil {
			return failure
		}
	}
	return nil
}

// generateInput makes a member of generate's JSON a tensor.
func (r *inferRequest) generateInput(m *tritonModel, spec *tensorSpec, raw json.RawMessage) *rpcError {
	var list []json.RawMessage
	n := int64(1)
	if json.Unmarshal(raw, &list) == nil {
		n = int64(len(list))
	}
	data, err := rawOf(spec.datatype, raw, n)
	if err != nil {
		what := "value"
		if spec.datatype == "BYTES" {
			what = "JSON bytes array"
		}
		return refusal(codeInternal, "Unable to parse %s: %v", what, err)
	}
	shape := []int64{n}
	if m.spec.maxBatch > 0 {
		shape = []int64{1, n}
	}
	r.inputs = append(r.inputs, inputTensor{name: spec.name, datatype: spec.datatype, shape: shape, data: data, has: true})
	return nil
}

// appendJSONValues writes raw values as JSON, separated by commas.
func appendJSONValues(b []byte, datatype string, data []byte) []byte {
	size := elementSize(datatype)
	for i := 0; len(data) > 0; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		if size == 0 {
			n := min(stringLength(data), len(data)-4)
			b = appendQuoted(b, string(data[4:4+n]))
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
