package repository

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
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

// ReadJSON reads the body of an infer request: JSON, and behind it the raw bytes of
// tensors where length says how long the JSON is.
func (r *Request) ReadJSON(body []byte, length int) *StatusError {
	var rest []byte
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
		return Refuse(CodeInternal, "failed to parse the request JSON buffer: %v", err)
	}
	if doc.Inputs == nil {
		return Refuse(CodeInternal, "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'")
	}
	r.ID = doc.ID
	for name, v := range doc.Parameters {
		r.setParameter(name, jsonParameter(v))
	}
	for _, o := range doc.Outputs {
		w := RequestedOutput{Name: o.Name}
		for name, v := range o.Parameters {
			w.setParameter(name, jsonParameter(v))
		}
		r.Outputs = append(r.Outputs, w)
	}
	for _, t := range *doc.Inputs {
		in := Input{name: t.Name, datatype: t.Datatype, Shape: t.Shape}
		size := int64(-1)
		for name, v := range t.Parameters {
			p := jsonParameter(v)
			in.setParameter(name, p)
			if name == "binary_data_size" {
				size = p.number
			}
		}
		switch {
		case in.Region != "":
		case size >= 0:
			if size > int64(len(rest)) {
				return Refuse(CodeInvalid, "unexpected size for input '%s', expecting %d additional bytes for model '%s'", t.Name, size-int64(len(rest)), r.Model)
			}
			in.Data, rest = rest[:size], rest[size:]
		default:
			data, err := rawOf(t.Datatype, t.Data, Elements(t.Shape))
			if err != nil {
				return Refuse(CodeInternal, "Unable to parse 'data': %v", err)
			}
			in.Data = data
		}
		in.has = true
		r.Inputs = append(r.Inputs, in)
	}
	if len(rest) > 0 {
		return Refuse(CodeInvalid, "unexpected additional input data for model '%s'", r.Model)
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
		return AppendBytes(b, s), nil
	case "BOOL":
		switch x := v.(type) {
		case bool:
			return append(b, byte(protowire.EncodeBool(x))), nil
		case json.Number:
			return append(b, byte(protowire.EncodeBool(x != "0"))), nil
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

// ReadGenerate reads the body of generate: members that are inputs of the model are
// tensors, the others parameters; "parameters" holds more of both.
func (r *Request) ReadGenerate(body []byte, m *Model) *StatusError {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil {
		return Refuse(CodeInternal, "failed to parse the request JSON buffer: %v", err)
	}
	if raw, ok := doc["id"]; ok {
		if err := json.Unmarshal(raw, &r.ID); err != nil {
			return Refuse(CodeInternal, "Unable to parse 'id': attempt to access JSON non-string as string")
		}
		delete(doc, "id")
	}
	for _, spec := range m.Spec.inputs {
		if raw, ok := doc[spec.name]; ok {
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
		return Refuse(CodeInternal, "Unable to parse 'parameters': attempt to access JSON non-object as object")
	}
	for name, v := range more {
		spec := tensorOf(m.Spec.inputs, name)
		if spec == nil || r.Find(name) != nil {
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
func (r *Request) generateInput(m *Model, spec *Tensor, raw json.RawMessage) *StatusError {
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
		return Refuse(CodeInternal, "Unable to parse %s: %v", what, err)
	}
	shape := []int64{n}
	if m.Spec.MaxBatch > 0 {
		shape = []int64{1, n}
	}
	r.Inputs = append(r.Inputs, Input{name: spec.name, datatype: spec.datatype, Shape: shape, Data: data, has: true})
	return nil
}

// AppendBytes writes an element of a BYTES tensor.
func AppendBytes(b []byte, v string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}
