package tensor

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
)

// Form is how a Value is written.
type Form uint8

// The forms of values.
const (
	FormJSON Form = iota // an array of JSON, flat or nested, or one value alone
	FormRaw              // the bytes as they travel
	FormFile             // a file of its own: raw, but of strings one on each line
)

// Value is what a user gives for a tensor. It becomes a tensor when the model, and so its datatype,
// is known.
type Value struct {
	Name  string
	Form  Form
	Text  []byte
	Shape []int64 // of one item of a batch, as stated by the user; nil means not stated
	File  string  // where it was said
	Line  int     // 0: the whole file
	// Either: whether it is an input, or an output that is expected, is for the model
	// to say, which has one of that name. Ignored: as an output it is not expected after all.
	Either, Ignored bool
	// Exact: it is a flat list, with elements that are written as its datatype asks for. Of whole
	// numbers beyond a datatype of 8 or 16 bits the lowest bits count.
	Exact bool
}

// Where is the place where the value was given.
func (v *Value) Where() string {
	if v.Line == 0 {
		return v.File
	}
	return v.File + ":" + strconv.Itoa(v.Line)
}

// Tensor is the value as the tensor that spec describes. shape is that of the user
// for values that state none; nil means the model's own.
func (v *Value) Tensor(spec *Spec, shape []int64) (Tensor, error) {
	if v.Shape != nil {
		shape = v.Shape
	}
	t, err := v.tensor(spec, shape)
	if err != nil && v.File != "" {
		return t, fmt.Errorf("%s: %w", v.Where(), err)
	}
	return t, err
}

func (v *Value) tensor(spec *Spec, shape []int64) (Tensor, error) {
	data := v.Text
	switch {
	case v.Exact && shape == nil && spec.Open():
		return Tensor{}, message.Errorf("tensor %q has the shape %s, which the model leaves open: state it%v beside the values, as \"shape\"",
			spec.Name, ShapeText(spec.Shape), message.New(" with %v %s:D1,D2, or", message.Shape, spec.Name).Or(""))
	case v.Form == FormJSON:
		return fromJSON(spec, shape, v.Text, v.Exact)
	case v.Form == FormFile && spec.Datatype == Bytes:
		data = lines(v.Text)
	}
	return FromRaw(spec, shape, data)
}

// lines is a file's lines as elements of Bytes.
func lines(text []byte) []byte {
	var data []byte
	for line := range bytes.Lines(text) {
		data = AppendString(data, bytes.TrimSuffix(line, []byte("\n")))
	}
	return data
}

// FromRaw is a tensor of bytes that are in their final form. shape is as for FromJSON.
func FromRaw(spec *Spec, shape []int64, data []byte) (Tensor, error) {
	var n int64
	var err error
	size := int64(spec.Datatype.Size())
	switch {
	case spec.Datatype == Bytes:
		if n, err = CountBytes(data); err != nil {
			return Tensor{}, fmt.Errorf("tensor %q: %w", spec.Name, err)
		}
	case size == 0:
		return Tensor{}, fmt.Errorf("tensor %q has no known datatype", spec.Name)
	case int64(len(data))%size != 0:
		return Tensor{}, fmt.Errorf("tensor %q: %d bytes are not a whole number of %s elements of %d bytes", spec.Name, len(data), spec.Datatype, size)
	default:
		n = int64(len(data)) / size
	}
	shape, err = resolveShape(spec, shape, nil, n)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{Name: spec.Name, Datatype: spec.Datatype, Shape: shape, Data: data}, nil
}

// Item is what a user gives for one item of a batch.
type Item struct {
	Values   []Value
	Expected []Value // outputs that the response must have
	// Complete: Expected must have every output of the model.
	Complete bool
}

// Rules are what all requests of a run share.
type Rules struct {
	Shapes map[string][]int64 // of inputs, for values that state none
	// Exact: shapes are for the inputs whose shape the model leaves open. Others have no effect.
	Exact bool
	Fill  Fill // for inputs that are given no value
}

// Inputs is what a request carries. Requests that repeat the same content have the
// same Inputs, so that what was built from them can be kept with the pointer as key.
type Inputs struct {
	Items      []Item         // one for each item of the batch
	Parameters map[string]any // bool, int64, uint64, float64 or string
	Rules      *Rules         // nil means none
}

// modelName is a member that may stand beside the tensors of a step.
const modelName = "model"

// Build makes the tensors of a request for a model with these inputs and outputs, and the outputs
// that the user expects, if any. batched: tensors have a batch dimension in front. Optional inputs
// without a value are left out.
func (in *Inputs) Build(inputs, outputs []Spec, batched bool) (tensors, expected []Tensor, err error) {
	var rules Rules
	if in.Rules != nil {
		rules = *in.Rules
	}
	if err := rules.check(inputs); err != nil {
		return nil, nil, err
	}
	items := slices.Clone(in.Items)
	if len(items) == 0 {
		items = []Item{{}}
	}
	if !batched && len(items) > 1 {
		return nil, nil, fmt.Errorf("the model takes no batches, and a batch size of %d is asked for; use 1", len(items))
	}
	for i := range items {
		items[i].divide(inputs, outputs)
		if err := known(items[i].Values, inputs, "input"); err != nil {
			return nil, nil, err
		}
		if err := known(items[i].Expected, outputs, "output"); err != nil {
			return nil, nil, err
		}
	}
	for i := range inputs {
		parts, err := gather(&inputs[i], items, &rules)
		if err == nil && len(parts) > 0 {
			tensors, err = join(tensors, parts, batched && !inputs[i].ShapeTensor)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	expected, err = expect(outputs, items, batched)
	return tensors, expected, err
}

// join adds the tensor that the parts make: of a batched model a batch of them.
func join(all, parts []Tensor, batched bool) ([]Tensor, error) {
	if !batched {
		return append(all, parts[0]), nil
	}
	t, err := Stack(parts)
	return append(all, t), err
}

// divide moves values that only the model can tell to inputs or expected outputs.
func (item *Item) divide(inputs, outputs []Spec) {
	isOutput := func(v Value) bool { return v.Either && !has(inputs, v.Name) && has(outputs, v.Name) }
	if !slices.ContainsFunc(item.Values, isOutput) {
		return
	}
	values := item.Values
	item.Values, item.Expected = nil, slices.Clone(item.Expected)
	for _, v := range values {
		switch {
		case !isOutput(v):
			item.Values = append(item.Values, v)
		case !v.Ignored:
			item.Expected = append(item.Expected, v)
		}
	}
}

func has(specs []Spec, name string) bool {
	return slices.ContainsFunc(specs, func(s Spec) bool { return s.Name == name })
}

// gather makes one input's tensors, one for each item; none where the model does
// without it.
func gather(spec *Spec, items []Item, rules *Rules) ([]Tensor, error) {
	var parts []Tensor
	for i := range items {
		at := slices.IndexFunc(items[i].Values, func(v Value) bool { return v.Name == spec.Name })
		var t Tensor
		var err error
		switch {
		case at >= 0 && rules.Exact && items[i].Values[at].Form == FormFile && rules.shape(spec) == nil && spec.Open():
			err = message.Errorf("%s: tensor %q has the shape %s, which the model leaves open%v", items[i].Values[at].Where(), spec.Name, ShapeText(spec.Shape), message.New(": state it with %v %s:D1,D2", message.Shape, spec.Name).Or(""))
		case at >= 0:
			t, err = items[i].Values[at].Tensor(spec, rules.shape(spec))
		case spec.Elsewhere:
			continue
		case rules.Fill.Kind != FillNone:
			t, err = rules.Fill.Tensor(spec, rules.shape(spec))
		case spec.Optional:
			continue
		default:
			err = missing(spec, &items[i])
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, t)
	}
	if len(parts) > 0 && len(parts) < len(items) {
		return nil, fmt.Errorf("input %q is given for %d of the %d items of a batch; give it for all or none", spec.Name, len(parts), len(items))
	}
	return parts, nil
}

func missing(spec *Spec, item *Item) error {
	where, names := "", []string{}
	for i := range item.Values {
		where = item.Values[i].Where() + ": "
		names = append(names, strconv.Quote(item.Values[i].Name))
	}
	has := "nothing is given"
	if len(names) > 0 {
		has = "given is " + strings.Join(names, ", ")
	}
	return fmt.Errorf("%sthe model needs input %q, %s of shape %s, and the data has none (%s)", where, spec.Name, spec.Datatype, ShapeText(spec.Shape), has)
}

// known checks that every value belongs to a tensor of the model.
func known(values []Value, specs []Spec, what string) error {
	for i := range values {
		v := &values[i]
		if v.Name == modelName || has(specs, v.Name) {
			continue
		}
		where := ""
		if v.File != "" {
			where = v.Where() + ": "
		}
		return fmt.Errorf("%sthe model has no %s %q; it has %s", where, what, v.Name, names(specs))
	}
	return nil
}

func names(specs []Spec) string {
	words := make([]string, len(specs))
	for i := range specs {
		words[i] = strconv.Quote(specs[i].Name)
	}
	return strings.Join(words, ", ")
}

// shape is the one that the user states for an input, or nil.
func (r *Rules) shape(spec *Spec) []int64 {
	if r.Exact && !spec.Open() {
		return nil
	}
	return r.Shapes[spec.Name]
}

// check says whether the shapes that the user states belong to the model.
func (r *Rules) check(inputs []Spec) error {
	for name, shape := range r.Shapes {
		at := slices.IndexFunc(inputs, func(s Spec) bool { return s.Name == name })
		if r.Exact && (at < 0 || !inputs[at].Open()) {
			continue
		}
		if at < 0 {
			return fmt.Errorf("a shape is given for %q, and the model has no such input; it has %s", name, names(inputs))
		}
		if err := fits(&inputs[at], shape); err != nil {
			return err
		}
	}
	return nil
}

// expect makes the outputs that the user expects, in the order of the model's outputs.
func expect(outputs []Spec, items []Item, batched bool) ([]Tensor, error) {
	var all []Tensor
	for o := range outputs {
		var parts []Tensor
		for i := range items {
			for v := range items[i].Expected {
				value := &items[i].Expected[v]
				if value.Name != outputs[o].Name {
					continue
				}
				t, err := value.Tensor(&outputs[o], nil)
				if err != nil {
					return nil, err
				}
				parts = append(parts, t)
			}
		}
		if len(parts) == 0 && slices.ContainsFunc(items, func(i Item) bool { return i.Complete }) {
			return nil, fmt.Errorf("the model has output %q, and validation_data has none of that name: give it for every output, or for none", outputs[o].Name)
		}
		if len(parts) == 0 {
			continue
		}
		if len(parts) != len(items) {
			return nil, fmt.Errorf("output %q is expected of %d of the %d items of a batch; expect it of all or none", outputs[o].Name, len(parts), len(items))
		}
		var err error
		if all, err = join(all, parts, batched && !outputs[o].ShapeTensor); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Compare says how a response differs from what was expected; nil means it does not. Shapes
// and bytes must be the same. Outputs that nothing is expected of do not matter.
func Compare(expected, got []Tensor) error {
	for i := range expected {
		want := &expected[i]
		at := slices.IndexFunc(got, func(t Tensor) bool { return t.Name == want.Name })
		if at < 0 {
			return fmt.Errorf("output %q is expected and is not in the response", want.Name)
		}
		have := &got[at]
		switch {
		case have.Datatype != want.Datatype:
			return fmt.Errorf("output %q is %s, expected %s", want.Name, have.Datatype, want.Datatype)
		case len(have.Data) != len(want.Data):
			return fmt.Errorf("output %q has %d bytes (shape %s), expected %d (shape %s)", want.Name, len(have.Data), ShapeText(have.Shape), len(want.Data), ShapeText(want.Shape))
		case !bytes.Equal(have.Data, want.Data):
			return fmt.Errorf("output %q differs from what is expected, first in byte %d", want.Name, firstDifference(have.Data, want.Data))
		}
	}
	return nil
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}
