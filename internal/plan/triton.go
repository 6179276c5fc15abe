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
	Convention string // empty is ConventionAuto
	Version    string // of the model; empty: the server's choice
	// Parameters of every request: true or false, integers, numbers or text.
	Parameters map[string]any
	Streams    int // gRPC streams that requests share; 0: one for each request in flight
	// Compression of requests: "gzip" or "deflate"; over gRPC answers may be too.
	Compression  string
	MaxMessage   int      // largest message that is accepted, in bytes; 0: any
	KeepAlive    Duration // a gRPC connection is pinged after so long without a read; 0: never
	InputFormat  string   // of tensors in HTTP infer: "binary" (also when empty) or "json"
	OutputFormat string
	Composing    []string // models behind one that calls others itself (BLS)
	// SharedMemory: tensors of the data lie in memory that the server reads in place.
	SharedMemory string // "system"; empty: they are sent
	OutputMemory int    // bytes for each output there; 0: outputs are sent back
	// Trace are settings of the server's own traces, which it is given before the run.
	Trace map[string]string
}
