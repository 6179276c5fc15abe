package repository

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Input is an input of a request, which owns its bytes.
type Input struct {
	name, datatype string
	Shape          []int64
	Data           []byte // raw, little-endian
	has            bool   // data was given in the request, not by reference
	memoryRange
}

// RequestedOutput is an output that a request asks for by name.
type RequestedOutput struct {
	Name   string
	Binary bool // HTTP: as bytes after the JSON
	memoryRange
}

// memoryRange is where in shared memory a tensor lies.
type memoryRange struct {
	Region       string // empty: it does not
	offset, size int64
}

// Request is a request for inference, whatever way it came.
type Request struct {
	Model, Version, ID string
	Inputs             []Input
	Outputs            []RequestedOutput
	EmptyFinal         bool // asks for a marker of the end
	BinaryOut          bool // HTTP: all outputs as bytes
	sequence           uint64
	sequenceName       string
	start, end         bool
	Sampling           Sampling // what vLLM's backend reads from parameters where no tensor says it

	shapes []int64 // where the inputs' shapes lie
	room   []byte  // where values lie that did not come raw
	names  interner
}

// Sampling is what decides how long a response is.
type Sampling struct {
	Max, Min  int
	IgnoreEOS bool
}

// Reset makes a request ready to be read into, and keeps its memory.
func (r *Request) Reset() {
	*r = Request{Sampling: Sampling{Max: -1}, Inputs: r.Inputs[:0], Outputs: r.Outputs[:0], shapes: r.shapes[:0], room: r.room[:0],
		names: r.names}
}

// interner keeps the few strings that all requests repeat.
type interner struct{ known map[string]string }

func (n *interner) get(b []byte) string {
	if s, ok := n.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if n.known == nil {
		n.known = make(map[string]string)
	}
	if len(n.known) < 256 && len(s) < 128 {
		n.known[s] = s
	}
	return s
}

// eachField calls f for each field of a message: v is a varint or fixed field, p the bytes of
// others.
func eachField(b []byte, f func(num protowire.Number, kind protowire.Type, v uint64, p []byte) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var p []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			p, n = protowire.ConsumeBytes(b)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(b)
			v = uint64(w)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := f(num, kind, v, p); err != nil {
			return err
		}
	}
	return nil
}

// ReadProto reads a ModelInferRequest.
func (r *Request) ReadProto(b []byte) error {
	r.Reset()
	return eachField(b, func(num protowire.Number, kind protowire.Type, _ uint64, p []byte) error {
		if kind != protowire.BytesType {
			return nil
		}
		switch num {
		case 1:
			r.Model = r.names.get(p)
		case 2:
			r.Version = r.names.get(p)
		case 3:
			r.ID = string(p)
		case 4:
			name, v, err := r.readEntry(p)
			r.setParameter(name, v)
			return err
		case 5:
			return r.readInput(p)
		case 6:
			return r.readOutput(p)
		case 7:
			r.fillRaw(p)
		}
		return nil
	})
}

// fillRaw gives the next raw contents to the next input that is not elsewhere. Clients send inputs
// first.
func (r *Request) fillRaw(p []byte) {
	for i := range r.Inputs {
		if in := &r.Inputs[i]; !in.has && in.Region == "" {
			in.Data, in.has = p, true
			return
		}
	}
}

type parameter struct {
	flag   bool
	number int64
	text   string
}

func (r *Request) readEntry(b []byte) (name string, value parameter, err error) {
	err = eachField(b, func(num protowire.Number, kind protowire.Type, _ uint64, p []byte) error {
		switch {
		case kind == protowire.BytesType && num == 1:
			name = r.names.get(p)
		case kind == protowire.BytesType && num == 2:
			return eachField(p, func(num protowire.Number, _ protowire.Type, v uint64, p []byte) error {
				switch num {
				case 1:
					value.flag = v != 0
				case 2, 5:
					value.number = int64(v)
				case 3:
					value.text = string(p)
				}
				return nil
			})
		}
		return nil
	})
	return name, value, err
}

func (r *Request) setParameter(name string, v parameter) {
	switch name {
	case "triton_enable_empty_final_response":
		r.EmptyFinal = v.flag
	case "sequence_id":
		r.sequence, r.sequenceName = uint64(v.number), v.text
	case "sequence_start":
		r.start = v.flag
	case "sequence_end":
		r.end = v.flag
	case "binary_data_output":
		r.BinaryOut = v.flag
	case "max_tokens":
		r.Sampling.Max = int(v.number)
	case "min_tokens":
		r.Sampling.Min = int(v.number)
	case "ignore_eos":
		r.Sampling.IgnoreEOS = v.flag
	}
}

// setParameter takes what places a tensor in shared memory.
func (l *memoryRange) setParameter(name string, v parameter) {
	switch name {
	case "shared_memory_region":
		l.Region = v.text
	case "shared_memory_byte_size":
		l.size = v.number
	case "shared_memory_offset":
		l.offset = v.number
	}
}

func (t *RequestedOutput) setParameter(name string, v parameter) {
	if name == "binary_data" {
		t.Binary = v.flag
	}
	t.memoryRange.setParameter(name, v)
}

func (r *Request) readInput(b []byte) error {
	var in Input
	from := len(r.shapes)
	err := eachField(b, func(num protowire.Number, kind protowire.Type, v uint64, p []byte) error {
		if num == 3 && kind == protowire.VarintType {
			r.shapes = append(r.shapes, int64(v))
		}
		if kind != protowire.BytesType {
			return nil
		}
		switch num {
		case 1:
			in.name = r.names.get(p)
		case 2:
			in.datatype = r.names.get(p)
		case 3:
			for len(p) > 0 {
				d, n := protowire.ConsumeVarint(p)
				if n < 0 {
					return protowire.ParseError(n)
				}
				r.shapes = append(r.shapes, int64(d))
				p = p[n:]
			}
		case 4:
			name, v, err := r.readEntry(p)
			in.setParameter(name, v)
			return err
		case 5:
			return r.readContents(&in, p)
		}
		return nil
	})
	in.Shape = r.shapes[from:len(r.shapes):len(r.shapes)]
	r.Inputs = append(r.Inputs, in)
	return err
}

func (r *Request) readContents(in *Input, b []byte) error {
	from := len(r.room)
	err := eachField(b, func(num protowire.Number, kind protowire.Type, v uint64, p []byte) error {
		if num == 8 && kind == protowire.BytesType {
			r.room = binary.LittleEndian.AppendUint32(r.room, uint32(len(p)))
			r.room = append(r.room, p...)
			return nil
		}
		if kind != protowire.BytesType {
			r.room = appendTyped(r.room, in.datatype, v)
			return nil
		}
		for len(p) > 0 {
			var n int
			switch num {
			case 6:
				var w uint32
				w, n = protowire.ConsumeFixed32(p)
				v = uint64(w)
			case 7:
				v, n = protowire.ConsumeFixed64(p)
			default:
				v, n = protowire.ConsumeVarint(p)
			}
			if n < 0 {
				return protowire.ParseError(n)
			}
			r.room = appendTyped(r.room, in.datatype, v)
			p = p[n:]
		}
		return nil
	})
	in.Data, in.has = r.room[from:len(r.room):len(r.room)], true
	return err
}

// appendTyped writes a number, given as its bits, in the width of its datatype.
func appendTyped(b []byte, datatype string, v uint64) []byte {
	switch ElementSize(datatype) {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// ElementSize is the width of a datatype's elements; 0: it differs; -1: there is no such.
func ElementSize(datatype string) int {
	switch datatype {
	case "BOOL", "INT8", "UINT8":
		return 1
	case "INT16", "UINT16", "FP16", "BF16":
		return 2
	case "INT32", "UINT32", "FP32":
		return 4
	case "INT64", "UINT64", "FP64":
		return 8
	case "BYTES":
		return 0
	}
	return -1
}

func (r *Request) readOutput(b []byte) error {
	var out RequestedOutput
	err := eachField(b, func(num protowire.Number, kind protowire.Type, _ uint64, p []byte) error {
		if kind != protowire.BytesType {
			return nil
		}
		switch num {
		case 1:
			out.Name = r.names.get(p)
		case 2:
			name, v, err := r.readEntry(p)
			out.setParameter(name, v)
			return err
		}
		return nil
	})
	r.Outputs = append(r.Outputs, out)
	return err
}

// Find returns an input by name, or nil.
func (r *Request) Find(name string) *Input {
	for i := range r.Inputs {
		if r.Inputs[i].name == name {
			return &r.Inputs[i]
		}
	}
	return nil
}

// Text is the first element of a tensor of BYTES.
func (t *Input) Text() []byte {
	if t == nil || len(t.Data) < 4 {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(t.Data))
	return t.Data[4:min(4+n, len(t.Data))]
}

// Flag is the first element of a BOOL tensor, or the default.
func (t *Input) Flag(missing bool) bool {
	if t == nil || len(t.Data) == 0 {
		return missing
	}
	return t.Data[0] != 0
}

// Integer is the first element of a tensor of integers, or the default.
func (t *Input) Integer(missing int) int {
	switch {
	case t == nil:
	case len(t.Data) >= 8 && ElementSize(t.datatype) == 8:
		return int(min(binary.LittleEndian.Uint64(t.Data), math.MaxInt64))
	case len(t.Data) >= 4:
		return int(int32(binary.LittleEndian.Uint32(t.Data)))
	}
	return missing
}

// maxTensor bounds the bytes and the elements of a tensor.
const maxTensor = 256 << 20

// Elements is how many a shape has.
func Elements(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > maxTensor || n*d > maxTensor {
			return maxTensor + 1
		}
		n *= d
	}
	return n
}

// sizeError tells a tensor whose bytes do not fit its shape.
func (t *Input) sizeError(model string) error {
	want := Elements(t.Shape)
	size := ElementSize(t.datatype)
	if size > 0 {
		if got := int64(len(t.Data)); got != want*int64(size) {
			return fmt.Errorf("input byte size mismatch for input '%s' for model '%s'. Expected %d, got %d", t.name, model, want*int64(size), got)
		}
		return nil
	}
	var n int64
	for b := t.Data; len(b) > 0; n++ {
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return fmt.Errorf("incomplete string data for inference input '%s' for model '%s', expecting string of length %d but only %d bytes available",
				t.name, model, StringLength(b), max(len(b)-4, 0))
		}
		b = b[4+binary.LittleEndian.Uint32(b):]
	}
	if n != want {
		return fmt.Errorf("expected %d string elements for inference input '%s' for model '%s', got %d", want, t.name, model, n)
	}
	return nil
}

// StringLength is the length of the string at the head of a BYTES tensor's contents.
func StringLength(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b))
}
