package planfile

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

func tritonEndpoints() []string {
	return []string{plan.EndpointStream, plan.EndpointInfer, plan.EndpointGenerate}
}

var tritonSpec = sync.OnceValue(func() codec[plan.Triton] {
	formats := word(plan.FormatBinary, plan.FormatJSON)
	return object(
		fieldOf("convention", word(plan.ConventionAuto, plan.ConventionTRTLLM, plan.ConventionVLLM, plan.ConventionVLLMOld, plan.ConventionEngine, plan.ConventionTensors),
			func(t *plan.Triton) *string { return &t.Convention }, "How a prompt is mapped to tensors; left out: from the model's inputs."),
		fieldOf("version", text(), func(t *plan.Triton) *string { return &t.Version }, "Version of the model; left out: the server's choice."),
		fieldOf("parameters", bodySpec(), func(t *plan.Triton) *map[string]any { return &t.Parameters },
			"Parameters of every request: true or false, numbers or text."),
		fieldOf("streams", count[int](mostInFlight), func(t *plan.Triton) *int { return &t.Streams },
			"gRPC streams that the requests share, each on a connection of its own. Left out: one for each request in flight."),
		fieldOf("compression", word(plan.CompressionGzip, plan.CompressionDeflate),
			func(t *plan.Triton) *string { return &t.Compression }, "How requests are compressed, ahead of time."),
		fieldOf("max_message", count[int](mostMessage), func(t *plan.Triton) *int { return &t.MaxMessage },
			"Largest gRPC message to accept, in bytes; 0: any."),
		fieldOf("keep_alive", duration(), func(t *plan.Triton) *plan.Duration { return &t.KeepAlive },
			"Ping a gRPC connection that has been idle for this long; 0: never."),
		fieldOf("input_format", formats, func(t *plan.Triton) *string { return &t.InputFormat }, "Encoding of input tensors over HTTP; left out: binary."),
		fieldOf("output_format", formats, func(t *plan.Triton) *string { return &t.OutputFormat }, "Encoding of output tensors over HTTP; left out: binary."),
		fieldOf("composing", list("list of models", text()), func(t *plan.Triton) *[]string { return &t.Composing },
			"Models that the model calls itself (BLS), for the server's statistics. Those of an ensemble are found automatically."),
		fieldOf("shared_memory", word(plan.MemorySystem), func(t *plan.Triton) *string { return &t.SharedMemory },
			"Pass input tensors in shared memory, for a server on this machine. Left out: they are sent."),
		fieldOf("output_memory", count[int](mostMessage), func(t *plan.Triton) *int { return &t.OutputMemory },
			"Bytes of shared memory for each output, which then is not sent back; 0: none."),
		fieldOf("trace", headersSpec(), func(t *plan.Triton) *map[string]string { return &t.Trace },
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
		t.Protocol = plan.ProtocolTriton
	}
	if t.Protocol != plan.ProtocolTriton {
		return
	}
	if t.Transport == "" {
		t.Transport = plan.TransportHTTP
		if grpc || len(t.URLs) == 0 && t.Endpoint != plan.EndpointGenerate {
			t.Transport = plan.TransportGRPC
		}
	}
	if !d.Given("target.endpoint") && !slices.Contains(tritonEndpoints(), t.Endpoint) {
		switch {
		case t.Transport == plan.TransportGRPC:
			t.Endpoint = plan.EndpointStream
		case t.Triton.Convention == plan.ConventionTensors:
			t.Endpoint = plan.EndpointInfer
		default:
			t.Endpoint = plan.EndpointGenerate
		}
	}
	if t.Endpoint == plan.EndpointInfer && !d.Given("target.streaming") {
		t.Streaming = false
	}
}

func (c *checker) protocol(t *plan.Target) {
	if t.Protocol == plan.ProtocolTriton {
		c.triton(t)
		return
	}
	names := endpointNames()
	switch t.Protocol {
	case plan.ProtocolAnthropic:
		names = []string{plan.EndpointMessages}
	case plan.ProtocolHTTP:
		names = httpEndpoints()
	case plan.ProtocolTFServing, plan.ProtocolTorchServe:
		names = []string{plan.EndpointPredict}
	}
	c.choice("target.endpoint", t.Endpoint, names)
	if t.Transport == plan.TransportGRPC {
		c.add("target.transport", "gRPC is only for Triton", "%v", message.SetTriton)
	}
	for i, u := range t.URLs {
		if grpcScheme(scheme(u)) {
			c.lacks(fmt.Sprintf("target.urls[%d]", i), "target.protocol", "the protocol is "+truncate.Quote(t.Protocol)+", which has no gRPC", "%v", message.UseURL)
		}
	}
	if !tritonSpec().zero(t.Triton) {
		c.lacks("target.triton", "target.protocol", "does not apply to protocol "+truncate.Quote(t.Protocol), "%v", message.SetTriton)
	}
}

func (c *checker) triton(t *plan.Target) {
	c.choice("target.transport", t.Transport, []string{plan.TransportHTTP, plan.TransportGRPC})
	c.choice("target.endpoint", t.Endpoint, tritonEndpoints())
	for i, u := range t.URLs {
		at := fmt.Sprintf("target.urls[%d]", i)
		switch is := grpcScheme(scheme(u)); {
		case is && t.Transport == plan.TransportHTTP:
			c.lacks(at, "target.transport", "is a gRPC address, and the transport is http", "leave the transport out")
		case is != grpcScheme(scheme(t.URLs[0])):
			c.add(at, "has another scheme than the first", "all URLs of a run must use the same protocol")
		}
	}
	switch {
	case t.Transport == plan.TransportGRPC && t.Endpoint == plan.EndpointGenerate:
		c.add("target.endpoint", "generate is only available over HTTP", "use stream or infer, or an http:// URL")
	case t.Transport == plan.TransportHTTP && t.Endpoint == plan.EndpointStream:
		c.add("target.endpoint", "stream is only available over gRPC", "use generate or infer, or a grpc:// URL")
	case t.Endpoint == plan.EndpointInfer && t.Streaming:
		c.add("target.streaming", "infer returns a single response", "use stream or generate, or %v", message.Streaming)
	}
	if t.Endpoint == plan.EndpointGenerate && t.Transport == plan.TransportHTTP && t.Triton.Compression != "" {
		c.add("target.triton.compression", "Triton does not accept compressed requests at generate", "leave it out, or use infer or stream")
	}
	if t.HTTP2 {
		c.add("target.http2", "does not apply to Triton: gRPC is always HTTP/2, its HTTP endpoints never", "leave it out")
	}
	if t.Path != "" && !(t.Shaped() && t.Endpoint == plan.EndpointGenerate) {
		c.add("target.path", "Triton's paths follow from the model's name", "leave it out; put a prefix into the URL")
	}
	c.tritonPart(&t.Triton, t.Transport)
	c.memory(t)
}

func (c *checker) memory(t *plan.Target) {
	switch m := &t.Triton; {
	case m.OutputMemory > 0 && m.SharedMemory == "":
		c.lacks("target.triton.output_memory", "target.triton.shared_memory", "there is no shared memory", "%v", message.SetMemory)
	case m.SharedMemory != "" && t.Endpoint == plan.EndpointGenerate:
		c.add("target.triton.shared_memory", "generate does not take tensors in shared memory", "use infer or stream")
	}
}

func (c *checker) tritonPart(t *plan.Triton, transport string) {
	const at = "target.triton."
	tritonSpec().check(c, "target.triton", t)
	if transport == plan.TransportHTTP && (t.Streams > 0 || t.KeepAlive > 0 || t.MaxMessage > 0) {
		c.lacks("target.triton", "target.transport", "streams, keep_alive and max_message are only for gRPC", "use a grpc:// URL or leave them out")
	}
	for _, name := range sortedKeys(t.Parameters) {
		switch t.Parameters[name].(type) {
		case bool, int, int64, uint64, float64, string:
		default:
			c.add(document.Join(at+"parameters", name), "must be true or false, a number or text", "")
		}
		if strings.HasPrefix(name, "triton_") || slices.Contains(reservedParameters(), name) {
			c.add(document.Join(at+"parameters", name), "is set by this program or by the server itself", "leave it out")
		}
	}
	for i, m := range t.Composing {
		if m == "" {
			c.add(fmt.Sprintf("%scomposing[%d]", at, i), "is empty", "name a model")
		}
	}
	for _, name := range sortedKeys(t.Trace) {
		if t.Trace[name] == "" || !slices.Contains(traceSettings(), name) {
			c.add(document.Join(at+"trace", name), "is not a trace setting with a value", strings.Join(traceSettings(), ", "))
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
