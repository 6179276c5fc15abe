package triton

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// ModelInfo is what a server says about one of its models.
type ModelInfo struct {
	Name     string
	Platform string
	Backend  string
	// MaxBatch is the largest batch; 0: its tensors have no batch dimension.
	MaxBatch  int
	Decoupled bool // a request may have any number of responses
	Sequence  bool // requests belong to sequences
	Cached    bool // responses may come out of the server's cache
	Inputs    []tensor.Spec
	Outputs   []tensor.Spec
	Composing []ModelInfo // the steps of an ensemble, each model once
}

// All are the names of the model and of those that it is composed of, each once, the
// model itself first.
func (m *ModelInfo) All() []string {
	names := []string{m.Name}
	for i := range m.Composing {
		for _, name := range m.Composing[i].All() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Ensemble reports whether the model is one.
func (m *ModelInfo) Ensemble() bool { return m.Platform == "ensemble" || len(m.Composing) > 0 }

// Streams reports whether a request may have several responses: the model's own or
// those of a step of an ensemble.
func (m *ModelInfo) Streams() bool {
	return m.Decoupled || slices.ContainsFunc(m.Composing, func(c ModelInfo) bool { return c.Streams() })
}

func (m *ModelInfo) input(name string) *tensor.Spec { return find(m.Inputs, name) }

func (m *ModelInfo) output(name string) *tensor.Spec { return find(m.Outputs, name) }

func find(specs []tensor.Spec, name string) *tensor.Spec {
	if i := slices.IndexFunc(specs, func(s tensor.Spec) bool { return s.Name == name }); i >= 0 {
		return &specs[i]
	}
	return nil
}

// names lists tensors for a message, with what the model says of those that it
// insists on.
func names(specs []tensor.Spec) string {
	var needed, optional []string
	for _, s := range specs {
		if s.Optional {
			optional = append(optional, s.Name)
		} else {
			needed = append(needed, s.Name+" ("+s.Datatype.String()+tensor.ShapeText(s.Shape)+")")
		}
	}
	text := orNone(needed)
	if len(optional) > 0 {
		text += " and, optional, " + strings.Join(optional, ", ")
	}
	return text
}

// describe puts a model together. c is nil where the server gives no configuration:
// then nothing is known but its tensors, and shapes stand as the metadata has them.
func describe(m *kserve.ModelMetadata, c *kserve.ModelConfig) (ModelInfo, error) {
	if c == nil {
		c = new(kserve.ModelConfig)
	}
	out := ModelInfo{
		Name: m.Name, Platform: m.Platform, Backend: c.Backend, MaxBatch: int(c.MaxBatchSize),
		Decoupled: c.Decoupled(), Sequence: c.SequenceBatching != nil, Cached: c.Cached(),
	}
	var err error
	if out.Inputs, err = specs(m.Inputs, c.Input, out.MaxBatch > 0); err != nil {
		return out, fmt.Errorf("model %s: %w", out.Name, err)
	}
	if out.Outputs, err = specs(m.Outputs, nil, out.MaxBatch > 0); err != nil {
		return out, fmt.Errorf("model %s: %w", out.Name, err)
	}
	return out, nil
}

// specs joins what metadata and configuration say about tensors.
func specs(metas []kserve.TensorMetadata, configs []kserve.ModelInput, batched bool) ([]tensor.Spec, error) {
	var out []tensor.Spec
	for _, m := range metas {
		d, err := tensor.ParseDatatype(m.Datatype)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", m.Name, err)
		}
		s := tensor.Spec{Name: m.Name, Datatype: d, Shape: m.Shape}
		for _, c := range configs {
			if c.Name == s.Name {
				s.Optional, s.ShapeTensor = c.Optional, c.IsShapeTensor
			}
		}
		if batched && !s.ShapeTensor && len(s.Shape) > 0 {
			s.Shape = s.Shape[1:]
		}
		out = append(out, s)
	}
	return out, nil
}
