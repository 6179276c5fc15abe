package triton

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// convention is how models of one kind take a prompt and give their answer. A name
// that is empty is a tensor that they do not have; of the others a model may lack all
// but the needed ones.
type convention struct {
	name string
	// inputs
	text, length, minimum, stream, sampling, exclude, ids, idsLength string
	returnIn, returnOut                                              string
	blank                                                            []string // strings that a model may insist on
	// outputs
	answer, answerIDs, finish, tokensIn, tokensOut string
	needs                                          []string // inputs without which it is another one
}

// conventions are those of language models, in the order they are
// recognised.
func conventions() []convention {
	return []convention{{
		name: plan.ConventionVLLM,
		text: "text_input", stream: "stream", sampling: "sampling_parameters", exclude: "exclude_input_in_output",
		returnIn: "return_num_input_tokens", returnOut: "return_num_output_tokens",
		answer: "text_output", finish: "finish_reason", tokensIn: "num_input_tokens", tokensOut: "num_output_tokens",
		needs: []string{"text_input", "sampling_parameters"},
	}, {
		name: plan.ConventionVLLMOld,
		text: "PROMPT", stream: "STREAM", sampling: "SAMPLING_PARAMETERS", answer: "TEXT",
		needs: []string{"PROMPT"},
	}, {
		name: plan.ConventionTRTLLM,
		text: "text_input", length: "max_tokens", minimum: "min_length", stream: "stream", exclude: "exclude_input_in_output",
		returnIn: "return_num_input_tokens", returnOut: "return_num_output_tokens",
		blank:  []string{"bad_words", "stop_words"},
		answer: "text_output", finish: "finish_reason", tokensIn: "num_input_tokens", tokensOut: "num_output_tokens",
		needs: []string{"text_input"},
	}, {
		name: plan.ConventionEngine,
		ids:  "input_ids", idsLength: "input_lengths", length: "request_output_len", minimum: "min_length", stream: "streaming",
		exclude: "exclude_input_in_output", answerIDs: "output_ids",
		needs: []string{"input_ids", "input_lengths", "request_output_len"},
	}}
}

// conventionOf is the convention of that name. Plain tensors have none of the names.
func conventionOf(name string) convention {
	for _, c := range conventions() {
		if c.name == name {
			return c
		}
	}
	return convention{name: plan.ConventionTensors}
}

// detect finds the convention that a model's tensors follow.
func detect(m *ModelInfo) convention {
	for _, c := range conventions() {
		if c.missing(m) == "" && (m.output(c.answer) != nil || m.output(c.answerIDs) != nil) {
			return c
		}
	}
	return convention{name: plan.ConventionTensors}
}

// missing is the first input that the convention needs and the model lacks.
func (c *convention) missing(m *ModelInfo) string {
	for _, name := range c.needs {
		if m.input(name) == nil {
			return name
		}
	}
	return ""
}

// chooseConvention gives the convention to use: the one that the user names, if the model can
// do it, or the model's own.
func chooseConvention(m *ModelInfo, wanted string) (convention, error) {
	if wanted == "" || wanted == plan.ConventionAuto {
		return detect(m), nil
	}
	c := conventionOf(wanted)
	if name := c.missing(m); name != "" {
		return c, message.Errorf("convention %s needs an input %s, which model %s lacks; its inputs are %s%v",
			wanted, name, m.Name, names(m.Inputs), another(m))
	}
	if c.name == plan.ConventionTensors {
		return c, nil
	}
	answer := c.answer + c.answerIDs
	if m.output(answer) == nil {
		return c, message.Errorf("convention %s needs an output %s, which model %s lacks; its outputs are %s%v",
			wanted, answer, m.Name, names(m.Outputs), another(m))
	}
	return c, nil
}

// another is what to do where a model does not follow the convention that was named.
func another(m *ModelInfo) message.Message {
	return message.New(": leave %v out, or use %s", message.Convention, detect(m).name).Or("")
}

// wantType makes sure that an input can be filled in the way that the convention says.
func wantType(m *ModelInfo, s *tensor.Spec, types ...tensor.Datatype) error {
	if slices.Contains(types, s.Datatype) {
		return nil
	}
	words := make([]string, len(types))
	for i, d := range types {
		words[i] = d.String()
	}
	return message.Errorf("input %s of model %s is %s, but a prompt needs %s%v", s.Name, m.Name, s.Datatype, strings.Join(words, " or "),
		message.New(": use %v tensors and give its inputs as data", message.Convention).Or(""))
}

// single is the shape of one element as a tensor of s, with its batch dimension.
func single(m *ModelInfo, s *tensor.Spec) ([]int64, error) {
	var shape []int64
	if m.MaxBatch > 0 && !s.ShapeTensor {
		shape = append(shape, 1)
	}
	for _, d := range s.Shape {
		if d > 1 || d == 0 {
			return nil, fmt.Errorf("input %s of model %s has the shape %s, but a prompt needs a single value", s.Name, m.Name, tensor.ShapeText(s.Shape))
		}
		shape = append(shape, 1)
	}
	return shape, nil
}

var errNoIDs = message.Errorf("the model takes token IDs: set its tokenizer with %v", message.Tokenizer)
