package triton

import (
	"slices"

	"inferometer/internal/tensor"
)

// Tensors implements endpoint.Tensored.
func (e *Endpoint) Tensors() *tensor.Model {
	return &tensor.Model{
		Name: e.model.Name, Inputs: e.model.Inputs, Outputs: e.model.Outputs,
		MaxBatch: e.model.MaxBatch, Sequences: e.model.sequences(),
	}
}

// sequences reports whether the model or one that it is composed of keeps state over
// sequences of requests.
func (m *Model) sequences() bool {
	return m.Sequence || slices.ContainsFunc(m.Composing, func(c Model) bool { return c.sequences() })
}
