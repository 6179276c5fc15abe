package triton

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/v2http"
)

// content is what one request carries: its prompt in the forms that slots need.
type content struct {
	text   string
	output int // tokens to ask for; 0: the model's choice
	ids    []int32
	slots  []slot
	own    bool // the request has inputs that others do not have
}

func (l *layout) fill(p *prompt.Prompt) content {
	c := content{text: body.Plain(p), output: p.Output, slots: l.slots[without]}
	if p.Output > 0 {
		c.slots = l.slots[with]
	}
	if l.encode != nil {
		c.ids = l.encode.Encode(c.text, false)
	}
	return c
}

// setInputs gives the content inputs of its own, in the place of those that all requests have.
func (l *layout) setInputs(c *content, fields []prompt.Field) error {
	slots := slices.Clone(c.slots)
	for _, f := range fields {
		s := l.model.input(f.Name)
		if s == nil {
			return fmt.Errorf("a request has the input %s, which model %s does not have: its inputs are %s", f.Name, l.model.Name, names(l.model.Inputs))
		}
		t, err := l.model.tensor(s, f.Value)
		if err != nil {
			return fmt.Errorf("the input %s of a request to model %s: %w", f.Name, l.model.Name, err)
		}
		at := slices.IndexFunc(slots, func(x slot) bool { return x.Name == f.Name })
		if at < 0 {
			at, slots = len(slots), append(slots, slot{})
		}
		slots[at] = slot{Tensor: t}
	}
	c.slots, c.own = slots, true
	return nil
}

func (l *layout) size(s *slot, c *content) int {
	switch s.kind {
	case constant:
		return len(s.Data)
	case text:
		return 4 + len(c.text)
	case sampling:
		return 4 + l.samplingSize(c)
	case ids:
		return len(c.ids) * s.Datatype.Size()
	default:
		return s.Datatype.Size()
	}
}

func (l *layout) appendData(b []byte, s *slot, c *content) []byte {
	switch s.kind {
	case constant:
		return append(b, s.Data...)
	case text:
		return tensor.AppendString(b, c.text)
	case length:
		return tensor.AppendInt(b, s.Datatype, int64(c.length()))
	case idsLength:
		return tensor.AppendInt(b, s.Datatype, int64(len(c.ids)))
	case sampling:
		b = binary.LittleEndian.AppendUint32(b, uint32(l.samplingSize(c)))
		return l.appendSampling(b, c)
	case ids:
		for _, id := range c.ids {
			b = tensor.AppendInt(b, s.Datatype, int64(id))
		}
	}
	return b
}

// length is the output length that the request asks for.
func (c *content) length() int {
	if c.output > 0 {
		return c.output
	}
	return usualLength
}

// appendSampling adds the JSON of the sampling parameters.
func (l *layout) appendSampling(b []byte, c *content) []byte {
	b = append(b, '{')
	start := len(b)
	if c.output > 0 {
		// What the user says of them stands among the shared fields, and wins.
		if !strings.Contains(","+l.sampling, `,"max_tokens":`) {
			b = append(b, `"max_tokens":`...)
			b = append(strconv.AppendInt(b, int64(c.output), 10), ',')
		}
		if l.minimum && !strings.Contains(","+l.sampling, `,"min_tokens":`) {
			b = append(b, `"min_tokens":`...)
			b = append(strconv.AppendInt(b, int64(c.output), 10), ',')
		}
	}
	b = append(b, l.sampling...)
	if len(b) > start {
		b = b[:len(b)-1] // the last comma
	}
	return append(b, '}')
}

func (l *layout) samplingSize(c *content) int {
	var room [256]byte
	return len(l.appendSampling(room[:0], c))
}

func (s *slot) shape(c *content) []int64 {
	if s.kind == ids {
		return append(slices.Clone(s.Shape), int64(len(c.ids)))
	}
	return s.Shape
}

// messages encodes ModelInferRequest messages. What all requests share is encoded
// once.
type messages struct {
	layout *layout
	head   []byte    // model, version and parameters
	inputs [2][]byte // names, datatypes and shapes of the inputs; nil means they differ from request to request
	wanted []byte    // the outputs that requests of tensors ask for; none: all
}

// newMessages encodes what all requests share. stream: they go on a stream, where the
// server is asked to mark the last response of each.
func newMessages(l *layout, version string, parameters map[string]any, stream bool) (*messages, error) {
	m := &messages{layout: l}
	m.head = appendBytes(m.head, fieldModelName, l.model.Name)
	if version != "" {
		m.head = appendBytes(m.head, fieldModelVersion, version)
	}
	if stream {
		m.head, _ = appendParameter(m.head, kserve.ParameterEmptyFinal, true)
	}
	var err error
	if m.head, err = appendParameters(m.head, parameters); err != nil {
		return nil, err
	}
	for which := range l.slots {
		slots := l.slots[which]
		if slices.ContainsFunc(slots, func(s slot) bool { return s.kind == ids }) {
			continue
		}
		m.inputs[which] = []byte{}
		for i := range slots {
			m.inputs[which] = appendTensor(m.inputs[which], &slots[i].Tensor, slots[i].Shape, v2http.MemoryRegion{})
		}
	}
	return m, nil
}

func (m *messages) encode(p *prompt.Prompt, id string, c *content) []byte {
	which := without
	if c.output > 0 {
		which = with
	}
	b := m.begin(len(m.inputs[which])+len(c.text)+8*len(c.ids)+len(m.layout.sampling)+64+16*len(c.slots), p, id)
	if m.inputs[which] != nil && !c.own {
		b = append(b, m.inputs[which]...)
	} else {
		for i := range c.slots {
			b = appendTensor(b, &c.slots[i].Tensor, c.slots[i].shape(c), v2http.MemoryRegion{})
		}
	}
	for i := range c.slots {
		b = protowire.AppendTag(b, fieldRawInputs, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(m.layout.size(&c.slots[i], c)))
		b = m.layout.appendData(b, &c.slots[i], c)
	}
	return b
}

// begin starts a message with what all share, its id and its sequence.
func (m *messages) begin(room int, p *prompt.Prompt, id string) []byte {
	b := make([]byte, 0, len(m.head)+len(id)+room+128)
	b = append(b, m.head...)
	b = appendBytes(b, fieldID, id)
	if p.Sequence.ID != 0 {
		b, _ = appendParameter(b, kserve.ParameterSequenceID, int64(p.Sequence.ID)) // the server takes no uint64_param here
		b, _ = appendParameter(b, kserve.ParameterSequenceStart, p.Sequence.Start)
		b, _ = appendParameter(b, kserve.ParameterSequenceEnd, p.Sequence.End)
	}
	return b
}

// tensors is the message of a request whose inputs are tensors already.
func (m *messages) tensors(p *prompt.Prompt, id string, in *inputs) ([]byte, error) {
	size := len(m.wanted)
	for i := range in.tensors {
		size += len(in.tensors[i].Data) + len(in.tensors[i].Name) + 64
	}
	b := m.begin(size, p, id)
	if p.Inputs != nil {
		var err error
		if b, err = appendParameters(b, p.Inputs.Parameters); err != nil {
			return nil, err
		}
	}
	if !in.compared() {
		b = append(b, m.wanted...)
	}
	for i := range in.tensors {
		var region v2http.MemoryRegion
		if in.regions != nil {
			region = in.regions[i]
		}
		b = appendTensor(b, &in.tensors[i], in.tensors[i].Shape, region)
	}
	for i := range in.tensors {
		if in.regions == nil {
			b = appendBytes(b, fieldRawInputs, in.tensors[i].Data)
		}
	}
	return b, nil
}

// ask makes requests of tensors name the outputs that they want.
func (m *messages) ask(wanted []v2http.Output) {
	for _, o := range wanted {
		inner := appendBytes(nil, fieldTensorName, o.Name)
		inner = appendRegion(inner, fieldOutputParameters, o.Region)
		m.wanted = appendBytes(m.wanted, fieldOutputs, inner)
	}
}

// appendRegion adds the parameters that say where in shared memory a tensor lies.
func appendRegion(b []byte, field protowire.Number, r v2http.MemoryRegion) []byte {
	if r.Name == "" {
		return b
	}
	b, _ = appendEntry(b, field, kserve.ParameterRegion, r.Name)
	b, _ = appendEntry(b, field, kserve.ParameterRegionSize, r.Size)
	return b
}

func appendBytes[S ~string | ~[]byte](b []byte, field protowire.Number, s S) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(s)))
	return append(b, s...)
}

// appendTensor adds what a message says about an input besides its values.
func appendTensor(b []byte, t *tensor.Tensor, shape []int64, r v2http.MemoryRegion) []byte {
	inner := appendBytes(make([]byte, 0, len(t.Name)+32), fieldTensorName, t.Name)
	inner = appendBytes(inner, fieldTensorDatatype, t.Datatype.String())
	var packed []byte
	for _, d := range shape {
		packed = protowire.AppendVarint(packed, uint64(d))
	}
	inner = appendBytes(inner, fieldTensorShape, packed)
	inner = appendRegion(inner, fieldTensorParameters, r)
	return appendBytes(b, fieldTensors, inner)
}

// appendParameters adds request parameters in the order of their names.
func appendParameters(b []byte, parameters map[string]any) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		var err error
		if b, err = appendParameter(b, name, parameters[name]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendParameter adds an entry to a request's map of parameters.
func appendParameter(b []byte, name string, value any) ([]byte, error) {
	return appendEntry(b, fieldParameters, name, value)
}

// appendEntry adds an entry to a map of parameters.
func appendEntry(b []byte, field protowire.Number, name string, value any) ([]byte, error) {
	var v []byte
	varint := func(field protowire.Number, value uint64) {
		v = protowire.AppendVarint(protowire.AppendTag(v, field, protowire.VarintType), value)
	}
	switch value := value.(type) {
	case bool:
		varint(fieldBoolParameter, protowire.EncodeBool(value))
	case int:
		varint(fieldIntParameter, uint64(value))
	case int64:
		varint(fieldIntParameter, uint64(value))
	case uint64:
		varint(fieldUintParameter, value)
	case float64:
		v = protowire.AppendTag(v, fieldDoubleParameter, protowire.Fixed64Type)
		v = protowire.AppendFixed64(v, math.Float64bits(value))
	case string:
		v = appendBytes(v, fieldStringParameter, value)
	default:
		return nil, fmt.Errorf("request parameter %s is a %T; it must be true or false, a number or text", name, value)
	}
	entry := appendBytes(nil, fieldKey, name)
	entry = appendBytes(entry, fieldValue, v)
	return appendBytes(b, field, entry), nil
}
