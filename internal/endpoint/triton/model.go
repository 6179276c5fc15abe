package triton

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Model is what a server says about one of its models.
type Model struct {
	Name     string
	Versions []string // those that are ready
	Platform string
	Backend  string
	// MaxBatch is the largest batch; 0: its tensors have no batch dimension.
	MaxBatch  int
	Decoupled bool // a request may have any number of responses
	Sequence  bool // requests belong to sequences
	Cached    bool // responses may come out of the server's cache
	Inputs    []tensor.Spec
	Outputs   []tensor.Spec
	Composing []Model // the steps of an ensemble, each model once
}

// All are the names of the model and of those that it is composed of, each once, the
// model itself first.
func (m *Model) All() []string {
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
func (m *Model) Ensemble() bool { return m.Platform == "ensemble" || len(m.Composing) > 0 }

// Streams reports whether a request may have several responses: the model's own or
// those of a step of an ensemble.
func (m *Model) Streams() bool {
	return m.Decoupled || slices.ContainsFunc(m.Composing, func(c Model) bool { return c.Streams() })
}

// input is the input of that name; nil: there is none.
func (m *Model) input(name string) *tensor.Spec { return find(m.Inputs, name) }

// output is the output of that name; nil: there is none.
func (m *Model) output(name string) *tensor.Spec { return find(m.Outputs, name) }

func find(specs []tensor.Spec, name string) *tensor.Spec {
	for i := range specs {
		if specs[i].Name == name {
			return &specs[i]
		}
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

// metadata is what both sides of the protocol tell about a model.
type metadata struct {
	Name     string       `json:"name"`
	Versions []string     `json:"versions"`
	Platform string       `json:"platform"`
	Inputs   []tensorMeta `json:"inputs"`
	Outputs  []tensorMeta `json:"outputs"`
}

type tensorMeta struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []whole `json:"shape"`
}

// config is the part of a model's configuration that matters here.
type config struct {
	Platform string         `json:"platform"`
	Backend  string         `json:"backend"`
	MaxBatch whole          `json:"max_batch_size"`
	Inputs   []tensorConfig `json:"input"`
	Outputs  []tensorConfig `json:"output"`
	Policy   struct {
		Decoupled bool `json:"decoupled"`
	} `json:"model_transaction_policy"`
	Ensemble struct {
		Steps []struct {
			Model   string `json:"model_name"`
			Version whole  `json:"model_version"`
		} `json:"step"`
	} `json:"ensemble_scheduling"`
	Sequence *struct{} `json:"sequence_batching"`
	Cache    struct {
		Enable bool `json:"enable"`
	} `json:"response_cache"`
}

type tensorConfig struct {
	Name        string  `json:"name"`
	Datatype    string  `json:"data_type"`
	Dims        []whole `json:"dims"`
	Optional    bool    `json:"optional"`
	ShapeTensor bool    `json:"is_shape_tensor"`
}

// whole is a whole number, which protobuf's JSON may put in quotes.
type whole int64

// UnmarshalJSON reads a number with or without quotes.
func (w *whole) UnmarshalJSON(b []byte) error {
	_, err := fmt.Sscanf(strings.Trim(string(b), `"`), "%d", (*int64)(w))
	return err
}

func fromMetadata(m *kserve.ModelMetadataResponse) metadata {
	out := metadata{Name: m.GetName(), Versions: m.GetVersions(), Platform: m.GetPlatform()}
	list := func(from []*kserve.ModelMetadataResponse_TensorMetadata) (to []tensorMeta) {
		for _, t := range from {
			to = append(to, tensorMeta{t.GetName(), t.GetDatatype(), wholes(t.GetShape())})
		}
		return to
	}
	out.Inputs, out.Outputs = list(m.GetInputs()), list(m.GetOutputs())
	return out
}

func fromConfig(m *kserve.ModelConfig) *config {
	out := &config{Platform: m.GetPlatform(), Backend: m.GetBackend(), MaxBatch: whole(m.GetMaxBatchSize())}
	for _, t := range m.GetInput() {
		out.Inputs = append(out.Inputs, tensorConfig{t.GetName(), t.GetDataType().String(), wholes(t.GetDims()), t.GetOptional(), t.GetIsShapeTensor()})
	}
	for _, t := range m.GetOutput() {
		out.Outputs = append(out.Outputs, tensorConfig{Name: t.GetName(), Datatype: t.GetDataType().String(), Dims: wholes(t.GetDims())})
	}
	out.Policy.Decoupled = m.GetModelTransactionPolicy().GetDecoupled()
	out.Cache.Enable = m.GetResponseCache().GetEnable()
	if m.GetSequenceBatching() != nil {
		out.Sequence = new(struct{})
	}
	for _, s := range m.GetEnsembleScheduling().GetStep() {
		out.Ensemble.Steps = append(out.Ensemble.Steps, struct {
			Model   string `json:"model_name"`
			Version whole  `json:"model_version"`
		}{s.GetModelName(), whole(s.GetModelVersion())})
	}
	return out
}

func wholes(list []int64) []whole {
	out := make([]whole, len(list))
	for i, v := range list {
		out[i] = whole(v)
	}
	return out
}

func plainInts(list []whole) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = int64(v)
	}
	return out
}

// describe puts a model together. c is nil where the server gives no configuration:
// then nothing is known but its tensors, and shapes stand as the metadata has them.
func describe(m metadata, c *config) (Model, error) {
	out := Model{Name: m.Name, Versions: m.Versions, Platform: m.Platform}
	if c == nil {
		c = new(config)
	}
	out.Backend, out.MaxBatch = c.Backend, int(c.MaxBatch)
	out.Decoupled, out.Sequence, out.Cached = c.Policy.Decoupled, c.Sequence != nil, c.Cache.Enable
	var err error
	if out.Inputs, err = specs(m.Inputs, c.Inputs, out.MaxBatch > 0); err != nil {
		return out, fmt.Errorf("model %s: %w", m.Name, err)
	}
	if out.Outputs, err = specs(m.Outputs, c.Outputs, out.MaxBatch > 0); err != nil {
		return out, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return out, nil
}

// specs joins what metadata and configuration say about tensors.
func specs(metas []tensorMeta, configs []tensorConfig, batched bool) ([]tensor.Spec, error) {
	var out []tensor.Spec
	for _, m := range metas {
		d, err := tensor.ParseDatatype(m.Datatype)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", m.Name, err)
		}
		s := tensor.Spec{Name: m.Name, Datatype: d, Shape: plainInts(m.Shape)}
		for _, c := range configs {
			if c.Name == m.Name {
				s.Optional, s.ShapeTensor = c.Optional, c.ShapeTensor
			}
		}
		if batched && !s.ShapeTensor && len(s.Shape) > 0 {
			s.Shape = s.Shape[1:]
		}
		out = append(out, s)
	}
	return out, nil
}
