package triton

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// layout says how a prompt becomes the inputs of a model.
type layout struct {
	model      *ModelInfo
	convention convention
	// slots are the inputs of a request with an output length and of one without.
	slots    [2][]slot
	sampling string // fields of the sampling parameters that all requests share, each with a comma after it
	minimum  bool   // the sampling parameters say that the output length is also the least
	excluded bool   // the server is asked to leave the prompt out of the answer
	encode   encoder
}

// encoder is a tokenizer that gives ids.
type encoder interface {
	Encode(text string, special bool) []int32
}

// with and without are the two kinds of request.
const (
	without = iota // no output length
	with
)

// kind is what a slot holds.
type kind uint8

const (
	constant  kind = iota
	text           // the prompt
	length         // output tokens to ask for
	sampling       // JSON with sampling parameters
	ids            // the prompt's token ids
	idsLength      // how many they are
)

type slot struct {
	tensor.Tensor // of a constant, all of it; of ids, without the length in its shape
	kind          kind
	extra         bool // the user gives it
}

// usualLength is what is asked for where the model insists on an output length and the
// plan has none.
const usualLength = 256

// newLayout finds out what to send to a model. extra are further inputs, or sampling
// parameters, that the user gives; nil takes one of ours away.
func newLayout(m *ModelInfo, c convention, t plan.Target, d plan.Data, tok prompt.Tokenizer) (*layout, error) {
	l := &layout{model: m, convention: c, minimum: d.MinTokens}
	if t.Shaped() { // requests bring all their inputs
		l.excluded = t.Endpoint != plan.EndpointGenerate && m.input(c.exclude) != nil && t.Body[c.exclude] != false
		return l, nil
	}
	b := builder{layout: l, extra: t.Body, taken: map[string]bool{}}
	switch {
	case c.ids != "":
		if l.encode, _ = tok.(encoder); l.encode == nil {
			return nil, errNoIDs
		}
		b.tokens()
	case c.text != "":
		b.add(c.text, text, tensor.Bytes)
	}
	b.add(c.length, length, wholeTypes()...)
	ignored := d.IgnoreEOS && c.sampling == "" && b.spec("ignore_eos") != nil
	if ignored {
		b.flag("ignore_eos", true)
	}
	if d.MinTokens || d.IgnoreEOS && !ignored {
		b.least()
	}
	b.flag(c.stream, t.Streaming)
	b.flag(c.exclude, true)
	b.flag(c.returnIn, true)
	b.flag(c.returnOut, true)
	l.excluded = b.taken[c.exclude] && t.Body[c.exclude] == nil || t.Body[c.exclude] == true
	b.extras(d.IgnoreEOS)
	if c.sampling != "" {
		b.samplingSlots()
	}
	if c.name != plan.ConventionTensors {
		b.required()
	}
	return l, errors.Join(b.errs...)
}

type builder struct {
	*layout
	extra map[string]any
	taken map[string]bool // inputs that have a slot, or are to have none
	errs  []error
}

// has reports whether the user gives an input, or takes it away.
func (b *builder) has(name string) bool {
	_, ok := b.extra[name]
	return ok
}

// spec is the model's input of that name, if there is one that nothing fills yet and
// the user leaves it to us.
func (b *builder) spec(name string) *tensor.Spec {
	if name == "" || b.taken[name] || b.has(name) {
		return nil
	}
	return b.model.input(name)
}

// add fills an input of one element in both kinds of request. A length that is not
// known is left out, unless the model insists.
func (b *builder) add(name string, k kind, types ...tensor.Datatype) {
	s := b.spec(name)
	if s == nil {
		return
	}
	b.place(with, s, k, types...)
	if k != length || !s.Optional {
		b.place(without, s, k, types...)
	}
}

// place fills an input of one element in one kind of request.
func (b *builder) place(which int, s *tensor.Spec, k kind, types ...tensor.Datatype) {
	shape, err := single(b.model, s)
	if err = errors.Join(err, wantType(b.model, s, types...)); err != nil && !b.taken[s.Name] {
		b.errs = append(b.errs, err)
	}
	b.taken[s.Name] = true
	b.slots[which] = append(b.slots[which], slot{Tensor: tensor.Tensor{Name: s.Name, Datatype: s.Datatype, Shape: shape}, kind: k})
}

// tokens fills the inputs of a model that takes token ids.
func (b *builder) tokens() {
	c := &b.convention
	s := b.spec(c.ids)
	if s == nil {
		return
	}
	if err := wantType(b.model, s, tensor.Int32, tensor.Int64, tensor.Uint32); err != nil {
		b.errs = append(b.errs, err)
	}
	if len(s.Shape) != 1 || s.Shape[0] >= 0 {
		b.errs = append(b.errs, fmt.Errorf("input %s of model %s has the shape %s, but a list of token IDs is needed", s.Name, b.model.Name, tensor.ShapeText(s.Shape)))
	}
	b.taken[c.ids] = true
	var shape []int64
	if b.model.MaxBatch > 0 {
		shape = []int64{1}
	}
	for which := range b.slots {
		b.slots[which] = append(b.slots[which], slot{Tensor: tensor.Tensor{Name: c.ids, Datatype: s.Datatype, Shape: shape}, kind: ids})
	}
	b.add(c.idsLength, idsLength, tensor.Int32, tensor.Int64, tensor.Uint32)
}

// least asks for no less than the output length. Newer models call it otherwise.
func (b *builder) least() {
	if b.convention.minimum == "" {
		return
	}
	for _, name := range []string{b.convention.minimum, "min_tokens"} {
		if s := b.spec(name); s != nil {
			b.place(with, s, length, wholeTypes()...)
			return
		}
	}
}

func wholeTypes() []tensor.Datatype {
	return []tensor.Datatype{tensor.Int32, tensor.Uint32, tensor.Int64, tensor.Uint64}
}

// flag fills a true-or-false input where the model has it.
func (b *builder) flag(name string, value bool) {
	if s := b.spec(name); s != nil {
		b.constant(s, []byte(strconv.FormatBool(value)))
	}
}

// constant fills an input with the same value in every request.
func (b *builder) constant(s *tensor.Spec, value []byte) {
	t, err := b.model.tensor(s, value)
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("model %s: %w", b.model.Name, err))
	}
	b.taken[s.Name] = true
	for which := range b.slots {
		b.slots[which] = append(b.slots[which], slot{Tensor: t})
	}
}

// tensor is a value as an input of the model, in a batch of one where it takes batches.
func (m *ModelInfo) tensor(s *tensor.Spec, value []byte) (tensor.Tensor, error) {
	t, err := tensor.FromJSON(s, nil, value)
	if err == nil && m.MaxBatch > 0 && !s.ShapeTensor {
		t, err = tensor.Stack([]tensor.Tensor{t})
	}
	t.Name = s.Name
	return t, err
}

// extras places what the user adds: inputs of the model by their names, all else among
// the sampling parameters where the convention has any.
func (b *builder) extras(ignoreEOS bool) {
	fields := map[string]any{}
	if ignoreEOS {
		fields["ignore_eos"] = true
	}
	for _, name := range slices.Sorted(maps.Keys(b.extra)) {
		value := b.extra[name]
		switch s := b.model.input(name); {
		case name == b.convention.text || name == b.convention.ids || name == b.convention.sampling && name != "":
			b.errs = append(b.errs, message.Errorf("the extra input %s would replace the prompt: use a prompt file%v", name, message.New(", or %v tensors with data", message.Convention).Or("")))
		case value == nil:
			b.taken[name] = true
			delete(fields, name)
		case s != nil:
			text, err := json.Marshal(value)
			if err != nil {
				b.errs = append(b.errs, fmt.Errorf("the extra input %s cannot be written as JSON: %w", name, err))
				continue
			}
			b.constant(s, text)
			for which := range b.slots {
				b.slots[which][len(b.slots[which])-1].extra = true
			}
		case b.convention.sampling != "":
			fields[name] = value
		default:
			hint := ""
			if n := suggest.Name(name, inputNames(b.model)); n != "" {
				hint = "; did you mean " + n + "?"
			}
			b.errs = append(b.errs, fmt.Errorf("model %s has no input %s; its inputs are %s%s", b.model.Name, name, names(b.model.Inputs), hint))
		}
	}
	b.sampling = samplingFields(fields)
}

func inputNames(m *ModelInfo) []string {
	var list []string
	for _, s := range m.Inputs {
		list = append(list, s.Name)
	}
	return list
}

// samplingFields writes fields of a JSON object in the order of their names, each with
// a comma after it.
func samplingFields(fields map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key, _ := json.Marshal(name)
		value, err := json.Marshal(fields[name])
		if err != nil {
			continue // a plan holds nothing that JSON cannot say
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
		b.WriteByte(',')
	}
	return b.String()
}

// samplingSlots add the sampling parameters where there is anything to say in them.
func (b *builder) samplingSlots() {
	s := b.spec(b.convention.sampling)
	if s == nil {
		return
	}
	b.place(with, s, sampling, tensor.Bytes)
	if b.sampling != "" || !s.Optional {
		b.place(without, s, sampling, tensor.Bytes)
	}
}

// required finds inputs that the model insists on and that nothing fills.
func (b *builder) required() {
	for i := range b.model.Inputs {
		s := &b.model.Inputs[i]
		filled := slices.ContainsFunc(b.slots[without], func(x slot) bool { return x.Name == s.Name })
		switch {
		case s.Optional || filled:
		case slices.Contains(b.convention.blank, s.Name) && s.Datatype == tensor.Bytes && !b.has(s.Name):
			b.constant(s, []byte(`[""]`))
		default:
			b.errs = append(b.errs, message.Errorf("model %s needs input %s (%s%s), which the convention %s does not fill%v",
				b.model.Name, s.Name, s.Datatype, tensor.ShapeText(s.Shape), b.convention.name, message.New(": give it with %v %s=…", message.Extra, s.Name).Or("")))
		}
	}
}
