package otlp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/otlp"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// got is a span as a collector reads it. It shares nothing with what writes them.
type got struct {
	TraceID      string
	SpanID       string
	ParentSpanID string
	Name         string
	Kind         int
	Start        string `json:"startTimeUnixNano"`
	End          string `json:"endTimeUnixNano"`
	Attributes   []struct {
		Key   string
		Value map[string]any
	}
	Events []struct {
		Time string `json:"timeUnixNano"`
		Name string
	}
	Status struct {
		Code    int
		Message string
	}
}

func (g *got) attribute(key string) any {
	for _, a := range g.Attributes {
		if a.Key == key {
			for _, v := range a.Value {
				return v
			}
		}
	}
	return nil
}

// read takes the spans out of an export, and refuses what OTLP's JSON does not have.
func read(t *testing.T, body []byte) (service string, spans []got) {
	t.Helper()
	var message struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes []struct {
					Key   string
					Value struct{ StringValue string }
				}
			}
			ScopeSpans []struct {
				Scope struct{ Name, Version string }
				Spans []got
			}
		}
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&message); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	for _, r := range message.ResourceSpans {
		for _, a := range r.Resource.Attributes {
			if a.Key == "service.name" {
				service = a.Value.StringValue
			}
		}
		for _, s := range r.ScopeSpans {
			spans = append(spans, s.Spans...)
		}
	}
	return service, spans
}

// collector is a stand-in for a collector.
type collector struct {
	mu     sync.Mutex
	bodies [][]byte
	header http.Header
	answer func(n int) (status int, body string)
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies, c.header = append(c.bodies, body), r.Header
	status, text := http.StatusOK, "{}"
	if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
		status, text = http.StatusNotFound, "this is not how spans come"
	} else if c.answer != nil {
		status, text = c.answer(len(c.bodies))
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

var start = time.Unix(1_700_000_000, 0)

func records() []*record.Record {
	answered := func(seq int64, session string, turn int, stage int, at time.Duration) *record.Record {
		return &record.Record{
			Seq: seq, Stage: stage, Session: session, Turn: turn, Due: at, Sent: at + time.Millisecond, End: at + 50*time.Millisecond,
			Status: 200, Streamed: true, Finish: "stop", RequestedTokens: 2, Text: []byte("ab"),
			Marks:  []record.Read{{User: at + 11*time.Millisecond, Kernel: record.Never}, {User: at + 50*time.Millisecond, Kernel: record.Never}},
			Events: []record.Event{{Mark: 0, Label: record.Content, Text: 1, Tokens: 1}, {Mark: 1, Label: record.Content, Text: 1, Tokens: 1}},
			In:     record.Tokens{N: 7, Source: record.FromServer, Local: -1}, Out: record.Tokens{N: 2, Source: record.FromServer, Local: -1},
		}
	}
	failed := &record.Record{Seq: 3, Stage: 1, Due: time.Second, Sent: record.Never, End: record.Never, Model: "adapter",
		Failure: &record.Failure{Class: record.ResolveFailed, Message: "no such host", At: 1100 * time.Millisecond}}
	return []*record.Record{answered(0, "s1", 0, 0, 0), answered(1, "s1", 1, 0, 100*time.Millisecond), answered(2, "", 0, 1, time.Second), failed}
}

func export(t *testing.T, perStage bool) []got {
	t.Helper()
	var out strings.Builder
	e := New(t.Context(), Settings{Service: "me", PerStage: perStage}, Run{Start: start, Operation: "chat", Provider: "vllm", Model: "m", Servers: []string{"http://server:8000"}}, &dialect.Options{ServerTokens: true}, &out)
	for _, r := range records() {
		e.Add(r)
	}
	sent, err := e.Close()
	if err != nil {
		t.Fatal(err)
	}
	service, spans := read(t, []byte(out.String()))
	if service != "me" || int(sent) != len(spans) {
		t.Errorf("service %q, %d spans of %d", service, len(spans), sent)
	}
	seen := map[string]bool{}
	for _, s := range spans {
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(s.TraceID) || !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(s.SpanID) || seen[s.SpanID] {
			t.Errorf("bad identity: %s %s", s.TraceID, s.SpanID)
		}
		seen[s.SpanID] = true
	}
	for _, s := range spans {
		if s.ParentSpanID != "" && !seen[s.ParentSpanID] {
			t.Errorf("%s is in a span that is not there", s.Name)
		}
	}
	return spans
}

func nanos(d time.Duration) string { return strconv.FormatInt(start.Add(d).UnixNano(), 10) }

func TestSpans(t *testing.T) {
	s := export(t, false)
	var names []string
	for _, x := range s {
		names = append(names, x.Name)
	}
	if d := cmp.Diff([]string{"chat m", "chat m", "chat m", "chat adapter", "session.s1"}, names); d != "" {
		t.Fatal(d)
	}
	session := s[4]
	if s[0].ParentSpanID != session.SpanID || s[1].TraceID != session.TraceID || session.ParentSpanID != "" || s[2].ParentSpanID != "" || s[2].TraceID == s[0].TraceID {
		t.Error("a conversation is not one trace, or others are in it")
	}
	if session.Start != nanos(time.Millisecond) || session.End != nanos(150*time.Millisecond) || session.Kind != 1 {
		t.Errorf("the session is %+v", session)
	}
	r := s[1]
	for key, want := range map[string]any{
		"gen_ai.system": "openai_compatible", "llm.request.type": "chat", "llm.is_streaming": true, "llm.usage.total_tokens": "9",
		"gen_ai.usage.prompt_tokens": "7", "gen_ai.usage.completion_tokens": "2", "gen_ai.response.total_latency": 0.049,
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "vllm", "gen_ai.request.model": "m", "gen_ai.request.max_tokens": "2",
		"gen_ai.usage.input_tokens": "7", "gen_ai.usage.output_tokens": "2", "gen_ai.conversation.id": "s1", "inference_perf.turn": "1",
		"server.address": "server", "server.port": "8000", "http.response.status_code": "200", "gen_ai.response.time_to_first_token": 0.01,
		"inference_perf.schedule_delay": 0.001, "gen_ai.response.time_per_output_token": 0.039,
		"gen_ai.response.finish_reasons": map[string]any{"values": []any{map[string]any{"stringValue": "stop"}}},
	} {
		if d := cmp.Diff(want, r.attribute(key)); d != "" {
			t.Errorf("%s: %s", key, d)
		}
	}
	if r.Start != nanos(101*time.Millisecond) || r.End != nanos(150*time.Millisecond) || r.Kind != 3 || r.Status.Code != 1 {
		t.Errorf("the request is %+v", r)
	}
	if len(r.Events) != 1 || r.Events[0].Time != nanos(111*time.Millisecond) {
		t.Errorf("the first token is %+v", r.Events)
	}
	f := s[3]
	if f.Status.Code != 2 || f.Status.Message != "no such host" || f.attribute("error.type") != "resolve" || f.Start != nanos(time.Second) || f.End != nanos(1100*time.Millisecond) {
		t.Errorf("the failure is %+v", f)
	}
	if d := cmp.Diff(s, export(t, false)); d != "" {
		t.Errorf("the same records give other spans: %s", d)
	}
}

func TestPerStage(t *testing.T) {
	s := export(t, true)
	by := map[string]got{}
	for _, x := range s[4:] {
		by[x.Name] = x
	}
	a, b, session := by["stage.0"], by["stage.1"], by["session.s1"]
	if len(by) != 3 || a.TraceID == b.TraceID || session.ParentSpanID != a.SpanID || session.TraceID != a.TraceID {
		t.Fatalf("groups: %+v", by)
	}
	if s[0].ParentSpanID != session.SpanID || s[2].ParentSpanID != b.SpanID || s[3].TraceID != b.TraceID || b.attribute("inference_perf.requests") != "2" {
		t.Error("requests are not in their stages")
	}
}

// send exports many spans to a collector.
func send(t *testing.T, c *collector, n int) (int64, error) {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	env := map[string]string{
		"OTEL_TRACES_ENABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": server.URL + "/", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=a%20b, x-other=c",
	}
	s, ok, err := FromEnv(func(name string) string { return env[name] })
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	e := New(t.Context(), s, Run{Start: start, Operation: "chat"}, &dialect.Options{}, nil)
	for i := range n {
		e.Add(&record.Record{Seq: int64(i), End: 1})
	}
	return e.Close()
}

func TestCollector(t *testing.T) {
	c := &collector{answer: func(n int) (int, string) {
		if n == 2 {
			return http.StatusServiceUnavailable, "not now"
		}
		return http.StatusOK, `{"partialSuccess":{}}`
	}}
	sent, err := send(t, c, 600)
	if err != nil || sent != 600 || len(c.bodies) != 3 {
		t.Fatalf("%d spans in %d exports: %v", sent, len(c.bodies), err)
	}
	_, first := read(t, c.bodies[0])
	service, last := read(t, c.bodies[2])
	if len(first) != 512 || len(last) != 88 || service != DefaultService {
		t.Errorf("%d and %d spans of %q", len(first), len(last), service)
	}
	if c.header.Get("x-tenant") != "a b" || c.header.Get("x-other") != "c" {
		t.Errorf("headers are %v", c.header)
	}
}

func TestCollectorRefuses(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		sent    int64
		exports int
		want    string
	}{
		{http.StatusBadRequest, "what is that", 0, 1, "what is that"},
		{http.StatusOK, `{"partialSuccess":{"rejectedSpans":"12","errorMessage":"too old"}}`, 576, 2, "too old"},
		{http.StatusOK, `{"partialSuccess":{"rejectedSpans":9999}}`, 0, 2, "rejected 9999"},
	} {
		stand := &collector{answer: func(int) (int, string) { return c.status, c.body }}
		sent, err := send(t, stand, 600)
		if sent != c.sent || len(stand.bodies) != c.exports || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), strconv.Itoa(int(600-c.sent))+" were not") {
			t.Errorf("%q: %d arrived in %d exports: %v", c.body, sent, len(stand.bodies), err)
		}
	}
}

// Nobody there: it is tried a few times, and then no more for all the rest.
func TestNoCollector(t *testing.T) {
	for _, by := range []string{otlp.GRPC, otlp.HTTPProtobuf, otlp.HTTPJSON} {
		t.Run(by, func(t *testing.T) { noCollector(t, by) })
	}
}

func noCollector(t *testing.T, by string) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		e := New(ctx, Settings{Settings: otlp.Settings{Endpoint: "http://user:secret@127.0.0.1:1", Protocol: by}}, Run{Start: start}, &dialect.Options{}, nil)
		begin := time.Now()
		for i := range 5000 {
			e.Add(&record.Record{Seq: int64(i), End: 1})
		}
		sent, err := e.Close()
		if sent != 0 || err == nil || !strings.Contains(err.Error(), "5000 were not") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d arrived: %v", sent, err)
		}
		if took := time.Since(begin); took != 3500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		env  string
		want Settings
		ok   bool
		err  string
	}{
		{"", Settings{}, false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", Settings{}, false, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_SDK_DISABLED=true", Settings{}, false, ""},
		{"OTEL_TRACES_ENABLED=True", Settings{Service: DefaultService, Settings: otlp.Settings{Headers: map[string]string{}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_SERVICE_NAME=me OTEL_TRACE_PER_STAGE=true OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318",
			Settings{Service: "me", PerStage: true, Settings: otlp.Settings{Endpoint: "http://c:4318/v1/traces", Protocol: otlp.HTTPJSON, Headers: map[string]string{}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://c/x OTEL_EXPORTER_OTLP_ENDPOINT=http://d",
			Settings{Service: DefaultService, Settings: otlp.Settings{Endpoint: "https://c/x", Protocol: otlp.HTTPJSON, Headers: map[string]string{}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4317", Settings{Service: DefaultService, Settings: otlp.Settings{Endpoint: "http://c:4317", Protocol: otlp.GRPC, Headers: map[string]string{}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317", Settings{Service: DefaultService, Settings: otlp.Settings{Endpoint: "http://localhost:4317", Protocol: otlp.GRPC, Headers: map[string]string{}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=https://api.example.com:443/ OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=b OTEL_EXPORTER_OTLP_HEADERS=c=d",
			Settings{Service: DefaultService, Settings: otlp.Settings{Endpoint: "https://api.example.com:443", Protocol: otlp.GRPC, Headers: map[string]string{"a": "b"}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4317 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
			Settings{Service: DefaultService, Settings: otlp.Settings{Endpoint: "http://c:4317/v1/traces", Protocol: otlp.HTTPProtobuf, Headers: map[string]string{}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318 OTEL_EXPORTER_OTLP_PROTOCOL=http/json OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc",
			Settings{Service: DefaultService, Settings: otlp.Settings{Endpoint: "http://c:4318", Protocol: otlp.GRPC, Headers: map[string]string{}}}, true, ""},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4317 OTEL_EXPORTER_OTLP_PROTOCOL=http", Settings{}, false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=unix:///secret", Settings{}, false, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{"OTEL_TRACES_ENABLED=true OTEL_EXPORTER_OTLP_HEADERS=secret", Settings{}, false, "OTEL_EXPORTER_OTLP_HEADERS"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		s, ok, err := FromEnv(func(name string) string { return env[name] })
		if ok != c.ok || (err != nil) != (c.err != "") || err != nil && (!strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, %v", c.env, ok, err)
		}
		if d := cmp.Diff(c.want, s); ok && d != "" {
			t.Errorf("%s: %s", c.env, d)
		}
	}
}
