package anthropic

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func target(change func(*plan.Target)) plan.Target {
	t := plan.Default().Target
	t.Protocol, t.Endpoint, t.Model, t.URLs = plan.ProtocolAnthropic, plan.EndpointMessages, "mock", []string{"http://localhost:1"}
	if change != nil {
		change(&t)
	}
	return t
}

func newEndpoint(t *testing.T, target plan.Target, key string) *Endpoint {
	t.Helper()
	e, err := New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), Key: key, RunID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestBodies(t *testing.T) {
	image := prompt.Part{Kind: prompt.Image, Type: "image/png", Data: []byte("abc")}
	for _, tt := range []struct {
		change func(*plan.Target)
		prompt prompt.Prompt
		want   string
	}{
		{nil, prompt.Prompt{Text: "hi", Output: 3}, `{"stream":true,"model":"mock","max_tokens":3,"messages":[{"role":"user","content":"hi"}]}`},
		{func(t *plan.Target) { t.Streaming = false }, prompt.Prompt{Text: "hi", Model: "a"}, `{"model":"a","max_tokens":1024,"messages":[{"role":"user","content":"hi"}]}`},
		{func(t *plan.Target) { t.Body = map[string]any{"max_tokens": 9, "top_k": 1} }, prompt.Prompt{Text: "hi", Output: 3},
			`{"max_tokens":9,"stream":true,"top_k":1,"model":"mock","messages":[{"role":"user","content":"hi"}]}`},
		{nil, prompt.Prompt{Output: 1, Messages: []prompt.Message{{Role: "system", Content: "be"}, {Role: "user", Content: "a"}, {Role: "assistant", Content: "b"}, {Role: "system", Content: "brief"}, {Role: "tool", Content: "c"}}},
			`{"stream":true,"model":"mock","max_tokens":1,"system":"be\n\nbrief","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`},
		{nil, prompt.Prompt{Output: 1, Text: "see", Parts: []prompt.Part{{Text: "see"}, image, {Kind: prompt.Image, URL: "http://x/y"}}},
			`{"stream":true,"model":"mock","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"see"},` +
				`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"YWJj"}},{"type":"image","source":{"type":"url","url":"http://x/y"}}]}]}`},
	} {
		got, err := newEndpoint(t, target(tt.change), "").encode(&tt.prompt)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s, %v\nwant\n%s", got, err, tt.want)
		}
	}
	e := newEndpoint(t, target(nil), "")
	if _, err := e.Prepare(&prompt.Prompt{Text: "x", Parts: []prompt.Part{{Kind: prompt.Audio}}}); err == nil || !strings.Contains(err.Error(), "not audio or video") {
		t.Errorf("sound: %v", err)
	}
	if _, err := New(target(func(t *plan.Target) { t.Body = map[string]any{"messages": 1} }), endpoint.Options{Clock: timedconn.NewClock()}); err == nil {
		t.Error("the messages could be replaced")
	}
}

// truth is the mock's truth file.
type truth struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *truth) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *truth) read(t *testing.T) []truthfile.Request {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	list, err := truthfile.Read(bytes.NewReader(w.b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func serve(t *testing.T, change func(*config.Server)) (url string, w *truth, stop func()) {
	t.Helper()
	c := config.Default()
	c.Strict = true
	if change != nil {
		change(&c)
	}
	w = new(truth)
	s, err := mock.New(c, mock.WithTruth(w))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	stop = sync.OnceFunc(func() { _ = s.Close() })
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), w, stop
}

// ask carries out a request and decodes the response.
func ask(t *testing.T, e *Endpoint, p prompt.Prompt) *record.Exchange {
	t.Helper()
	call, err := e.Prepare(&p)
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Exchange{Record: record.Record{Seq: p.Seq, In: record.Tokens{Local: -1}}}
	call.Do(context.Background(), rec)
	NewDecoder(decodetest.Words{}, true).Decode(rec)
	return rec
}

// The mock, which shares no code with this side, must be understood in every detail.
func TestAgainstTheMock(t *testing.T) {
	for _, tt := range []struct {
		name     string
		streamed bool
		http2    bool
		change   func(*config.Server)
		failure  record.Class
	}{
		{"streamed", true, false, nil, ""},
		{"in one piece", false, false, nil, ""},
		{"HTTP/2", true, true, nil, ""},
		{"thinking", true, false, func(c *config.Server) { c.Output.ReasoningTokens = 3 }, ""},
		{"several tokens an event", true, false, func(c *config.Server) { c.Output.TokensPerEvent, c.Output.Coalesce = 2, 3 }, ""},
		{"cached", true, false, func(c *config.Server) { c.Latency.PrefixCache, c.Latency.BlockSize = true, 2 }, ""},
		{"no message_stop", true, false, func(c *config.Server) { c.Output.Done = false }, ""},
		{"status", true, false, fault(config.FaultStatus, 529), record.HTTPStatus},
		{"error", true, false, fault(config.FaultError, 0), record.StreamError},
		{"error-event", true, false, fault(config.FaultErrorEvent, 0), record.StreamError},
		{"truncate", true, false, fault(config.FaultTruncate, 0), record.Truncated},
		{"garbage", true, false, fault(config.FaultGarbage, 0), record.BadBody},
		{"html", false, false, fault(config.FaultHTML, 0), record.BadBody},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, w, stop := serve(t, func(c *config.Server) {
				c.HTTP2, c.APIKey = tt.http2, "secret"
				if tt.change != nil {
					tt.change(c)
				}
			})
			e := newEndpoint(t, target(func(p *plan.Target) { p.URLs, p.Streaming, p.HTTP2 = []string{url}, tt.streamed, tt.http2 }), "secret")
			var last *record.Exchange
			for seq := range int64(2) {
				last = ask(t, e, prompt.Prompt{Seq: seq, Text: "one two three four", Output: 8})
			}
			stop()
			if tt.failure != "" {
				if last.Failure == nil || last.Failure.Class != tt.failure {
					t.Errorf("failure %+v, want %s", last.Failure, tt.failure)
				}
				return
			}
			lines := w.read(t)
			truth := lines[len(lines)-1]
			if last.Failure != nil || last.Finish != truth.Finish || last.Out.N != truth.Tokens || last.Out.Local != 8 ||
				last.In.N != truth.Prompt || max(last.Cached, 0) != truth.Cached {
				t.Errorf("%+v\nfailure %+v\ntruth %+v", last, last.Failure, truth)
			}
			tokens := 0
			for _, ev := range last.Events {
				if ev.Label.IsToken() && ev.Tokens > 0 {
					tokens += ev.Tokens
				}
			}
			if tokens != 8 && tt.name != "several tokens an event" || len(last.Events) != len(truth.Events) {
				t.Errorf("%d tokens in %d events, the mock sent 8 in %d", tokens, len(last.Events), len(truth.Events))
			}
		})
	}
}

func fault(k config.FaultKind, code int) func(*config.Server) {
	return func(c *config.Server) { c.Faults = []config.Fault{{Kind: k, Code: code, Share: 1}} }
}
