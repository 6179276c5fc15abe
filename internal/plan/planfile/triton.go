package planfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

func openaiEndpoints() []string {
	return []string{plan.EndpointChat, plan.EndpointCompletions, plan.EndpointResponses, plan.EndpointEmbeddings,
		plan.EndpointClassify, plan.EndpointPooling, plan.EndpointScore, plan.EndpointTranscriptions, plan.EndpointImages}
}

// endpointNames are the endpoints of all protocols.
func endpointNames() []string {
	return slices.Concat(openaiEndpoints(), []string{plan.EndpointMessages}, tritonEndpoints(), httpEndpoints(),
		[]string{plan.EndpointPredict})
}

func tritonEndpoints() []string {
	return []string{plan.EndpointStream, plan.EndpointInfer, plan.EndpointGenerate}
}

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
	names := openaiEndpoints()
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
	if !unset(&t.Triton) {
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

// reservedParameters have a meaning of their own in the protocol: not every request has the same.
func reservedParameters() []string {
	return []string{"sequence_id", "sequence_start", "sequence_end", "headers", "binary_data_output", "binary_data_size", "classification"}
}
