package plan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/message"
)

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
	// Parameters of every request: true or false, whole numbers, numbers or text.
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

func tritonEndpoints() []string { return []string{EndpointStream, EndpointInfer, EndpointGenerate} }

var tritonSpec = sync.OnceValue(func() codec[Triton] {
	formats := word(FormatBinary, FormatJSON)
	return object(
		fieldOf("convention", word(ConventionAuto, ConventionTRTLLM, ConventionVLLM, ConventionVLLMOld, ConventionEngine, ConventionTensors),
			func(t *Triton) *string { return &t.Convention }, "How a prompt is mapped to tensors; left out: from the model's inputs."),
		fieldOf("version", text(), func(t *Triton) *string { return &t.Version }, "Version of the model; left out: the server's choice."),
		fieldOf("parameters", bodySpec(), func(t *Triton) *map[string]any { return &t.Parameters },
			"Parameters of every request: true or false, numbers or text."),
		fieldOf("streams", count[int](mostInFlight), func(t *Triton) *int { return &t.Streams },
			"gRPC streams that the requests share, each on a connection of its own. Left out: one for each request in flight."),
		fieldOf("compression", word(CompressionGzip, CompressionDeflate),
			func(t *Triton) *string { return &t.Compression }, "How requests are compressed, ahead of time."),
		fieldOf("max_message", count[int](mostMessage), func(t *Triton) *int { return &t.MaxMessage },
			"Largest gRPC message to accept, in bytes; 0: any."),
		fieldOf("keep_alive", duration(), func(t *Triton) *Duration { return &t.KeepAlive },
			"Ping a gRPC connection that has been idle for this long; 0: never."),
		fieldOf("input_format", formats, func(t *Triton) *string { return &t.InputFormat }, "Encoding of input tensors over HTTP; left out: binary."),
		fieldOf("output_format", formats, func(t *Triton) *string { return &t.OutputFormat }, "Encoding of output tensors over HTTP; left out: binary."),
		fieldOf("composing", list("list of models", text()), func(t *Triton) *[]string { return &t.Composing },
			"Models that the model calls itself (BLS), for the server's statistics. Those of an ensemble are found automatically."),
		fieldOf("shared_memory", word(MemorySystem), func(t *Triton) *string { return &t.SharedMemory },
			"Pass input tensors in shared memory, for a server on this machine. Left out: they are sent."),
		fieldOf("output_memory", count[int](mostMessage), func(t *Triton) *int { return &t.OutputMemory },
			"Bytes of shared memory for each output, which then is not sent back; 0: none."),
		fieldOf("trace", headersSpec(), func(t *Triton) *map[string]string { return &t.Trace },
			"Trace settings to apply to the server before the run: `trace_level`, `trace_rate`, `trace_count`, `log_frequency`."),
	)
})

// mostMessage bounds messages and memory, in bytes.
const mostMessage = 1 << 40

// knownScheme reports whether a target may have a URL of this scheme.
func knownScheme(s string) bool {
	return s == "http" || s == "https" || grpcScheme(s)
}

func grpcScheme(s string) bool { return s == "grpc" || s == "grpcs" }

// scheme is the part of a URL before "://".
func scheme(url string) string {
	s, _, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(s)
}

// inferTriton fills in what a URL or the protocol says.
func (d *Draft) inferTriton() {
	t := &d.Plan.Target
	grpc := slices.ContainsFunc(t.URLs, func(u string) bool { return grpcScheme(scheme(u)) })
	if grpc && !d.Given("target.protocol") {
		t.Protocol = ProtocolTriton
	}
	if t.Protocol != ProtocolTriton {
		return
	}
	if t.Transport == "" {
		t.Transport = TransportHTTP
		if grpc || len(t.URLs) == 0 && t.Endpoint != EndpointGenerate {
			t.Transport = TransportGRPC
		}
	}
	if !d.Given("target.endpoint") && !slices.Contains(tritonEndpoints(), t.Endpoint) {
		switch {
		case t.Transport == TransportGRPC:
			t.Endpoint = EndpointStream
		case t.Triton.Convention == ConventionTensors:
			t.Endpoint = EndpointInfer
		default:
			t.Endpoint = EndpointGenerate
		}
	}
	if t.Endpoint == EndpointInfer && !d.Given("target.streaming") {
		t.Streaming = false
	}
}

// protocol checks what depends on the protocol.
func (c *checker) protocol(t *Target) {
	if t.Protocol == ProtocolTriton {
		c.triton(t)
		return
	}
	names := endpointNames()
	switch t.Protocol {
	case ProtocolAnthropic:
		names = []string{EndpointMessages}
	case ProtocolHTTP:
		names = httpEndpoints()
	case ProtocolTFServing, ProtocolTorchServe:
		names = []string{EndpointPredict}
	}
	c.choice("target.endpoint", t.Endpoint, names)
	if t.Transport == TransportGRPC {
		c.add("target.transport", "gRPC is only for Triton", "%v", message.SetTriton)
	}
	for i, u := range t.URLs {
		if grpcScheme(scheme(u)) {
			c.lacks(fmt.Sprintf("target.urls[%d]", i), "target.protocol", "the protocol is "+quote(t.Protocol)+", which has no gRPC", "%v", message.UseURL)
		}
	}
	if !tritonSpec().zero(t.Triton) {
		c.lacks("target.triton", "target.protocol", "does not apply to protocol "+quote(t.Protocol), "%v", message.SetTriton)
	}
}

func (c *checker) triton(t *Target) {
	c.choice("target.transport", t.Transport, []string{TransportHTTP, TransportGRPC})
	c.choice("target.endpoint", t.Endpoint, tritonEndpoints())
	for i, u := range t.URLs {
		at := fmt.Sprintf("target.urls[%d]", i)
		switch is := grpcScheme(scheme(u)); {
		case is && t.Transport == TransportHTTP:
			c.lacks(at, "target.transport", "is a gRPC address, and the transport is http", "leave the transport out")
		case is != grpcScheme(scheme(t.URLs[0])):
			c.add(at, "has another scheme than the first", "all URLs of a run must use the same protocol")
		}
	}
	switch {
	case t.Transport == TransportGRPC && t.Endpoint == EndpointGenerate:
		c.add("target.endpoint", "generate is only available over HTTP", "use stream or infer, or an http:// URL")
	case t.Transport == TransportHTTP && t.Endpoint == EndpointStream:
		c.add("target.endpoint", "stream is only available over gRPC", "use generate or infer, or a grpc:// URL")
	case t.Endpoint == EndpointInfer && t.Streaming:
		c.add("target.streaming", "infer returns a single response", "use stream or generate, or %v", message.Streaming)
	}
	if t.Endpoint == EndpointGenerate && t.Transport == TransportHTTP && t.Triton.Compression != "" {
		c.add("target.triton.compression", "Triton does not accept compressed requests at generate", "leave it out, or use infer or stream")
	}
	if t.HTTP2 {
		c.add("target.http2", "does not apply to Triton: gRPC is always HTTP/2, its HTTP endpoints never", "leave it out")
	}
	if t.Path != "" && !(t.Shaped() && t.Endpoint == EndpointGenerate) {
		c.add("target.path", "Triton's paths follow from the model's name", "leave it out; put a prefix into the URL")
	}
	c.tritonPart(&t.Triton, t.Transport)
	c.memory(t)
}

func (c *checker) memory(t *Target) {
	switch m := &t.Triton; {
	case m.OutputMemory > 0 && m.SharedMemory == "":
		c.lacks("target.triton.output_memory", "target.triton.shared_memory", "there is no shared memory", "%v", message.SetMemory)
	case m.SharedMemory != "" && t.Endpoint == EndpointGenerate:
		c.add("target.triton.shared_memory", "generate does not take tensors in shared memory", "use infer or stream")
	}
}

func (c *checker) tritonPart(t *Triton, transport string) {
	const at = "target.triton."
	tritonSpec().check(c, "target.triton", t)
	if transport == TransportHTTP && (t.Streams > 0 || t.KeepAlive > 0 || t.MaxMessage > 0) {
		c.lacks("target.triton", "target.transport", "streams, keep_alive and max_message are only for gRPC", "use a grpc:// URL or leave them out")
	}
	for _, name := range sortedKeys(t.Parameters) {
		switch t.Parameters[name].(type) {
		case bool, int, int64, uint64, float64, string:
		default:
			c.add(join(at+"parameters", name), "must be true or false, a number or text", "")
		}
		if strings.HasPrefix(name, "triton_") || slices.Contains(reservedParameters(), name) {
			c.add(join(at+"parameters", name), "is set by this program or by the server itself", "leave it out")
		}
	}
	for i, m := range t.Composing {
		if m == "" {
			c.add(fmt.Sprintf("%scomposing[%d]", at, i), "is empty", "name a model")
		}
	}
	for _, name := range sortedKeys(t.Trace) {
		if t.Trace[name] == "" || !slices.Contains(traceSettings(), name) {
			c.add(join(at+"trace", name), "is not a trace setting with a value", strings.Join(traceSettings(), ", "))
		}
	}
}

// traceSettings are what a server can be told about its traces.
func traceSettings() []string {
	return []string{"trace_level", "trace_rate", "trace_count", "log_frequency"}
}

// reservedParameters have a meaning of their own in the protocol and are no business
// of every request alike.
func reservedParameters() []string {
	return []string{"sequence_id", "sequence_start", "sequence_end", "headers", "binary_data_output", "binary_data_size", "classification"}
}
