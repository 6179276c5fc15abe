package predict

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// mostMetadata bounds what is read of a model's metadata.
const mostMetadata = 16 << 20

// mostItems is the batch size of a model that does not bound it.
const mostItems = 1 << 20

// metadata is what TensorFlow Serving says of a model.
type metadata struct {
	Metadata struct {
		Signatures struct {
			Of map[string]struct {
				Inputs, Outputs map[string]info
			} `json:"signature_def"`
		} `json:"signature_def"`
	} `json:"metadata"`
}

type info struct {
	Type  string `json:"dtype"`
	Shape struct {
		Dims []struct {
			Size string `json:"size"`
		} `json:"dim"`
		Unknown bool `json:"unknown_rank"`
	} `json:"tensor_shape"`
}

func readModel(r io.Reader, signature string) (*tensor.Signature, error) {
	var doc metadata
	if err := json.NewDecoder(r).Decode(&doc); err != nil {
		return nil, err
	}
	s, ok := doc.Metadata.Signatures.Of[signature]
	if !ok {
		names := slices.Sorted(maps.Keys(doc.Metadata.Signatures.Of))
		return nil, message.Errorf("it has no signature %q; it has: %s (%v)", signature, strings.Join(names, ", "), message.Signature)
	}
	m := new(tensor.Signature)
	var err error
	if m.Inputs, err = specs(s.Inputs); err != nil {
		return nil, err
	}
	if m.Outputs, err = specs(s.Outputs); err != nil {
		return nil, err
	}
	// A first dimension that every input leaves open is that of the batch.
	batched := len(m.Inputs) > 0
	for _, in := range m.Inputs {
		batched = batched && len(in.Shape) > 0 && in.Shape[0] == -1
	}
	if batched {
		m.MaxBatch = mostItems
		for i := range m.Inputs {
			m.Inputs[i].Shape = m.Inputs[i].Shape[1:]
		}
		for i := range m.Outputs {
			m.Outputs[i].Shape = m.Outputs[i].Shape[min(1, len(m.Outputs[i].Shape)):]
		}
	}
	return m, nil
}

func specs(of map[string]info) ([]tensor.Spec, error) {
	var list []tensor.Spec
	for _, name := range slices.Sorted(maps.Keys(of)) {
		in := of[name]
		spec := tensor.Spec{Name: name, Shape: []int64{}}
		var err error
		if spec.Datatype, err = datatype(in.Type); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if in.Shape.Unknown {
			return nil, fmt.Errorf("tensor %q has an unknown shape, which is not supported", name)
		}
		for _, d := range in.Shape.Dims {
			n, err := strconv.ParseInt(d.Size, 10, 64)
			if err != nil || n < -1 {
				return nil, fmt.Errorf("tensor %q has a dimension of %q", name, d.Size)
			}
			spec.Shape = append(spec.Shape, n)
		}
		list = append(list, spec)
	}
	return list, nil
}

// datatype is TensorFlow's name for a type in Triton's words.
func datatype(name string) (tensor.Datatype, error) {
	word := strings.TrimPrefix(name, "DT_")
	if other, ok := map[string]string{"FLOAT": "FP32", "DOUBLE": "FP64", "HALF": "FP16", "BFLOAT16": "BF16", "STRING": "BYTES"}[word]; ok {
		word = other
	}
	d, err := tensor.ParseDatatype(word)
	if err != nil {
		return d, fmt.Errorf("the datatype %q is not known", name)
	}
	return d, nil
}
