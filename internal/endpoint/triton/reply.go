package triton

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/v2http"
)

// reply is one response of a model: of several, an event of the answer. What is in it
// points into the answer's bytes.
type reply struct {
	failure   []byte // the server's words; nil means it is no error
	final     bool   // marked as the last
	outputs   int    // tensors in it
	answered  bool   // it has the answer's tensor
	tokensIn  int    // -1: not said
	tokensOut int
	finish    []byte
	ids       []byte // token ids in raw form
	expects   bool   // tensors are wanted
	tensors   []tensor.Tensor

	text  []byte    // of the answer, to which the reply's own is added
	names [8][]byte // of the outputs
	raw   [8][]byte // and their values
}

func (r *reply) reset() {
	r.failure, r.finish, r.ids = nil, nil, nil
	r.final, r.answered, r.outputs = false, false, 0
	r.tokensIn, r.tokensOut = -1, -1
	r.tensors = r.tensors[:0]
}

func (r *reply) parseStream(message []byte, c *convention) error {
	r.reset()
	var inner []byte
	for b := message; len(b) > 0; {
		num, typ, value, rest, ok := nextField(b)
		if !ok {
			return fmt.Errorf("malformed response: not valid protobuf %d bytes before its end", len(b))
		}
		b = rest
		switch {
		case typ != protowire.BytesType:
		case num == fieldErrorMessage && len(value) > 0:
			r.failure = value
		case num == fieldInferResponse:
			inner = value
		}
	}
	return r.parse(inner, c)
}

func (r *reply) parseUnary(message []byte, c *convention) error {
	r.reset()
	return r.parse(message, c)
}

// parse reads a ModelInferResponse. Few models have more outputs than fit the arrays;
// those of a language model come first.
func (r *reply) parse(b []byte, c *convention) error {
	raws := 0
	for len(b) > 0 {
		num, typ, value, rest, ok := nextField(b)
		if !ok {
			return fmt.Errorf("malformed response: not valid protobuf %d bytes before its end", len(b))
		}
		b = rest
		if typ != protowire.BytesType {
			continue
		}
		switch num {
		case fieldParameters:
			if final, ok := finalParameter(value); ok {
				r.final = final
			}
		case fieldTensors:
			name, err := r.output(value, c)
			if err != nil {
				return err
			}
			if r.outputs < len(r.names) {
				r.names[r.outputs] = name
			}
			r.outputs++
		case fieldRawOutputs:
			if raws < len(r.raw) {
				r.raw[raws] = value
			}
			if r.expects && raws < len(r.tensors) {
				r.tensors[raws].Data = value
			}
			raws++
		}
	}
	for i := range min(raws, r.outputs, len(r.raw)) {
		if err := r.assign(r.names[i], r.raw[i], c); err != nil {
			return err
		}
	}
	return nil
}

// output reads what a response says about an output: its name, and its values where
// they do not come in raw form.
func (r *reply) output(b []byte, c *convention) (name []byte, err error) {
	var t tensor.Tensor
	for len(b) > 0 {
		num, typ, value, rest, ok := nextField(b)
		if !ok {
			return name, fmt.Errorf("malformed output: not valid protobuf %d bytes before its end", len(b))
		}
		b = rest
		switch {
		case typ == protowire.BytesType && num == fieldTensorName:
			name = value
		case typ == protowire.BytesType && num == fieldTensorDatatype && r.expects:
			t.Datatype, _ = tensor.ParseDatatype(string(value))
		case num == fieldTensorShape && r.expects:
			t.Shape = appendShape(t.Shape, typ, value)
		case typ == protowire.BytesType && num == fieldTensorContents:
			if err := r.contents(name, value, c); err != nil {
				return name, err
			}
		}
	}
	if r.expects {
		t.Name = string(name)
		r.tensors = append(r.tensors, t)
	}
	return name, nil
}

func appendShape(shape []int64, typ protowire.Type, value []byte) []int64 {
	for {
		v, n := protowire.ConsumeVarint(value)
		if n < 0 {
			return shape
		}
		shape, value = append(shape, int64(v)), value[n:]
		if typ == protowire.VarintType {
			return shape
		}
	}
}

// The fields of InferTensorContents that answers of language models come in.
const (
	fieldIntContents  = 2
	fieldUintContents = 4
	fieldBytesContent = 8
)

// contents reads values that do not come in raw form, which Triton never sends and
// other servers do.
func (r *reply) contents(name, b []byte, c *convention) error {
	for len(b) > 0 {
		num, typ, value, rest, ok := nextField(b)
		if !ok {
			return fmt.Errorf("malformed contents of output %s", name)
		}
		b = rest
		var raw []byte
		switch {
		case num == fieldBytesContent && typ == protowire.BytesType:
			raw = tensor.AppendString(nil, value)
		case num == fieldIntContents || num == fieldUintContents:
			for _, v := range appendShape(nil, typ, value) {
				raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
			}
		default:
			continue
		}
		if err := r.assign(name, raw, c); err != nil {
			return err
		}
	}
	return nil
}

// assign takes an output that the convention knows.
func (r *reply) assign(name, raw []byte, c *convention) error {
	if len(name) == 0 {
		return nil
	}
	switch string(name) {
	case c.answer:
		r.answered = true
		return r.addText(name, raw)
	case c.answerIDs:
		r.answered = true
		r.ids = raw
	case c.tokensOut:
		r.tokensOut = sumInts(raw)
	case c.tokensIn:
		r.tokensIn = firstInt(raw)
	case c.finish:
		if len(raw) >= 4 && string(raw[4:]) != "None" {
			r.finish = raw[4:]
		}
	}
	return nil
}

// addText adds the strings of the answer's tensor.
func (r *reply) addText(name, raw []byte) error {
	for len(raw) > 0 {
		if len(raw) < 4 {
			return fmt.Errorf("output %s is cut off: %d bytes are left where a string begins", name, len(raw))
		}
		n := uint64(binary.LittleEndian.Uint32(raw))
		if n > uint64(len(raw)-4) {
			return fmt.Errorf("output %s is cut off: a string of %d bytes, of which there are %d", name, n, len(raw)-4)
		}
		r.text = append(r.text, raw[4:4+n]...)
		raw = raw[4+n:]
	}
	return nil
}

// firstInt is the first element of a tensor of 32-bit numbers; -1: there is none.
func firstInt(raw []byte) int {
	if len(raw) < 4 {
		return -1
	}
	return int(int32(binary.LittleEndian.Uint32(raw)))
}

// sumInts adds up a tensor of 32-bit numbers; -1: it is empty.
func sumInts(raw []byte) int {
	sum := -1
	for ; len(raw) >= 4; raw = raw[4:] {
		sum = max(sum, 0) + int(int32(binary.LittleEndian.Uint32(raw)))
	}
	return sum
}

// parseInfer reads the answer to an infer request over HTTP.
func (r *reply) parseInfer(body []byte, c *convention) error {
	r.reset()
	header := 0
	var scan jsonscan.Scanner
	scan.Reset(body)
	scan.Skip()
	if end := scan.Pos(); scan.Err() == nil && end < len(body) && !scan.End() {
		header = end // raw tensors follow the JSON
	}
	answer, err := v2http.Decode(body, header)
	if err != nil {
		return err
	}
	r.final = true
	if answer.Error != "" {
		r.failure = []byte(answer.Error)
		return nil
	}
	r.tensors = answer.Tensors()
	r.outputs = len(answer.Outputs)
	for i := range r.tensors {
		if err := r.assign([]byte(r.tensors[i].Name), r.tensors[i].Data, c); err != nil {
			return err
		}
	}
	return nil
}

// parseGenerate reads one JSON object of generate or generate_stream: outputs stand
// under their names.
func (r *reply) parseGenerate(data []byte, c *convention) error {
	r.reset()
	before := len(r.text)
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == "error" {
			if s.Peek() == '"' {
				r.failure = s.Quoted()
			} else {
				s.Skip()
			}
			continue
		}
		if string(key) != "model_name" && string(key) != "model_version" && string(key) != "id" && string(key) != "parameters" {
			r.outputs++
		}
		if len(key) == 0 {
			s.Skip()
			continue
		}
		switch string(key) {
		case c.answer:
			r.answered = true
			r.addJSON(&s)
		case c.answerIDs:
			r.answered = true
			each(&s, func() { r.ids = binary.LittleEndian.AppendUint32(r.ids, uint32(number(&s))) })
		case c.tokensOut:
			each(&s, func() { r.tokensOut = max(r.tokensOut, 0) + number(&s) })
		case c.tokensIn:
			each(&s, func() { r.tokensIn = number(&s) })
		case c.finish:
			each(&s, func() {
				if s.Peek() != '"' {
					s.Skip()
				} else if text := s.Quoted(); string(text) != "None" {
					r.finish = text
				}
			})
		case kserve.ParameterFinal:
			r.outputs--
			s.Skip()
		default:
			s.Skip()
		}
	}
	s.End()
	if err := s.Err(); err != nil {
		r.text = r.text[:before]
		return err
	}
	return nil
}

// addJSON adds a string, or all strings of an array.
func (r *reply) addJSON(s *jsonscan.Scanner) {
	each(s, func() {
		if s.Peek() != '"' {
			s.Skip()
			return
		}
		body, escaped := s.String()
		if escaped {
			r.text = jsonscan.AppendUnescaped(r.text, body)
		} else {
			r.text = append(r.text, body...)
		}
	})
}

// each calls f at a value, or at each value of an array.
func each(s *jsonscan.Scanner, f func()) {
	if s.Peek() != '[' {
		f()
		return
	}
	s.Array()
	for s.More() {
		f()
	}
}

// number reads an integer; anything else is 0.
func number(s *jsonscan.Scanner) int {
	if !s.IsNumber() {
		s.Skip()
		return 0
	}
	v := s.Int()
	if v < math.MinInt32 || v > math.MaxInt32 {
		return 0
	}
	return int(v)
}
