package triton

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/triton"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// The suite runs against the mock and against a real Triton: what passes on one and
// not on the other is a fault of the mock or of the suite.

// server is one that the suite runs against.
type testServer struct {
	http, grpc string // addresses
	kill       func()
	restart    func(t *testing.T)
	load       func(t *testing.T, model string)
	unload     func(t *testing.T, model string)
	// failing makes a request to vllm_model fail in the middle of its answer; nil: the
	// server cannot be asked to.
	failing map[string]any
}

func TestMockConforms(t *testing.T) { conform(t, startMock(t, nil)) }

func TestRealConforms(t *testing.T) {
	if testing.Short() {
		t.Skip("a real server takes seconds to start")
	}
	s := triton.Start(t, "vllm_model", "vllm_old", "ensemble", "simple", "sequence", "cached")
	conform(t, &testServer{
		http: s.HTTP, grpc: s.GRPC, kill: s.Kill,
		restart: func(t *testing.T) { s.Restart(t) },
		load:    func(t *testing.T, m string) { s.Load(t, m) },
		unload:  func(t *testing.T, m string) { s.Unload(t, m) },
		failing: map[string]any{"fail_after": 3},
	})
}

// startMock starts the mock with the models of the real server's repository.
func startMock(t *testing.T, change func(*config.Server)) *testServer {
	t.Helper()
	c := config.Default()
	c.Strict = true
	c.Models = []string{"vllm_model"}
	c.Triton.Echo = true // as the models of the real server do
	c.Latency.TTFT, c.Latency.ITL = 5*time.Millisecond, time.Millisecond
	c.Triton.Models = map[string]repository.Convention{
		"vllm_model": repository.ConventionVLLM, "vllm_old": repository.ConventionOld, "ensemble": repository.ConventionTRTLLM,
		"simple": repository.ConventionAdd, "sequence": repository.ConventionSum,
	}
	if change != nil {
		change(&c)
	}
	s := &testServer{http: "127.0.0.1:0", grpc: "127.0.0.1:0"}
	var running *mock.Server
	start := func(t *testing.T) {
		t.Helper()
		m, err := mock.New(c)
		if err != nil {
			t.Fatal(err)
		}
		running = m
		for _, at := range []struct {
			address *string
			serve   func(net.Listener) error
		}{{&s.http, m.Serve}, {&s.grpc, m.ServeGRPC}} {
			l, err := net.Listen("tcp", *at.address)
			if err != nil {
				t.Fatal(err)
			}
			*at.address = l.Addr().String()
			go func() { _ = at.serve(l) }()
		}
	}
	start(t)
	t.Cleanup(func() { running.Close() })
	s.kill = func() { running.Close() }
	s.restart = start
	control := func(verb string) func(*testing.T, string) {
		return func(t *testing.T, model string) {
			t.Helper()
			h := httpAt(t, s.http)
			if err := h.ask(t.Context(), "POST", "/v2/repository/models/"+model+"/"+verb, "{}", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.load, s.unload = control("load"), control("unload")
	return s
}

func httpAt(t *testing.T, address string) *httpServer {
	t.Helper()
	l, err := newLink("http://"+address, plan.Target{Transport: plan.TransportHTTP}, endpoint.Options{Clock: timedconn.NewClock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l.server.(*httpServer)
}

// overGRPC is a target of the server.
func (s *testServer) overGRPC(model, kind string, streaming bool) plan.Target {
	return plan.Target{
		URLs: []string{"grpc://" + s.grpc}, Protocol: plan.ProtocolTriton, Transport: plan.TransportGRPC, Endpoint: kind, Model: model, Streaming: streaming,
		Timeouts: plan.Timeouts{Connect: plan.Duration(5 * time.Second), Request: plan.Duration(30 * time.Second)},
	}
}

func (s *testServer) overHTTP(model, kind string, streaming bool) plan.Target {
	t := s.overGRPC(model, kind, streaming)
	t.URLs, t.Transport = []string{"http://" + s.http}, plan.TransportHTTP
	return t
}

// client is an endpoint with its decoder.
type client struct {
	*Endpoint
	decoder *Decoder
	watch   func(body []byte) // is told of every read; nil: nobody is
}

func connect(t *testing.T, target plan.Target) client {
	t.Helper()
	c, err := tryConnect(t, target)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tryConnect(t *testing.T, target plan.Target) (client, error) {
	t.Helper()
	var log bytes.Buffer
	o := endpoint.Options{Clock: timedconn.NewClock(), RunID: strings.ReplaceAll(t.Name(), "/", "-"), Tokenizer: letters{}}
	if err := Discover(t.Context(), &target, o, message.Log{To: &log}); err != nil {
		return client{}, err
	}
	e, err := New(target, o)
	if err != nil {
		return client{}, err
	}
	t.Cleanup(func() { e.Close() })
	return client{Endpoint: e, decoder: NewDecoder(target, token.Words{}, false)}, nil
}

// send carries out requests at the same time, each in a slot of its own, and decodes
// the answers.
func (c client) send(t *testing.T, prompts ...prompt.Prompt) []*record.Exchange {
	t.Helper()
	recs := make([]*record.Exchange, len(prompts))
	var wg sync.WaitGroup
	for i := range prompts {
		prompts[i].Seq = int64(i)
		call, err := c.Prepare(&prompts[i])
		if err != nil {
			t.Fatal(err)
		}
		recs[i] = &record.Exchange{Record: record.Record{Seq: int64(i), Slot: i, Sent: record.Never, Written: record.Never}, Watch: c.watch}
		wg.Go(func() { call.Do(t.Context(), recs[i]) })
	}
	wg.Wait()
	for _, rec := range recs {
		c.decoder.Decode(rec)
	}
	return recs
}

func asking(n int, tokens int) []prompt.Prompt {
	list := make([]prompt.Prompt, n)
	for i := range list {
		list[i] = prompt.Prompt{Text: fmt.Sprintf("Prompt number %d of this test", i), Output: tokens}
	}
	return list
}

func conform(t *testing.T, s *testServer) {
	t.Run("answers", func(t *testing.T) { testAnswers(t, s) })
	t.Run("words", func(t *testing.T) { testWords(t, s) })
	t.Run("many on one stream", func(t *testing.T) { testSharedStream(t, s) })
	t.Run("marks", func(t *testing.T) { testMarks(t, s) })
	t.Run("tensors", func(t *testing.T) { testTensors(t, s) })
	t.Run("shared memory", func(t *testing.T) { testSharedMemory(t, s) })
	t.Run("sequences", func(t *testing.T) { testSequences(t, s) })
	t.Run("echo", func(t *testing.T) { testEcho(t, s) })
	t.Run("compression", func(t *testing.T) { testCompression(t, s) })
	t.Run("detection", func(t *testing.T) { testDetection(t, s) })
	t.Run("message size", func(t *testing.T) { testMessageSize(t, s) })
	t.Run("refusals", func(t *testing.T) { testRefusals(t, s) })
	t.Run("failure in mid-stream", func(t *testing.T) { testMidStream(t, s) })
	t.Run("wrong address or model", func(t *testing.T) { testStrangers(t, s) })
	t.Run("unloaded", func(t *testing.T) { testUnloaded(t, s) })
	t.Run("killed and restarted", func(t *testing.T) { testKilled(t, s) })
}

// Every way to ask gives the answer that was asked for, token for token.
func testAnswers(t *testing.T, s *testServer) {
	for _, c := range []struct {
		name   string
		target plan.Target
		events int // that carry tokens
		source record.Source
		end    bool // an empty response marks the end
	}{
		{"vLLM on a stream", s.overGRPC("vllm_model", plan.EndpointStream, true), 5, record.FromServer, true},
		{"vLLM on a stream, in one piece", s.overGRPC("vllm_model", plan.EndpointStream, false), 1, record.FromServer, true},
		{"vLLM generate_stream", s.overHTTP("vllm_model", plan.EndpointGenerate, true), 5, record.FromServer, false},
		{"vLLM generate", s.overHTTP("vllm_model", plan.EndpointGenerate, false), 1, record.FromServer, false},
		{"old vLLM on a stream", s.overGRPC("vllm_old", plan.EndpointStream, true), 5, record.FromTokenizer, true},
		{"old vLLM generate_stream", s.overHTTP("vllm_old", plan.EndpointGenerate, true), 5, record.FromTokenizer, false},
		{"ensemble on a stream", s.overGRPC("ensemble", plan.EndpointStream, true), 5, record.FromTokenizer, true},
		{"ensemble generate_stream", s.overHTTP("ensemble", plan.EndpointGenerate, true), 5, record.FromTokenizer, false},
		{"engine on a stream", s.overGRPC("tensorrt_llm", plan.EndpointStream, true), 5, record.FromServer, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, rec := range connect(t, c.target).send(t, asking(4, 5)...) {
				if rec.Failure != nil {
					t.Fatalf("request %d failed: %+v", rec.Seq, rec.Failure)
				}
				events, ends := 0, 0
				for _, e := range rec.Events {
					if e.Label.IsToken() {
						events++
					}
					if e.Label == record.Done {
						ends++
					}
				}
				if rec.Out.N != 5 || rec.Out.Source != c.source || events != c.events {
					t.Errorf("request %d: %s", rec.Seq, summary(rec))
				}
				if ends > 1 || ends == 1 && !c.end || bytes.Contains(rec.Text, []byte("Prompt number")) {
					t.Errorf("request %d: %s", rec.Seq, summary(rec))
				}
				if rec.Sent < 0 || rec.Written < rec.Sent || rec.End < rec.Written || rec.Status != 200 {
					t.Errorf("request %d: sent %v, written %v, end %v, status %d", rec.Seq, rec.Sent, rec.Written, rec.End, rec.Status)
				}
			}
		})
	}
}

// Requests that share a stream get their own responses and nobody else's.
func testSharedStream(t *testing.T, s *testServer) {
	target := s.overGRPC("vllm_model", plan.EndpointStream, true)
	target.Triton.Streams = 2
	prompts := asking(24, 0)
	for i := range prompts {
		prompts[i].Output = 1 + i%7
	}
	for i, rec := range connect(t, target).send(t, prompts...) {
		if want := 1 + i%7; rec.Failure != nil || rec.Out.N != want {
			t.Errorf("request %d asked for %d tokens: %s", i, want, summary(rec))
		}
	}
}

// Each response has the stamp of the read that brought it, and these follow one
// another as the server's clock says.
func testMarks(t *testing.T, s *testServer) {
	if s.failing == nil {
		s = startMock(t, func(c *config.Server) { c.Latency.ITL = 20 * time.Millisecond })
	}
	target := s.overGRPC("vllm_model", plan.EndpointStream, true)
	if s.failing != nil {
		target.Body = map[string]any{"itl_ms": 20}
	}
	c := connect(t, target)
	var rec *record.Exchange
	for range 5 { // on a busy machine several responses may wait for one read
		if rec = c.send(t, asking(1, 6)...)[0]; rec.Failure == nil && len(rec.Marks) > 1 {
			break
		}
	}
	if rec.Failure != nil || len(rec.Marks) < 2 {
		t.Fatalf("%d marks: %s", len(rec.Marks), summary(rec))
	}
	last := rec.Sent
	for i, m := range rec.Marks {
		if m.Time() < last || m.User < m.Kernel {
			t.Errorf("mark %d at %v (user %v) after one at %v", i, m.Time(), m.User, last)
		}
		last = m.Time()
	}
	if rec.End != last || rec.Marks[len(rec.Marks)-1].Off != len(rec.Body) {
		t.Errorf("it ends at %v with %d bytes, the last mark is at %v and %d", rec.End, len(rec.Body), last, rec.Marks[len(rec.Marks)-1].Off)
	}
}

// sum is a request to add two rows of numbers, and what must come back.
func sum(right bool) *tensor.Inputs {
	row := func(f func(int) int) []byte {
		var words []string
		for i := range 16 {
			words = append(words, fmt.Sprint(f(i)))
		}
		return []byte("[" + strings.Join(words, ",") + "]")
	}
	extra := 0
	if !right {
		extra = 1
	}
	return &tensor.Inputs{Items: []tensor.Item{{
		Values:   []tensor.Value{{Name: "INPUT0", Text: row(func(i int) int { return i })}, {Name: "INPUT1", Text: row(func(int) int { return 100 })}},
		Expected: []tensor.Value{{Name: "OUTPUT0", Text: row(func(i int) int { return i + 100 + extra })}},
	}}}
}

// Plain tensors go and come by every way there is, and wrong answers are noticed.
func testTensors(t *testing.T, s *testServer) {
	inJSON := s.overHTTP("simple", plan.EndpointInfer, false)
	inJSON.Triton.InputFormat, inJSON.Triton.OutputFormat = plan.FormatJSON, plan.FormatJSON
	for name, target := range map[string]plan.Target{
		"stream": s.overGRPC("simple", plan.EndpointStream, true),
		"unary":  s.overGRPC("simple", plan.EndpointInfer, false),
		"HTTP":   s.overHTTP("simple", plan.EndpointInfer, false),
		"JSON":   inJSON,
	} {
		recs := connect(t, target).send(t, prompt.Prompt{Inputs: sum(true)}, prompt.Prompt{Inputs: sum(false)}, prompt.Prompt{Text: "made up"})
		if recs[0].Failure != nil || recs[2].Failure != nil {
			t.Errorf("%s: %+v, %+v", name, recs[0].Failure, recs[2].Failure)
		}
		if f := recs[1].Failure; f == nil || !strings.Contains(f.Message, "OUTPUT0") {
			t.Errorf("%s: a wrong answer: %+v", name, f)
		}
		if got := summary(recs[0]); got != "whole/-1 out 0 uncounted" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Tensors that lie in shared memory are read and written there.
func testSharedMemory(t *testing.T, s *testServer) {
	for name, target := range map[string]plan.Target{
		"stream": s.overGRPC("simple", plan.EndpointStream, true),
		"unary":  s.overGRPC("simple", plan.EndpointInfer, false),
		"HTTP":   s.overHTTP("simple", plan.EndpointInfer, false),
	} {
		target.Triton.SharedMemory = plan.MemorySystem
		c := connect(t, target)
		recs := c.send(t, prompt.Prompt{Inputs: sum(true)}, prompt.Prompt{Inputs: sum(false)})
		if recs[0].Failure != nil || recs[1].Failure == nil || !strings.Contains(recs[1].Failure.Message, "OUTPUT0") {
			t.Errorf("%s: %+v, %+v", name, recs[0].Failure, recs[1].Failure)
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		target.Triton.OutputMemory = 64
		c = connect(t, target)
		// Outputs that are compared come in the answer.
		// differs: pa-validation-memory
		recs = c.send(t, prompt.Prompt{Inputs: sum(true)}, prompt.Prompt{Inputs: sum(false)})
		if recs[0].Failure != nil || recs[1].Failure == nil || !strings.Contains(recs[1].Failure.Message, "OUTPUT0") {
			t.Errorf("%s with outputs: %+v, %+v", name, recs[0].Failure, recs[1].Failure)
		}
		any := sum(true)
		any.Items[0].Expected = nil
		if rec := c.send(t, prompt.Prompt{Inputs: any})[0]; rec.Failure != nil {
			t.Fatalf("%s with outputs: %+v", name, rec.Failure)
		}
		out := c.memory.regions[0].Bytes()
		if c.Model().Outputs[0].Datatype == tensor.Int32 && out[0] != 100 || bytes.Equal(out, make([]byte, 64)) {
			t.Errorf("%s: the output is not in its region: %v", name, out[:8])
		}
		c.Close()
		if left, _ := filepath.Glob("/dev/shm/*" + c.memory.prefix + "*"); len(left) > 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
	far := s.overGRPC("simple", plan.EndpointInfer, false)
	far.Triton.SharedMemory, far.Triton.OutputMemory = plan.MemorySystem, 64
	c := connect(t, far)
	defer c.Close()
	c.memory.regions[0].Key = "/no-such-region"
	if err := c.memory.join(t.Context(), c.memory.servers[0]); err == nil || !strings.Contains(err.Error(), "must run on this machine") {
		t.Errorf("memory that the server does not see: %v", err)
	}
}

// A sequence keeps its state from request to request.
func testSequences(t *testing.T, s *testServer) {
	for name, target := range map[string]plan.Target{
		"stream": s.overGRPC("sequence", plan.EndpointStream, false),
		"unary":  s.overGRPC("sequence", plan.EndpointInfer, false),
		"HTTP":   s.overHTTP("sequence", plan.EndpointInfer, false),
	} {
		c := connect(t, target)
		if !c.Model().Sequence {
			t.Errorf("%s: the model is not seen to have sequences", name)
		}
		for i, want := range []string{"5", "10", "15"} {
			recs := c.send(t, prompt.Prompt{
				Sequence: prompt.Sequence{ID: 77, Start: i == 0, End: i == 2},
				Inputs: &tensor.Inputs{Items: []tensor.Item{{
					Values: []tensor.Value{{Name: "INPUT", Text: []byte("[5]")}}, Expected: []tensor.Value{{Name: "OUTPUT", Text: []byte("[" + want + "]")}},
				}}},
			})
			if recs[0].Failure != nil {
				t.Errorf("%s, request %d: %+v", name, i, recs[0].Failure)
			}
		}
	}
}

// The prompt that comes back is neither text nor token.
func testEcho(t *testing.T, s *testServer) {
	streamed, whole := s.overGRPC("vllm_model", plan.EndpointStream, true), s.overGRPC("vllm_model", plan.EndpointStream, false)
	for _, target := range []*plan.Target{&streamed, &whole} {
		target.Body = map[string]any{"exclude_input_in_output": false, "return_num_output_tokens": nil}
	}
	for name, target := range map[string]plan.Target{"whole": whole, "streamed": streamed, "old": s.overGRPC("vllm_old", plan.EndpointStream, false)} {
		rec := connect(t, target).send(t, asking(1, 4)...)[0]
		if rec.Failure != nil || rec.Out.N != 4 || strings.Contains(string(rec.Text), "Prompt") {
			t.Errorf("%s: %s", name, summary(rec))
		}
		if name != "streamed" && !strings.Contains(string(rec.Body), "Prompt number 0") {
			t.Errorf("%s: the server did not send the prompt back, so nothing is shown", name)
		}
	}
}

func testCompression(t *testing.T, s *testServer) {
	for _, how := range []string{plan.CompressionGzip, plan.CompressionDeflate} {
		for name, target := range map[string]plan.Target{
			"stream": s.overGRPC("vllm_model", plan.EndpointStream, true),
			"unary":  s.overGRPC("simple", plan.EndpointInfer, false),
			"infer":  s.overHTTP("simple", plan.EndpointInfer, false),
		} {
			target.Triton.Compression = how
			p := asking(1, 5)[0]
			if target.Model == "simple" {
				p = prompt.Prompt{Inputs: sum(true)}
			}
			rec := connect(t, target).send(t, p)[0]
			if rec.Failure != nil || target.Model != "simple" && rec.Out.N != 5 {
				t.Errorf("%s, %s: %s", how, name, summary(rec))
			}
		}
	}
}

func testDetection(t *testing.T, s *testServer) {
	for _, target := range []plan.Target{s.overGRPC("ensemble", plan.EndpointStream, true), s.overHTTP("ensemble", plan.EndpointGenerate, true)} {
		m := connect(t, target).Model()
		if diff := cmp.Diff([]string{"ensemble", "preprocessing", "tensorrt_llm", "postprocessing"}, m.All()); diff != "" {
			t.Errorf("%s: %s", target.Transport, diff)
		}
		if !m.Ensemble() || !m.Streams() || m.MaxBatch < 1 || m.Sequence || m.Cached {
			t.Errorf("%s: %+v", target.Transport, m)
		}
		if i := slices.IndexFunc(m.Composing, func(c ModelInfo) bool { return c.Name == "tensorrt_llm" }); !m.Composing[i].Decoupled {
			t.Errorf("%s: the engine is not seen to be decoupled", target.Transport)
		}
	}
	if m := connect(t, s.overGRPC("simple", plan.EndpointInfer, false)).Model(); m.Streams() || m.Ensemble() {
		t.Errorf("an ordinary model: %+v", m)
	}
	if s.failing != nil {
		if m := connect(t, s.overGRPC("cached", plan.EndpointInfer, false)).Model(); !m.Cached {
			t.Errorf("a model behind the cache: %+v", m)
		}
	}
}

// Where nobody names a model, the only one that is no part of another is measured.
func TestOnlyModel(t *testing.T) {
	s := startMock(t, func(c *config.Server) {
		c.Models, c.Triton.Models = []string{"ensemble"}, map[string]repository.Convention{"ensemble": repository.ConventionTRTLLM}
	})
	for _, target := range []plan.Target{s.overGRPC("", plan.EndpointStream, true), s.overHTTP("", plan.EndpointGenerate, true)} {
		if m := connect(t, target).Model(); m.Name != "ensemble" {
			t.Errorf("%s: %s was chosen", target.Transport, m.Name)
		}
	}
}
