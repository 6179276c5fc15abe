package triton

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
)

// The part of the conformance suite in which things go wrong.

// Messages beyond the limit are refused, ours before they are sent.
func testMessageSize(t *testing.T, s *testServer) {
	target := s.overGRPC("vllm_model", plan.EndpointStream, true)
	target.Triton.MaxMessage = 4000
	c := connect(t, target)
	if rec := c.send(t, asking(1, 3)...)[0]; rec.Failure != nil {
		t.Errorf("a small one: %+v", rec.Failure)
	}
	if _, err := c.Prepare(&prompt.Prompt{Text: strings.Repeat("long ", 1000)}); err == nil || !strings.Contains(err.Error(), "4000") {
		t.Errorf("a large one: %v", err)
	}
}

// What a server refuses is a failure of that request alone, in words that name the
// model and the tensor.
func testRefusals(t *testing.T, s *testServer) {
	for _, c := range []struct {
		name  string
		spoil func(in *inputs)
		words []string
	}{
		{"wrong name", func(in *inputs) { in.tensors[0].Name = "INPUTX" }, []string{"INPUTX", "simple"}},
		{"wrong datatype", func(in *inputs) {
			in.tensors[0].Datatype = tensor.FP32 + tensor.Int32 - in.tensors[0].Datatype // the other one
		}, []string{"INPUT0", "simple", "FP32", "INT32"}},
		{"wrong shape", func(in *inputs) { in.tensors[0].Shape, in.tensors[0].Data = []int64{1, 15}, in.tensors[0].Data[:60] }, []string{"INPUT0", "simple", "16", "15"}},
		{"missing input", func(in *inputs) { in.tensors = in.tensors[:1] }, []string{"INPUT1", "simple"}},
	} {
		shared := s.overGRPC("simple", plan.EndpointStream, false)
		shared.Triton.Streams = 1
		for _, target := range []plan.Target{shared, s.overGRPC("simple", plan.EndpointInfer, false), s.overHTTP("simple", plan.EndpointInfer, false)} {
			e := connect(t, target)
			bad := sum(true)
			in, err := e.build(bad)
			if err != nil {
				t.Fatal(err)
			}
			spoiled := *in
			spoiled.tensors, spoiled.expected = slices.Clone(in.tensors), nil
			c.spoil(&spoiled)
			e.built[bad] = &spoiled
			recs := e.send(t, prompt.Prompt{Inputs: sum(true)}, prompt.Prompt{Inputs: bad}, prompt.Prompt{Inputs: sum(true)})
			if recs[0].Failure != nil || recs[2].Failure != nil {
				t.Errorf("%s, %s %s: the others failed: %+v, %+v", c.name, target.Transport, target.Endpoint, recs[0].Failure, recs[2].Failure)
			}
			f := recs[1].Failure
			if f == nil {
				t.Errorf("%s, %s %s: the server took it: %s", c.name, target.Transport, target.Endpoint, summary(recs[1]))
				continue
			}
			for _, w := range c.words {
				if !strings.Contains(f.Message, w) {
					t.Errorf("%s, %s %s: %q does not say %s", c.name, target.Transport, target.Endpoint, f.Message, w)
				}
			}
		}
	}
}

// An error in the middle of an answer fails that request, keeps what came before it,
// and leaves the others on the stream alone.
func testMidStream(t *testing.T, s *testServer) {
	if s.failing == nil {
		s = startMock(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultError, Share: 0.5}} })
	}
	target := s.overGRPC("vllm_model", plan.EndpointStream, true)
	target.Triton.Streams = 1
	target.Body = s.failing
	recs := connect(t, target).send(t, asking(12, 8)...)
	failed := 0
	for _, rec := range recs {
		if rec.Failure == nil {
			if rec.Out.N != 8 {
				t.Error(summary(rec))
			}
			continue
		}
		failed++
		n := len(rec.Events)
		if rec.Failure.Class != record.StreamError || rec.Failure.Message == "" || n < 2 || rec.Events[n-1].Label != record.Error || rec.Out.N == 0 {
			t.Error(summary(rec))
		}
	}
	if failed == 0 || s.failing == nil && failed == len(recs) {
		t.Errorf("%d of %d requests failed", failed, len(recs))
	}
}

func testStrangers(t *testing.T, s *testServer) {
	page := startPage(t)
	models, wrongPort, strange := s.overGRPC("vlm_model", plan.EndpointStream, true), s.overGRPC("vllm_model", plan.EndpointStream, true), s.overGRPC("x", plan.EndpointStream, true)
	wrongPort.URLs = []string{"grpc://" + s.http}
	strange.URLs = []string{"grpc://" + page}
	swapped, web, nobody := s.overHTTP("vllm_model", plan.EndpointGenerate, true), s.overHTTP("x", plan.EndpointGenerate, true), s.overGRPC("x", plan.EndpointStream, true)
	swapped.URLs, web.URLs, nobody.URLs = []string{"http://" + s.grpc}, []string{"http://" + page}, []string{"grpc://127.0.0.1:1"}
	version := s.overGRPC("vllm_model", plan.EndpointStream, true)
	version.Triton.Version = "7"
	secure, secureWeb := strange, web
	secure.URLs, secureWeb.URLs = []string{"grpcs://" + page}, []string{"https://" + page}
	for _, c := range []struct {
		name   string
		target plan.Target
		words  []string
	}{
		{"no such model", models, []string{`no model "vlm_model"`, "ensemble", "did you mean vllm_model?"}},
		{"no such model over HTTP", s.overHTTP("vlm_model", plan.EndpointGenerate, true), []string{`no model "vlm_model"`, "ensemble", "did you mean vllm_model?"}},
		{"no such version", version, []string{"vllm_model", "version 7"}},
		{"no model named", s.overGRPC("", plan.EndpointStream, true), []string{"--model", "vllm_model", "ensemble"}},
		{"the HTTP port", wrongPort, []string{"HTTP port", "Triton's HTTP API"}},
		{"the gRPC port", swapped, []string{"gRPC port", "grpc://"}},
		{"a web page", strange, []string{"does not look like Triton"}},
		{"a web page over HTTP", web, []string{"does not look like Triton"}},
		{"no TLS", secure, []string{"no TLS on this port: use grpc://" + page}},
		{"no TLS over HTTP", secureWeb, []string{"no TLS on this port: use http://" + page}},
		{"nobody", nobody, []string{"cannot be reached", "refused"}},
		{"decoupled", s.overGRPC("vllm_model", plan.EndpointInfer, false), []string{"vllm_model is decoupled", "stream"}},
	} {
		_, err := tryConnect(t, c.target)
		for _, w := range c.words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v does not say %q", c.name, err, w)
			}
		}
	}
}

// startPage serves a web page.
func startPage(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\nConnection: close\r\n\r\n<title>x</title")
			}()
		}
	}()
	return l.Addr().String()
}

// A model that is taken out of service fails requests from then on, and serves again
// when it is back, on the same streams.
func testUnloaded(t *testing.T, s *testServer) {
	for _, target := range []plan.Target{s.overGRPC("simple", plan.EndpointStream, false), s.overHTTP("simple", plan.EndpointInfer, false)} {
		c := connect(t, target)
		try := func() *record.Failure { return c.send(t, prompt.Prompt{Inputs: sum(true)})[0].Failure }
		if f := try(); f != nil {
			t.Fatal(f)
		}
		s.unload(t, "simple")
		await(t, "the failure of an unloaded model", func() bool { return try() != nil })
		if f := try(); f == nil || !strings.Contains(f.Message, "simple") {
			t.Errorf("%s: %+v", target.Transport, f)
		}
		s.load(t, "simple")
		await(t, "a loaded model", func() bool { return try() == nil })
	}
}

// await waits for something that a server does in its own time.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A server that dies fails what it was about; what came before is kept. When it is
// back, the same endpoint goes on.
func testKilled(t *testing.T, s *testServer) {
	streams, unary, web := connect(t, s.overGRPC("vllm_model", plan.EndpointStream, true)), connect(t, s.overGRPC("simple", plan.EndpointInfer, false)), connect(t, s.overHTTP("vllm_model", plan.EndpointGenerate, true))
	clients := map[string]client{"stream": streams, "unary": unary, "HTTP": web}
	ask := func(name string, tokens int) *record.Exchange {
		p := asking(1, tokens)[0]
		if name == "unary" {
			p = prompt.Prompt{Inputs: sum(true)}
		}
		return clients[name].send(t, p)[0]
	}
	for name := range clients {
		if f := ask(name, 3).Failure; f != nil {
			t.Fatalf("%s before: %+v", name, f)
		}
	}
	cut := make(chan *record.Exchange)
	var messages atomic.Int64
	watched := streams
	watched.watch = func([]byte) { messages.Add(1) }
	go func() { cut <- watched.send(t, asking(1, 5000)[0])[0] }()
	await(t, "some of its tokens", func() bool { return messages.Load() >= 3 })
	s.kill()
	rec := <-cut
	if rec.Failure == nil || rec.Out.N == 0 || rec.Out.N >= 5000 {
		t.Errorf("the request under way: %d tokens, %+v", rec.Out.N, rec.Failure)
	}
	for name := range clients {
		if f := ask(name, 3).Failure; f == nil || f.Message == "" {
			t.Errorf("%s while nobody is there: %+v", name, f)
		}
	}
	s.restart(t)
	for name := range clients {
		await(t, name+" of a server that is back", func() bool { return ask(name, 3).Failure == nil })
	}
}
