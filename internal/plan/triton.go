package plan

// The conventions by which models behind Triton take prompts.
const (
	ConventionAuto    = "auto"          // found out from the model's tensors
	ConventionTRTLLM  = "trtllm"        // TensorRT-LLM ensemble: text_input, max_tokens → text_output
	ConventionVLLM    = "vllm"          // vLLM backend: text_input, sampling_parameters → text_output
	ConventionVLLMOld = "vllm-old"      // its first example: PROMPT, STREAM, SAMPLING_PARAMETERS → TEXT
	ConventionEngine  = "trtllm-engine" // TensorRT-LLM engine: input_ids, input_lengths, request_output_len → output_ids
	ConventionTensors = "tensors"       // plain tensors
)

// The other words of Triton's part.
const (
	CompressionGzip    = "gzip"
	CompressionDeflate = "deflate"

	FormatBinary = "binary"
	FormatJSON   = "json"

	MemorySystem = "system"
)

// Triton is what only that protocol has.
type Triton struct {
	Convention   string
	Version      string
	Parameters   map[string]any
	Streams      int
	Compression  string
	MaxMessage   int
	KeepAlive    Duration
	InputFormat  string
	OutputFormat string
	Composing    []string
	SharedMemory string
	OutputMemory int
	Trace        map[string]string
}

// The words of tensor data.
const (
	SourceTensors = "tensors"

	FillZero   = "zero"
	FillRandom = "random"

	SequencesOn  = "on"
	SequencesOff = "off"
)

// Tensors says what requests carry in place of prompts: values for a model's inputs, read or
// generated.
type Tensors struct {
	Files        []string
	Fill         string
	StringLength int
	StringData   string
	Shapes       []string
	Batch        int
	Timestamps   bool
	Sequences    Sequences
}

// Sequences are rows of requests that a server keeps state over.
type Sequences struct {
	Mode      string
	Live      int
	Serial    bool
	Length    int
	Variation float64
	FirstID   uint64
	IDs       uint64
}
