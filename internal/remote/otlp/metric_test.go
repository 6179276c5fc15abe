package otlp

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func metrics() []Metric {
	list := []Attribute{Text("a", "b"), Int("n", -3)}
	return []Metric{
		{Name: "sum", Description: "what", Unit: "{request}", Sum: &Numbers{Temporality: Cumulative, Monotonic: true, Points: []Number{{Attributes: list, Start: 1, Time: 2, Int: new(int64(7))}, {Start: 1, Time: 3, Int: new(int64(0))}}}},
		{Name: "gauge", Gauge: &Numbers{Points: []Number{{Time: 2, Double: new(0.5)}, {Time: 3, Double: new(0.0)}}}},
		{Name: "histogram", Unit: "s", Histogram: &Histogram{Temporality: Cumulative, Points: []Buckets{{
			Attributes: list, Start: 1, Time: 2, Count: 3, Sum: 1.5, Counts: Counts{1, 0, 2}, Bounds: []float64{0.1, 1}, Min: 0.1, Max: 1.2,
			Exemplars: []Exemplar{{Time: 2, Value: 0.1}},
		}}}},
	}
}

// What a collector reads of protobuf is what it reads of JSON.
func TestMetricsInBothForms(t *testing.T) {
	b := Batch{Resource: []Attribute{Text("service.name", "me")}, Version: "1", Metrics: metrics()}
	var binary, text collectorpb.ExportMetricsServiceRequest
	if err := proto.Unmarshal(b.protobuf(), &binary); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(b.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(plain, &text); err != nil {
		t.Fatalf("%v\n%s", err, plain)
	}
	if !proto.Equal(&binary, &text) {
		t.Errorf("protobuf: %v\nJSON:     %v", &binary, &text)
	}
	found := binary.ResourceMetrics[0].ScopeMetrics[0].Metrics
	if h := found[2].GetHistogram().DataPoints[0]; h.Count != 3 || h.BucketCounts[2] != 2 || h.ExplicitBounds[1] != 1 || h.GetMax() != 1.2 ||
		!found[0].GetSum().IsMonotonic {
		t.Errorf("it is %v", h)
	}
	b.Metrics[2].Histogram.Points[0].Exemplars[0].TraceID = strings.Repeat("0a", 16)
	if err := proto.Unmarshal(b.protobuf(), &binary); err != nil {
		t.Fatal(err)
	}
	if e := binary.ResourceMetrics[0].ScopeMetrics[0].Metrics[2].GetHistogram().DataPoints[0].Exemplars[0]; hex.EncodeToString(e.TraceId) != strings.Repeat("0a", 16) || e.GetAsDouble() != 0.1 {
		t.Errorf("the exemplar is %v", e)
	}
}

// metricsServer takes metrics over gRPC and over HTTP, with gRPC's own server and
// OpenTelemetry's own messages, and refuses two points of each export.
type metricsServer struct{ points int }

func (m *metricsServer) take(in *collectorpb.ExportMetricsServiceRequest) *collectorpb.ExportMetricsServiceResponse {
	for _, x := range in.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		m.points += len(x.GetSum().GetDataPoints()) + len(x.GetGauge().GetDataPoints()) + len(x.GetHistogram().GetDataPoints())
	}
	return &collectorpb.ExportMetricsServiceResponse{PartialSuccess: &collectorpb.ExportMetricsPartialSuccess{RejectedDataPoints: 2, ErrorMessage: "too old"}}
}

func (m *metricsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	in := new(collectorpb.ExportMetricsServiceRequest)
	var answer []byte
	switch form := r.Header.Get("Content-Type"); {
	case r.URL.Path != "/v1/metrics":
		http.NotFound(w, r)
	case form == "application/json" && protojson.Unmarshal(body, in) == nil:
		answer, _ = protojson.Marshal(m.take(in))
	case form == "application/x-protobuf" && proto.Unmarshal(body, in) == nil:
		answer, _ = proto.Marshal(m.take(in))
	default:
		http.Error(w, "this is not how metrics come", http.StatusBadRequest)
	}
	_, _ = w.Write(answer)
}

func (m *metricsServer) serveGRPC(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "opentelemetry.proto.collector.metrics.v1.MetricsService", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(collectorpb.ExportMetricsServiceRequest)
			if err := read(in); err != nil {
				return nil, err
			}
			return m.take(in), nil
		}}},
	}, m)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return "http://" + l.Addr().String()
}

func TestMetricsArrive(t *testing.T) {
	m := &metricsServer{}
	server := httptest.NewServer(m)
	defer server.Close()
	overGRPC := m.serveGRPC(t)
	for _, s := range []Settings{{Endpoint: overGRPC, Protocol: GRPC}, {Endpoint: server.URL + "/v1/metrics", Protocol: HTTPProtobuf}, {Endpoint: server.URL + "/v1/metrics", Protocol: HTTPJSON}} {
		m.points = 0
		c := NewClient(s)
		b := Batch{Metrics: metrics()}
		rejected, err := c.Export(t.Context(), &b)
		c.Close()
		if rejected != 2 || err == nil || !strings.Contains(err.Error(), "exporting metrics to "+s.Endpoint+": it rejected 2: too old") || m.points != 5 || b.Len() != 5 {
			t.Errorf("%s: %d of %d arrived, %d rejected: %v", s.Protocol, m.points, b.Len(), rejected, err)
		}
	}
}

func TestCut(t *testing.T) {
	for _, m := range metrics() {
		all := m.Len()
		head := m.Cut(1)
		if head.Len() != 1 || m.Len() != all-1 || head.Name != m.Name {
			t.Errorf("%s: %d and %d of %d", m.Name, head.Len(), m.Len(), all)
		}
	}
}
