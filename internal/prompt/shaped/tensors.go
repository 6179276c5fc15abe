package shaped

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// usualOutput is the length that TensorRT-LLM is asked for by default.
const usualOutput = 256

// The inputs of language models behind Triton that are filled.
const (
	inputText     = "text_input"
	inputLength   = "max_tokens"
	inputMinimum  = "min_length"
	inputExclude  = "exclude_input_in_output"
	inputStream   = "stream"
	inputSampling = "sampling_parameters"
)

// generate is a body of Triton's endpoint generate.
func (s *Source) generate(p *prompt.Prompt) object {
	o := object{{inputText, prompts(p)}}
	if s.target.Streaming {
		o.Set(inputStream, true)
	}
	if p.Output > 0 {
		o.Set(inputLength, p.Output)
	}
	o = s.add(o, p)
	addInputs(&o, p)
	return o
}

// addInputs adds the inputs that a request has for itself: one that is a list of one is a value.
func addInputs(o *object, p *prompt.Prompt) {
	for _, f := range p.Tensors {
		var one []json.RawMessage
		if json.Unmarshal(f.Value, &one) == nil && len(one) == 1 {
			o.Set(f.Name, one[0])
		} else {
			o.Set(f.Name, f.Value)
		}
	}
}

// tensors are all inputs of a request to a model behind Triton, in the order of the
// original. Once the model is known, they are those that it has.
func (s *Source) tensors(p *prompt.Prompt) ([]prompt.Field, error) {
	o := object{{inputText, plain(p, "\n")}}
	if s.target.Triton.Convention == plan.ConventionVLLM {
		s.vllm(&o, p.Output)
	} else {
		s.trtllm(&o, p.Output)
	}
	for _, name := range slices.Sorted(maps.Keys(s.target.Body)) {
		if v := s.target.Body[name]; v != nil {
			o.Set(name, v)
		}
	}
	addInputs(&o, p)
	if s.model != nil {
		var err error
		if o, err = s.fitting(o); err != nil {
			return nil, err
		}
	}
	fields := make([]prompt.Field, len(o))
	for i, m := range o {
		value, err := orderedjson.Compact(m.Value)
		if err != nil {
			return nil, fmt.Errorf("writing the input %s of a request: %w", m.Name, err)
		}
		fields[i] = prompt.Field{Name: m.Name, Value: value}
	}
	return fields, nil
}

// vllm adds the inputs of a model of vLLM, which takes numbers of tokens as texts.
func (s *Source) vllm(o *object, output int) {
	o.Set(inputExclude, true)
	if s.target.Streaming {
		o.Set(inputStream, true)
	}
	if output == 0 {
		return
	}
	sampling := `{"max_tokens":"` + strconv.Itoa(output) + `"`
	if s.minimum {
		sampling += `,"min_tokens":"` + strconv.Itoa(output) + `"`
	}
	o.Set(inputSampling, sampling+"}")
}

// trtllm adds the inputs of a model of TensorRT-LLM.
func (s *Source) trtllm(o *object, output int) {
	if output == 0 {
		output = usualOutput
	}
	o.Set(inputLength, output)
	o.Set(inputExclude, true)
	if s.target.Streaming {
		o.Set(inputStream, true)
	}
	if s.minimum {
		o.Set(inputMinimum, output)
	}
}

// Fit implements prompt.ModelBinder.
func (s *Source) Fit(m *tensor.Signature) error {
	if s.target.Protocol == plan.ProtocolTriton && s.target.Endpoint != plan.EndpointGenerate {
		s.model = m
	}
	return s.Wrapper.Fit(m)
}

// Fitted is a prompt with the inputs that the model has.
func (s *Source) Fitted(p prompt.Prompt) (prompt.Prompt, error) {
	if s.model == nil {
		return p, nil
	}
	return s.tensored(p)
}

// tensored gives a prompt its inputs. Its hash is that of all of them.
func (s *Source) tensored(p prompt.Prompt) (prompt.Prompt, error) {
	var err error
	if p.Tensors, err = s.tensors(&p); err != nil {
		return p, err
	}
	p.Hash = prompt.HashText(p.Model)
	for _, f := range p.Tensors {
		p.Hash = prompt.Mix(p.Hash ^ prompt.HashText(f.Name+string(f.Value)))
	}
	return p, nil
}

// fitting are the inputs that the model has, and those that it insists on. What else the
// user gives is a sampling parameter where the model has such.
func (s *Source) fitting(all object) (object, error) {
	var out, sampling object
	for _, m := range all {
		switch {
		case s.has(m.Name):
			out = append(out, m)
		case m.Name == inputMinimum && s.has("min_tokens"): // as newer models call it
			out.Set("min_tokens", m.Value)
		case slices.Contains([]string{inputMinimum, inputExclude, inputStream}, m.Name):
		case s.target.Triton.Convention == plan.ConventionVLLM && s.has(inputSampling):
			sampling = append(sampling, m)
		default:
			return nil, fmt.Errorf("a request has the input %s, which model %s does not have: its inputs are %s", m.Name, s.model.Name, s.inputs())
		}
	}
	for _, spec := range s.model.Inputs {
		switch {
		case spec.Optional || out.Get(spec.Name) != nil:
		case slices.Contains([]string{"bad_words", "stop_words"}, spec.Name) && spec.Datatype == tensor.Bytes:
			out.Set(spec.Name, "")
		default:
			return nil, message.Errorf("model %s needs the input %s, which requests do not have: give it with %v", s.model.Name, spec.Name, message.New("%v %s:VALUE", message.Extra, spec.Name).Or("the data"))
		}
	}
	return sampled(out, sampling)
}

// sampled puts values among the sampling parameters.
func sampled(o, values object) (object, error) {
	if len(values) == 0 {
		return o, nil
	}
	given := "{}"
	if v := o.Get(inputSampling); v != nil {
		text, err := orderedjson.Compact(v)
		if err == nil {
			err = json.Unmarshal(text, &given)
		}
		if err != nil {
			return nil, fmt.Errorf("the input %s is not text: %s", inputSampling, text)
		}
	}
	more, err := orderedjson.Compact(values)
	if err != nil {
		return nil, err
	}
	text, ok := strings.CutSuffix(strings.TrimSpace(given), "}")
	if !ok {
		return nil, fmt.Errorf("the input %s is not a JSON object: %s", inputSampling, given)
	}
	if strings.TrimSpace(text) != "{" {
		text += ","
	}
	o.Set(inputSampling, text+string(more[1:]))
	return o, nil
}

func (s *Source) has(name string) bool {
	return slices.ContainsFunc(s.model.Inputs, func(i tensor.Spec) bool { return i.Name == name })
}

func (s *Source) inputs() string {
	names := make([]string, len(s.model.Inputs))
	for i, in := range s.model.Inputs {
		names[i] = in.Name
	}
	return strings.Join(names, ", ")
}
