package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

// A plan says all of Triton's part, and reads it back as it was.
func TestTritonRoundTrip(t *testing.T) {
	p := plan.Default()
	p.Target = plan.Target{
		URLs: []string{"grpcs://h:8001"}, Protocol: plan.ProtocolTriton, Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream, Model: "m", Streaming: true,
		Triton: plan.Triton{
			Convention: plan.ConventionVLLM, Version: "2", Parameters: map[string]any{"a": true, "b": 3, "c": 0.5, "d": "x"}, Streams: 4, Compression: plan.CompressionGzip,
			MaxMessage: 1 << 20, KeepAlive: plan.Duration(30e9), InputFormat: plan.FormatBinary, OutputFormat: plan.FormatJSON, Composing: []string{"x", "y"},
			SharedMemory: plan.MemorySystem, OutputMemory: 64,
		},
	}
	if err := Validate(&p); err != nil {
		t.Error(err)
	}
	text, err := Encode(&p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode("p.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&p, got); diff != "" {
		t.Errorf("%s\n%s", diff, text)
	}
}

// What a URL and the protocol say need not be said again.
func TestTritonFollows(t *testing.T) {
	for _, c := range []struct {
		target              string
		transport, endpoint string
		streaming           bool
	}{
		{"{urls: [grpc://h:1]}", plan.TransportGRPC, plan.EndpointStream, true},
		{"{urls: [grpc://h:1], endpoint: infer}", plan.TransportGRPC, plan.EndpointInfer, false},
		{"{urls: [http://h:1], protocol: triton}", plan.TransportHTTP, plan.EndpointGenerate, true},
		{"{urls: [http://h:1], protocol: triton, triton: {convention: tensors}}", plan.TransportHTTP, plan.EndpointInfer, false},
		{"{urls: [http://h:1], protocol: triton, transport: grpc}", plan.TransportGRPC, plan.EndpointStream, true},
		{"{protocol: triton}", plan.TransportGRPC, plan.EndpointStream, true},
		{"{protocol: triton, endpoint: generate, streaming: false}", plan.TransportHTTP, plan.EndpointGenerate, false},
	} {
		p, err := load("p.yaml", []byte("target: "+c.target))
		if err != nil {
			t.Errorf("%s: %v", c.target, err)
			continue
		}
		if got := p.Target; got.Protocol != plan.ProtocolTriton || got.Transport != c.transport || got.Endpoint != c.endpoint ||
			got.Streaming != c.streaming {
			t.Errorf("%s: %s %s %s, streaming %v", c.target, got.Protocol, got.Transport, got.Endpoint, got.Streaming)
		}
	}
}

func TestTritonFaults(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"{urls: [grpc://h:1], protocol: openai}", "has no gRPC"},
		{"{urls: [http://h:1], triton: {streams: 3}}", "set protocol to triton"},
		{"{urls: [http://h:1], transport: grpc}", "gRPC is only for Triton"},
		{"{urls: [grpc://h:1, http://h:2]}", "another scheme than the first"},
		{"{urls: [grpc://h:1], transport: http}", "is a gRPC address"},
		{"{urls: [grpc://h:1], endpoint: generate}", "over HTTP"},
		{"{urls: [http://h:1], protocol: triton, endpoint: stream}", "over gRPC"},
		{"{urls: [grpc://h:1], endpoint: infer, streaming: true}", "infer returns a single response"},
		{"{urls: [grpc://h:1], endpoint: chat}", "one of stream, infer, generate"},
		{"{urls: [http://h:1], protocol: triton, triton: {keep_alive: 1s}}", "only for gRPC"},
		{"{urls: [http://h:1], protocol: triton, triton: {compression: gzip}}", "not accept compressed requests"},
		{"{urls: [grpc://h:1], triton: {parameters: {a: [1]}}}", "true or false, a number or text"},
		{"{urls: [grpc://h:1], triton: {parameters: {triton_x: 1}}}", "by the server itself"},
		{"{urls: [grpc://h:1], triton: {convention: vlm}}", `did you mean "vllm"?`},
		{"{urls: [grpc://h:1], triton: {composing: [\"\"]}}", "is empty"},
		{"{urls: [grpc://h:1], triton: {output_memory: 5}}", "there is no shared memory"},
		{"{urls: [http://h:1], protocol: triton, triton: {shared_memory: system}}", "use infer or stream"},
		{"{urls: [grpc://h:1], triton: {shared_memory: cuda}}", "one of system"},
	} {
		_, err := load("p.yaml", []byte("target: "+c.target))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", c.target, err, c.want)
		}
	}
}

// A parameter that looks like a secret is not printed.
func TestTritonSecrets(t *testing.T) {
	p := plan.Default()
	p.Target.Protocol = plan.ProtocolTriton
	p.Target.Triton.Parameters = map[string]any{"api_key": "hunter2", "priority": 2}
	text, err := Encode(&p)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "priority: 2") {
		t.Errorf("%s", text)
	}
}
