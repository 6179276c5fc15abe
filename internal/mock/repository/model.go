package repository

import (
	"fmt"
	"slices"
	"strings"
)

// Convention is how a model of the Triton side takes prompts and gives text.
type Convention string

// The conventions that models can have.
const (
	ConventionAny    Convention = "any"      // settled for each request, by its inputs
	ConventionVLLM   Convention = "vllm"     // the vLLM backend
	ConventionOld    Convention = "vllm-old" // the first example of vLLM under Triton: PROMPT, STREAM, SAMPLING_PARAMETERS → TEXT
	ConventionTRTLLM Convention = "trtllm"   // the ensemble of TensorRT-LLM, with three models behind it
	ConventionEngine Convention = "engine"   // the engine of TensorRT-LLM: token ids in and out
	ConventionAdd    Convention = "add"      // OUTPUT0 = INPUT0 + INPUT1, not decoupled
	ConventionSum    Convention = "sequence" // the running sum of a sequence
	ConventionBefore Convention = "preprocessing"
	ConventionAfter  Convention = "postprocessing"
)

// Conventions are those that can be asked for.
func Conventions() []Convention {
	return []Convention{ConventionAny, ConventionVLLM, ConventionOld, ConventionTRTLLM, ConventionEngine, ConventionAdd, ConventionSum}
}

// Tensor is a tensor of a model.
type Tensor struct {
	name     string
	datatype string
	dims     []int64 // without the batch
	optional bool
}

// Spec is what is fixed about the models of a convention.
type Spec struct {
	Convention Convention
	platform   string // of metadata
	backend    string
	MaxBatch   int
	Decoupled  bool
	Llm        bool
	inputs     []Tensor
	outputs    []Tensor
	required   int // inputs that are not optional
}

// names of the models behind an ensemble.
const (
	beforeModel = "preprocessing"
	engineModel = "tensorrt_llm"
	afterModel  = "postprocessing"
)

func in(name, datatype string, dims ...int64) Tensor {
	return Tensor{name: name, datatype: datatype, dims: dims}
}

func opt(name, datatype string, dims ...int64) Tensor {
	return Tensor{name: name, datatype: datatype, dims: dims, optional: true}
}

func vllmInputs() []Tensor {
	return []Tensor{
		in("text_input", "BYTES", 1), opt("stream", "BOOL", 1), opt("sampling_parameters", "BYTES", 1),
		opt("exclude_input_in_output", "BOOL", 1), opt("return_finish_reason", "BOOL", 1), opt("return_cumulative_logprob", "BOOL", 1),
		opt("return_logprobs", "BOOL", 1), opt("return_num_input_tokens", "BOOL", 1), opt("return_num_output_tokens", "BOOL", 1),
	}
}

func vllmOutputs() []Tensor {
	return []Tensor{
		in("text_output", "BYTES", -1), in("finish_reason", "BYTES", -1), in("cumulative_logprob", "FP32", -1),
		in("logprobs", "BYTES", -1), in("num_input_tokens", "UINT32", 1), in("num_output_tokens", "UINT32", -1),
	}
}

// trtllmOptional are the optional inputs of TensorRT-LLM's ensemble.
func trtllmOptional() []Tensor {
	return []Tensor{
		opt("bad_words", "BYTES", -1), opt("stop_words", "BYTES", -1), opt("end_id", "INT32", 1), opt("pad_id", "INT32", 1),
		opt("top_k", "INT32", 1), opt("top_p", "FP32", 1), opt("temperature", "FP32", 1), opt("length_penalty", "FP32", 1),
		opt("repetition_penalty", "FP32", 1), opt("min_length", "INT32", 1), opt("presence_penalty", "FP32", 1),
		opt("frequency_penalty", "FP32", 1), opt("random_seed", "UINT64", 1), opt("return_log_probs", "BOOL", 1),
		opt("return_context_logits", "BOOL", 1), opt("return_generation_logits", "BOOL", 1), opt("beam_width", "INT32", 1),
		opt("stream", "BOOL", 1), opt("exclude_input_in_output", "BOOL", 1), opt("ignore_eos", "BOOL", 1),
		opt("embedding_bias_words", "BYTES", -1), opt("embedding_bias_weights", "FP32", -1),
	}
}

// anyInputs are the inputs of all conventions of text, all optional: those sent decide the
// response.
func anyInputs() []Tensor {
	all := vllmInputs()
	all[0].optional = true
	more := append([]Tensor{opt("max_tokens", "INT32", 1)}, trtllmOptional()...)
	more = append(more, opt("PROMPT", "BYTES", 1), opt("STREAM", "BOOL", 1), opt("SAMPLING_PARAMETERS", "BYTES", 1))
	for _, t := range more {
		if !slices.ContainsFunc(all, func(o Tensor) bool { return o.name == t.name }) {
			all = append(all, t)
		}
	}
	return all
}

func specOf(c Convention) *Spec {
	m := &Spec{Convention: c, platform: "python", backend: "python"}
	switch c {
	case ConventionVLLM:
		m.platform, m.backend, m.Decoupled, m.Llm = "vllm", "vllm", true, true
		m.inputs, m.outputs = vllmInputs(), vllmOutputs()
	case ConventionOld:
		m.Decoupled, m.Llm = true, true
		m.inputs = []Tensor{in("PROMPT", "BYTES", 1), opt("STREAM", "BOOL", 1), opt("SAMPLING_PARAMETERS", "BYTES", 1)}
		m.outputs = []Tensor{in("TEXT", "BYTES", -1)}
	case ConventionTRTLLM:
		m.platform, m.backend, m.Decoupled, m.Llm, m.MaxBatch = "ensemble", "", true, true, 64
		m.inputs = append([]Tensor{in("text_input", "BYTES", 1), in("max_tokens", "INT32", 1)}, trtllmOptional()...)
		m.outputs = []Tensor{in("text_output", "BYTES", 1)}
	case ConventionEngine:
		m.platform, m.backend, m.Decoupled, m.Llm, m.MaxBatch = "tensorrtllm", "tensorrtllm", true, true, 64
		m.inputs = []Tensor{
			in("input_ids", "INT32", -1), in("input_lengths", "INT32", 1), in("request_output_len", "INT32", 1),
			opt("streaming", "BOOL", 1), opt("min_length", "INT32", 1), opt("end_id", "INT32", 1), opt("pad_id", "INT32", 1),
			opt("runtime_top_k", "INT32", 1), opt("runtime_top_p", "FP32", 1), opt("temperature", "FP32", 1), opt("beam_width", "INT32", 1),
			opt("random_seed", "UINT64", 1),
		}
		m.outputs = []Tensor{in("output_ids", "INT32", -1), in("sequence_length", "INT32", 1)}
	case ConventionAdd:
		m.MaxBatch = 16
		m.inputs = []Tensor{in("INPUT0", "FP32", 16), in("INPUT1", "FP32", 16)}
		m.outputs = []Tensor{in("OUTPUT0", "FP32", 16)}
	case ConventionSum:
		m.MaxBatch = 8
		m.inputs, m.outputs = []Tensor{in("INPUT", "INT32", 1)}, []Tensor{in("OUTPUT", "INT32", 1)}
	case ConventionBefore:
		m.MaxBatch = 64
		m.inputs = []Tensor{in("QUERY", "BYTES", 1), opt("REQUEST_OUTPUT_LEN", "INT32", 1)}
		m.outputs = []Tensor{in("INPUT_ID", "INT32", -1), in("REQUEST_INPUT_LEN", "INT32", 1), in("OUT_LEN", "INT32", 1)}
	case ConventionAfter:
		m.MaxBatch = 64
		m.inputs = []Tensor{in("TOKENS", "INT32", -1), in("LENGTH", "INT32", 1)}
		m.outputs = []Tensor{in("OUTPUT", "BYTES", 1)}
	default:
		m.Decoupled, m.Llm = true, true
		m.inputs = anyInputs()
		m.outputs = append(vllmOutputs(), in("TEXT", "BYTES", -1))
	}
	for _, t := range m.inputs {
		if !t.optional {
			m.required++
		}
	}
	if c == ConventionAny {
		m.required = 1 // a prompt, under either name
	}
	return m
}

// guess names the convention of a model that no flag speaks of.
func guess(name string) Convention {
	n := strings.ToLower(name)
	switch {
	case n == beforeModel:
		return ConventionBefore
	case n == afterModel:
		return ConventionAfter
	case n == engineModel:
		return ConventionEngine
	case strings.Contains(n, "ensemble"), strings.Contains(n, "trtllm"), strings.Contains(n, "tensorrt"):
		return ConventionTRTLLM
	case strings.Contains(n, "add"):
		return ConventionAdd
	case strings.Contains(n, "sequence"):
		return ConventionSum
	case strings.Contains(n, "vllm") && n != "vllm":
		return ConventionVLLM
	}
	// The bare name is what the first example used, and what people still use.
	return ConventionAny
}

// tensorOf returns a tensor's spec by name, or nil.
func tensorOf(all []Tensor, name string) *Tensor {
	if i := slices.IndexFunc(all, func(t Tensor) bool { return t.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Model is a model of the Triton side.
type Model struct {
	Name  string
	Spec  *Spec
	stats modelStats
	sums  sequenceSums

	// Behind an ensemble: the text's way in, the engine, the text's way out.
	before, engine, after *Model
}

// check says what is wrong with a request's tensors, in Triton's words and order.
func (m *Model) check(r *Request) error {
	if n := len(r.Inputs); n < m.Spec.required || n > len(m.Spec.inputs) {
		return m.wrongCount(r)
	}
	batch := int64(-1)
	for i := range r.Inputs {
		in := &r.Inputs[i]
		for _, o := range r.Inputs[:i] {
			if o.name == in.name {
				return fmt.Errorf("%sinput '%s' already exists in request", RequestID(r), in.name)
			}
		}
		spec := tensorOf(m.Spec.inputs, in.name)
		if spec == nil {
			return fmt.Errorf("unexpected inference input '%s' for model '%s'", in.name, m.Name)
		}
		if in.datatype != spec.datatype {
			return fmt.Errorf("%sinference input '%s' data-type is '%s', but model '%s' expects '%s'", RequestID(r), in.name, in.datatype, m.Name, spec.datatype)
		}
		if err := m.checkShape(r, in, spec, &batch); err != nil {
			return err
		}
		if in.Region == "" {
			if err := in.sizeError(m.Name); err != nil {
				return fmt.Errorf("%s%w", RequestID(r), err)
			}
		}
	}
	for _, o := range r.Outputs {
		if tensorOf(m.Spec.outputs, o.Name) == nil {
			return fmt.Errorf("unexpected inference output '%s' for model '%s'", o.Name, m.Name)
		}
	}
	return nil
}

func (m *Model) wrongCount(r *Request) error {
	var got, missing []string
	for _, in := range slices.Backward(r.Inputs) {
		got = append(got, "'"+in.name+"'")
	}
	for _, t := range m.Spec.inputs {
		if !t.optional && r.Find(t.name) == nil {
			missing = append(missing, "'"+t.name+"'")
		}
	}
	want := fmt.Sprintf("expected %d inputs", m.Spec.required)
	if m.Spec.required < len(m.Spec.inputs) {
		want = fmt.Sprintf("expected number of inputs between %d and %d", m.Spec.required, len(m.Spec.inputs))
	}
	return fmt.Errorf("%s%s but got %d inputs for model '%s'. Got input(s) [%s], but missing required input(s) [%s]. Please provide all required input(s).",
		RequestID(r), want, len(r.Inputs), m.Name, strings.Join(got, ","), strings.Join(missing, ","))
}

func (m *Model) checkShape(r *Request, in *Input, spec *Tensor, batch *int64) error {
	shape := in.Shape
	if m.Spec.MaxBatch > 0 {
		if len(shape) == 0 || *batch >= 0 && shape[0] != *batch {
			return fmt.Errorf("%sinput '%s' batch size does not match other inputs for '%s'", RequestID(r), in.name, m.Name)
		}
		if *batch = shape[0]; *batch > int64(m.Spec.MaxBatch) {
			return fmt.Errorf("%sinference request batch-size must be <= %d for '%s'", RequestID(r), m.Spec.MaxBatch, m.Name)
		}
		shape = shape[1:]
	}
	fits := len(shape) == len(spec.dims)
	for i := range min(len(shape), len(spec.dims)) {
		fits = fits && (spec.dims[i] == -1 || spec.dims[i] == shape[i])
	}
	if m.Spec.Convention == ConventionAny && Elements(in.Shape) == 1 {
		fits = true // conventions with and without a batch meet here
	}
	if fits {
		return nil
	}
	note := ""
	if m.Spec.MaxBatch > 0 {
		note = "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to each input shape. If you want to specify the full shape including the batch dim in your input dims config, try setting max_batch_size to zero. See the model configuration docs for more info on max_batch_size."
	}
	return fmt.Errorf("%sunexpected shape for input '%s' for model '%s'. Expected %s, got %s. %s",
		RequestID(r), in.name, m.Name, shapeText(m.fullShape(spec.dims)), shapeText(in.Shape), note)
}

func (m *Model) fullShape(dims []int64) []int64 {
	if m.Spec.MaxBatch > 0 {
		return append([]int64{-1}, dims...)
	}
	return dims
}

func shapeText(shape []int64) string {
	return strings.ReplaceAll(fmt.Sprint(shape), " ", ",")
}

// RequestID is what Triton's messages call a request.
func RequestID(r *Request) string {
	if r.ID == "" {
		return "[request id: <id_unknown>] "
	}
	return "[request id: " + r.ID + "] "
}
