package otlp

import (
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// receiver is a collector that we did not write: gRPC's own server and OpenTelemetry's
// own messages.
type receiver struct {
	mu      sync.Mutex
	exports []*collectorpb.ExportTraceServiceRequest
	header  metadata.MD
	answer  func(n int) (*collectorpb.ExportTraceServiceResponse, error)
}

func (r *receiver) export(ctx context.Context, in *collectorpb.ExportTraceServiceRequest) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exports = append(r.exports, in)
	r.header, _ = metadata.FromIncomingContext(ctx)
	if r.answer != nil {
		return r.answer(len(r.exports))
	}
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

// serve gives the address of a receiver.
func (r *receiver) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "opentelemetry.proto.collector.trace.v1.TraceService", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(_ any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(collectorpb.ExportTraceServiceRequest)
			if err := read(in); err != nil {
				return nil, err
			}
			return r.export(ctx, in)
		}}},
	}, r)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// exporter is one with the settings of the environment.
func exporter(t *testing.T, env map[string]string) *Exporter {
	t.Helper()
	env["OTEL_TRACES_ENABLED"] = "true"
	s, ok, err := FromEnv(func(name string) string { return env[name] })
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	return New(t.Context(), s, Run{Start: start, Operation: "chat", Provider: "vllm", Model: "m", Servers: []string{"http://server:8000"}}, &dialect.Options{ServerTokens: true}, nil)
}

// plain is a span of the official messages in the form in which JSON has it.
func plain(s *tracepb.Span) got {
	g := got{
		TraceID: hex.EncodeToString(s.TraceId), SpanID: hex.EncodeToString(s.SpanId), ParentSpanID: hex.EncodeToString(s.ParentSpanId),
		Name: s.Name, Kind: int(s.Kind),
		Start: strconv.FormatUint(s.StartTimeUnixNano, 10), End: strconv.FormatUint(s.EndTimeUnixNano, 10),
	}
	for _, a := range s.Attributes {
		g.Attributes = append(g.Attributes, struct {
			Key   string
			Value map[string]any
		}{a.Key, plainValue(a.Value)})
	}
	for _, e := range s.Events {
		g.Events = append(g.Events, struct {
			Time string `json:"timeUnixNano"`
			Name string
		}{strconv.FormatUint(e.TimeUnixNano, 10), e.Name})
	}
	g.Status.Code, g.Status.Message = int(s.Status.GetCode()), s.Status.GetMessage()
	return g
}

func plainValue(v *commonpb.AnyValue) map[string]any {
	switch v := v.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		return map[string]any{"stringValue": v.StringValue}
	case *commonpb.AnyValue_BoolValue:
		return map[string]any{"boolValue": v.BoolValue}
	case *commonpb.AnyValue_IntValue:
		return map[string]any{"intValue": strconv.FormatInt(v.IntValue, 10)}
	case *commonpb.AnyValue_DoubleValue:
		return map[string]any{"doubleValue": v.DoubleValue}
	case *commonpb.AnyValue_ArrayValue:
		var list []any
		for _, e := range v.ArrayValue.Values {
			list = append(list, plainValue(e))
		}
		return map[string]any{"arrayValue": map[string]any{"values": list}}
	}
	return nil
}

// What a collector reads of protobuf is what it reads of JSON, over gRPC and over HTTP.
func TestProtobuf(t *testing.T) {
	r := &receiver{}
	overHTTP := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		in := new(collectorpb.ExportTraceServiceRequest)
		if err := proto.Unmarshal(body, in); err != nil || q.Header.Get("Content-Type") != "application/x-protobuf" || q.URL.Path != "/v1/traces" {
			http.Error(w, "this is not how spans come", http.StatusBadRequest)
			return
		}
		out, _ := r.export(q.Context(), in)
		answer, _ := proto.Marshal(out.(proto.Message))
		_, _ = w.Write(answer)
	}))
	defer overHTTP.Close()
	want := export(t, false)
	address := r.serve(t)
	for _, env := range []map[string]string{
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + address, "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=a%20b"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": address},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": overHTTP.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
	} {
		e := exporter(t, env)
		for _, rec := range records() {
			e.Add(rec)
		}
		sent, err := e.Close()
		if err != nil || int(sent) != len(want) {
			t.Fatalf("%v: %d arrived: %v", env, sent, err)
		}
		last := r.exports[len(r.exports)-1]
		if env["OTEL_EXPORTER_OTLP_HEADERS"] != "" && (len(r.header["x-tenant"]) != 1 || r.header["x-tenant"][0] != "a b") {
			t.Errorf("headers are %v", r.header)
		}
		scoped := last.ResourceSpans[0].ScopeSpans[0]
		var spans []got
		for _, s := range scoped.Spans {
			spans = append(spans, plain(s))
		}
		if d := cmp.Diff(want, spans); d != "" {
			t.Errorf("%v: %s", env, d)
		}
		if service := last.ResourceSpans[0].Resource.Attributes[0]; service.Key != "service.name" || service.Value.GetStringValue() != DefaultService || scoped.Scope.Name != "inferometer" {
			t.Errorf("%v: the service is %v of %v", env, service, scoped.Scope)
		}
	}
}

// many exports 600 empty spans.
func many(t *testing.T, address string) (int64, error) {
	t.Helper()
	e := exporter(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": address})
	for i := range 600 {
		e.Add(&record.Record{Seq: int64(i), End: 1})
	}
	return e.Close()
}

func TestReceiver(t *testing.T) {
	t.Parallel() // what is tried again waits
	refuse := func(code codes.Code) func(int) (*collectorpb.ExportTraceServiceResponse, error) {
		return func(int) (*collectorpb.ExportTraceServiceResponse, error) {
			return nil, grpcstatus.Error(code, "täglich nur einmal")
		}
	}
	for _, c := range []struct {
		name    string
		answer  func(n int) (*collectorpb.ExportTraceServiceResponse, error)
		sent    int64
		exports int
		want    string
	}{
		{"takes all", nil, 600, 2, ""},
		{"is away once", func(n int) (*collectorpb.ExportTraceServiceResponse, error) {
			if n == 1 {
				return nil, grpcstatus.Error(codes.Unavailable, "not now")
			}
			return &collectorpb.ExportTraceServiceResponse{}, nil
		}, 600, 3, ""},
		{"refuses for good", refuse(codes.PermissionDenied), 0, 1, "status 7: \"täglich nur einmal\""},
		{"takes a part", func(int) (*collectorpb.ExportTraceServiceResponse, error) {
			return &collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 12, ErrorMessage: "too old"}}, nil
		}, 576, 2, "rejected 12: too old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &receiver{answer: c.answer}
			sent, err := many(t, r.serve(t))
			if sent != c.sent || len(r.exports) != c.exports || (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d arrived in %d exports: %v", sent, len(r.exports), err)
			}
		})
	}
}

// A port that speaks HTTP/1.1 is told of, and what to do about it.
func TestNotGRPC(t *testing.T) {
	t.Parallel() // what is tried again waits
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	sent, err := many(t, server.URL)
	if sent != 0 || err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf") {
		t.Errorf("%d arrived: %v", sent, err)
	}
}
