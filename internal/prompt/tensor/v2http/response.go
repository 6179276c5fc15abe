package v2http

import (
	"fmt"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Result is an output of a response.
type Result struct {
	tensor.Tensor
	// Absent: the response does not carry the tensor, because it lies in the shared
	// memory that the request named. Servers need not name it again.
	Absent bool
}

// Response is what an inference gives.
type Response struct {
	Model      string
	Version    string
	ID         string
	Parameters map[string]any // bool, int64, uint64, float64 or string
	Outputs    []Result
	Error      string // the server's; the rest is then empty
}

// Tensors are the outputs that the response carries.
func (r *Response) Tensors() []tensor.Tensor {
	var all []tensor.Tensor
	for i := range r.Outputs {
		if !r.Outputs[i].Absent {
			all = append(all, r.Outputs[i].Tensor)
		}
	}
	return all
}

// Decode reads the body of a response. header is the value of HeaderLength, which says
// where the JSON ends; 0: the whole body is JSON. Raw tensors are parts of body.
func Decode(body []byte, header int) (*Response, error) {
	if header < 0 || header > len(body) {
		return nil, fmt.Errorf("the header %s says %d, and the body has %d bytes", HeaderLength, header, len(body))
	}
	raw := body[len(body):]
	if header > 0 {
		body, raw = body[:header], body[header:]
	}
	d := decoder{text: body, raw: raw}
	d.scan.Reset(body)
	var r Response
	d.scan.Object()
	for key, ok := d.scan.Key(); ok; key, ok = d.scan.Key() {
		switch string(key) {
		case "model_name":
			r.Model = d.string()
		case "model_version":
			r.Version = d.string()
		case "id":
			r.ID = d.string()
		case "error":
			r.Error = d.string()
		case "parameters":
			r.Parameters = d.parameters()
		case "outputs":
			d.outputs(&r)
		default:
			d.scan.Skip()
		}
		if d.err != nil {
			return nil, d.err
		}
	}
	d.scan.End()
	if err := d.scan.Err(); err != nil {
		return nil, fmt.Errorf("the response is not the JSON of an inference: %w", err)
	}
	if len(d.raw) > 0 && r.Error == "" {
		return nil, fmt.Errorf("%d bytes follow the last tensor of the response", len(d.raw))
	}
	return &r, nil
}

type decoder struct {
	scan jsonscan.Scanner
	text []byte
	raw  []byte // what is left of the bytes after the JSON
	err  error
}

// string takes a string; null is an empty one.
func (d *decoder) string() string {
	if d.scan.Null() {
		return ""
	}
	return string(d.scan.Quoted())
}

func (d *decoder) parameters() map[string]any {
	all := map[string]any{}
	if d.scan.Null() {
		return nil
	}
	d.scan.Object()
	for key, ok := d.scan.Key(); ok; key, ok = d.scan.Key() {
		name := string(key)
		switch c := d.scan.Peek(); {
		case c == '"':
			all[name] = string(d.scan.Quoted())
		case c == 't' || c == 'f':
			all[name] = d.scan.Bool()
		case d.scan.IsNumber():
			all[name] = number(string(d.scan.Number()))
		default:
			d.scan.Skip() // no kind of value that a parameter can have
		}
	}
	return all
}

// number is a number of JSON in the narrowest type that holds it exactly.
func number(s string) any {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

func (d *decoder) outputs(r *Response) {
	d.scan.Array()
	for d.scan.More() {
		var o Result
		d.output(&o)
		if d.err != nil || d.scan.Err() != nil {
			return
		}
		r.Outputs = append(r.Outputs, o)
	}
}

// output reads a tensor, whose members stand in any order: its data waits for datatype and shape.
func (d *decoder) output(o *Result) {
	var datatype string
	var data []byte
	var parameters map[string]any
	d.scan.Object()
	for key, ok := d.scan.Key(); ok; key, ok = d.scan.Key() {
		switch string(key) {
		case "name":
			o.Name = d.string()
		case "datatype":
			datatype = d.string()
		case "shape":
			d.scan.Array()
			for d.scan.More() {
				o.Shape = append(o.Shape, d.scan.Int())
			}
		case "parameters":
			parameters = d.parameters()
		case "data":
			d.scan.Peek()
			start := d.scan.Pos()
			d.scan.Skip()
			data = d.text[start:d.scan.Pos()]
		default:
			d.scan.Skip()
		}
	}
	if d.scan.Err() != nil {
		return
	}
	if o.Datatype, d.err = tensor.ParseDatatype(datatype); d.err != nil {
		d.err = fmt.Errorf("output %q: %w", o.Name, d.err)
		return
	}
	if d.err = tensor.CheckShape(o.Shape); d.err != nil {
		d.err = fmt.Errorf("output %q: %w", o.Name, d.err)
		return
	}
	d.fill(o, parameters, data)
}

// fill finds the values of an output.
func (d *decoder) fill(o *Result, parameters map[string]any, data []byte) {
	if v, ok := parameters[binarySize]; ok {
		size, isInt := v.(int64)
		if !isInt || size < 0 || size > int64(len(d.raw)) {
			d.err = fmt.Errorf("output %q: %s is %v, and %d bytes are left in the response", o.Name, binarySize, v, len(d.raw))
			return
		}
		o.Data, d.raw = d.raw[:size:size], d.raw[size:]
		d.err = o.Check()
		return
	}
	if data == nil {
		o.Absent = true
		return
	}
	spec := tensor.Spec{Name: o.Name, Datatype: o.Datatype, Shape: o.Shape}
	o.Tensor, d.err = tensor.FromJSON(&spec, nil, data)
}
