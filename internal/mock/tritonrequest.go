package mock

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// inputTensor is one input of a request. Its bytes are the request's own and are
// gone with it.
type inputTensor struct {
	name, datatype string
	shape          []int64
	data           []byte // raw, little-endian
	has            bool   // data was given in the request, not by reference
	region         string // of shared memory
	offset, size   int64
}

// outputWish is an output that a request asks for by name.
type outputWish struct {
	name         string
	binary       bool // HTTP: as bytes after the JSON
	region       string
	offset, size int64
}

// inferRequest is a request for inference, whatever way it came.
type inferRequest struct {
	model, version, id string
	inputs             []inputTensor
	outputs            []outputWish
	emptyFinal         bool // asks for a marker of the end
	binaryOut          bool // HTTP: all outputs as bytes
	sequence           uint64
	sequenceName       string
	start, end         bool
	sampling           sampling // what vLLM's backend reads from parameters where no tensor says it

	shapes []int64 // where the inputs' shapes lie
	room   []byte  // where values lie that did not come raw
	names  interner
}

// sampling is what decides how long an answer is.
type sampling struct {
	max, min  int
	ignoreEOS bool
}

func (r *inferRequest) reset() {
	*r = inferRequest{sampling: sampling{max: -1}, inputs: r.inputs[:0], outputs: r.outputs[:0], shapes: r.shapes[:0], room: r.room[:0], names: r.names}
}

// interner keeps the few strings that all requests repeat, so that they are not
// allocated again.
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

// eachField calls f for each field of a message: v is the number of a varint or
// fixed field, p the bytes of the others.
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

// readProto reads a ModelInferRequest.
func (r *inferRequest) readProto(b []byte) error {
	r.reset()
	err := eachField(b, func(num protowire.Number, kind protowire.Type, _ uint64, p []byte) error {
		if kind != protowire.BytesType {
			return nil
		}
		switch num {
		case 1:
			r.model = r.names.get(p)
		case 2:
			r.version = r.names.get(p)
		case 3:
			r.id = string(p)
		case 4:
			return r.readParameter(p)
		case 5:
			return r.readInput(p)
		case 6:
			return r.readOutput(p)
		case 7:
			r.fillRaw(p)
		}
		return nil
	})
	return err
}

// fillRaw gives the next raw contents to the next input that is not elsewhere. The
// inputs come first in what every client sends.
func (r *inferRequest) fillRaw(p []byte) {
	for i := range r.inputs {
		if in := &r.inputs[i]; !in.has && in.region == "" {
			in.data, in.has = p, true
			return
		}
	}
}

// parameter is the value of a named parameter.
type parameter struct {
	flag   bool
	number int64
	text   string
}

// readEntry reads an entry of a map of parameters.
func (r *inferRequest) readEntry(b []byte) (name string, value parameter, err error) {
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

func (r *inferRequest) readParameter(b []byte) error {
	name, v, err := r.readEntry(b)
	if err == nil {
		r.setParameter(name, v)
	}
	return err
}

func (r *inferRequest) setParameter(name string, v parameter) {
	switch name {
	case "triton_enable_empty_final_response":
		r.emptyFinal = v.flag
	case "sequence_id":
		r.sequence, r.sequenceName = uint64(v.number), v.text
	case "sequence_start":
		r.start = v.flag
	case "sequence_end":
		r.end = v.flag
	case "binary_data_output":
		r.binaryOut = v.flag
	case "max_tokens":
		r.sampling.max = int(v.number)
	case "min_tokens":
		r.sampling.min = int(v.number)
	case "ignore_eos":
		r.sampling.ignoreEOS = v.flag
	}
}

// setParameter takes what places a tensor in shared memory.
func (t *inputTensor) setParameter(name string, v parameter) {
	switch name {
	case "shared_memory_region":
		t.region = v.text
	case "shared_memory_byte_size":
		t.size = v.number
	case "shared_memory_offset":
		t.offset = v.number
	}
}

func (t *outputWish) setParameter(name string, v parameter) {
	switch name {
	case "shared_memory_region":
		t.region = v.text
	case "shared_memory_byte_size":
		t.size = v.number
	case "shared_memory_offset":
		t.offset = v.number
	case "binary_data":
		t.binary = v.flag
	}
}

func (r *inferRequest) readInput(b []byte) error {
	var in inputTensor
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
	in.shape = r.shapes[from:len(r.shapes):len(r.shapes)]
	r.inputs = append(r.inputs, in)
	return err
}

// readContents makes typed values raw.
func (r *inferRequest) readContents(in *inputTensor, b []byte) error {
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
	in.data, in.has = r.room[from:len(r.room):len(r.room)], true
	return err
}

// appendTyped writes a number, given as its bits, in the width of its datatype.
func appendTyped(b []byte, datatype string, v uint64) []byte {
	switch elementSize(datatype) {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// elementSize is the width of a datatype's elements; 0: it differs; -1: there is no such.
func elementSize(datatype string) int {
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

func (r *inferRequest) readOutput(b []byte) error {
	var out outputWish
	err := eachField(b, func(num protowire.Number, kind protowire.Type, _ uint64, p []byte) error {
		if kind != protowire.BytesType {
			return nil
		}
		switch num {
		case 1:
			out.name = r.names.get(p)
		case 2:
			name, v, err := r.readEntry(p)
			out.setParameter(name, v)
			return err
		}
		return nil
	})
	r.outputs = append(r.outputs, out)
	return err
}

// find returns an input by name, or nil.
func (r *inferRequest) find(name string) *inputTensor {
	for i := range r.inputs {
		if r.inputs[i].name == name {
			return &r.inputs[i]
		}
	}
	return nil
}

// text is the first element of a tensor of BYTES.
func (t *inputTensor) text() []byte {
	if t == nil || len(t.data) < 4 {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(t.data))
	return t.data[4:min(4+n, len(t.data))]
}

// flag is the first element of a BOOL tensor, or the default.
func (t *inputTensor) flag(missing bool) bool {
	if t == nil || len(t.data) == 0 {
		return missing
	}
	return t.data[0] != 0
}

// integer is the first element of a tensor of integers, or the default.
func (t *inputTensor) integer(missing int) int {
	switch {
	case t == nil:
	case len(t.data) >= 8 && elementSize(t.datatype) == 8:
		return int(min(binary.LittleEndian.Uint64(t.data), math.MaxInt64))
	case len(t.data) >= 4:
		return int(int32(binary.LittleEndian.Uint32(t.data)))
	}
	return missing
}

// elements is how many a shape has.
func elements(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > maxBody || n*d > maxBody {
			return maxBody + 1
		}
		n *= d
	}
	return n
}

// sizeError tells a tensor whose bytes do not fit its shape.
func (t *inputTensor) sizeError(model string) error {
	want := elements(t.shape)
	size := elementSize(t.datatype)
	if size > 0 {
		if got := int64(len(t.data)); got != want*int64(size) {
			return fmt.Errorf("input byte size mismatch for input '%s' for model '%s'. Expected %d, got %d", t.name, model, want*int64(size), got)
		}
		return nil
	}
	var n int64
	for b := t.data; len(b) > 0; n++ {
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return fmt.Errorf("incomplete string data for inference input '%s' for model '%s', expecting string of length %d but only %d bytes available",
				t.name, model, stringLength(b), max(len(b)-4, 0))
		}
		b = b[4+binary.LittleEndian.Uint32(b):]
	}
	if n != want {
		return fmt.Errorf("expected %d string elements for inference input '%s' for model '%s', got %d", want, t.name, model, n)
	}
	return nil
}

func stringLength(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b))
}
