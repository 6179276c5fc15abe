package triton

import (
	"slices"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Tensors are those that the model takes and gives.
func (e *Endpoint) Tensors() *tensor.Signature {
	return &tensor.Signature{
		Name: e.model.Name, Inputs: e.inputs(), Outputs: e.model.Outputs,
		MaxBatch: e.model.MaxBatch, Sequences: e.sequences(),
	}
}

// inputs are the model's, with those marked that the plan gives a value.
func (e *Endpoint) inputs() []tensor.Spec {
	all := slices.Clone(e.model.Inputs)
	for i := range all {
		all[i].Elsewhere = slices.ContainsFunc(e.layout.slots[without], func(s slot) bool { return s.extra && s.Name == all[i].Name })
	}
	return all
}

// sequences reports whether requests form sequences: the model keeps state over them, or one of
// those behind it does.
func (e *Endpoint) sequences() bool {
	return e.model.sequences() || slices.ContainsFunc(e.behind, func(m ModelInfo) bool { return m.sequences() })
}

// sequences reports whether the model or one that it is composed of keeps state over
// sequences of requests.
func (m *ModelInfo) sequences() bool {
	return m.Sequence || slices.ContainsFunc(m.Composing, func(c ModelInfo) bool { return c.sequences() })
}
