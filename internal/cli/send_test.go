package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/testkit/prometheus"
	"github.com/inferometer/inferometer/internal/tool"
)

// sink takes what runs send: a collector and a remote-write receiver.
type sink struct {
	mu       sync.Mutex
	spans    int
	metrics  map[string]float64 // the last value of a metric of numbers, or how many a histogram has
	service  string
	writes   int
	bearer   string
	answered int // status; 0: all is well
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var traces tracepb.ExportTraceServiceRequest
	var metrics metricspb.ExportMetricsServiceRequest
	switch {
	case s.answered != 0:
		http.Error(w, "go away", s.answered)
	case r.URL.Path == "/v1/traces" && proto.Unmarshal(body, &traces) == nil:
		s.spans += len(traces.ResourceSpans[0].ScopeSpans[0].Spans)
	case r.URL.Path == "/v1/metrics" && proto.Unmarshal(body, &metrics) == nil:
		for _, a := range metrics.ResourceMetrics[0].Resource.Attributes {
			if a.Key == "service.name" {
				s.service = a.Value.GetStringValue()
			}
		}
		for _, m := range metrics.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range m.GetHistogram().GetDataPoints() {
				s.metrics[m.Name] += float64(p.Count)
			}
			for _, p := range m.GetSum().GetDataPoints() {
				s.metrics[m.Name] = float64(p.GetAsInt())
			}
		}
	case r.URL.Path == "/api/v1/write":
		s.writes, s.bearer = s.writes+1, r.Header.Get("Authorization")
	default:
		http.NotFound(w, r)
	}
}

func newSink(t *testing.T) (*sink, string) {
	t.Helper()
	s := &sink{metrics: map[string]float64{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// callWith runs the program in this process with an environment.
func callWith(env map[string]string, args ...string) (code int, output string) {
	var out bytes.Buffer
	code = Main(tool.Env{Args: args, Stdout: &out, Stderr: &out, Getenv: func(name string) string { return env[name] }, Restore: func() {}})
	return code, out.String()
}

func quick(url string, more ...string) []string {
	return append([]string{"run", url, "--requests", "4", "--concurrency", "4", "--output-tokens", "2"}, more...)
}

// A run that keeps nothing is sent all the same, and leaves nothing behind.
func TestSend(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	url := serve(t)
	s, to := newSink(t)
	code, out := callWith(map[string]string{"INFEROMETER_REMOTE_WRITE_TOKEN": "hunter2", "OTEL_SERVICE_NAME": "me"}, quick(url, "--otlp", to, "--remote-write", to+"/api/v1/write")...)
	if code == tool.ExitUsage || !strings.Contains(out, "Sent: 4 spans") || !strings.Contains(out, "metric points") || !strings.Contains(out, "samples") || strings.Contains(out, "hunter2") {
		t.Fatalf("%d: %s", code, out)
	}
	if s.spans != 4 || s.metrics["gen_ai.client.operation.duration"] != 4 || s.metrics["inferometer.requests"] != 4 || s.service != "me" || s.writes != 2 || s.bearer != "Bearer hunter2" {
		t.Errorf("%+v", s)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "inferometer-*")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}

	// The environment alone asks for it too; a share of spans is enough.
	s, to = newSink(t)
	env := map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": to, "OTEL_TRACES_SAMPLER": "always_off"}
	if code, out := callWith(env, quick(url, "--out", filepath.Join(temp, "out"))...); code == tool.ExitUsage || s.spans != 0 || s.metrics["inferometer.requests"] != 4 || s.service != "inferometer" {
		t.Errorf("%d, %+v: %s", code, s, out)
	}
	s.metrics = map[string]float64{}
	if _, out := callWith(env, "report", filepath.Join(temp, "out")); len(s.metrics) > 0 {
		t.Errorf("a report sends the run again unasked: %s", out)
	}
	delete(env, "OTEL_TRACES_SAMPLER")
	if _, out := callWith(env, "report", filepath.Join(temp, "out"), "--format", "md", "--otlp", to); s.spans != 4 || !strings.Contains(out, "###") {
		t.Errorf("%+v: %s", s, out)
	}

	// Who refuses costs no report.
	s.answered = http.StatusForbidden
	code, out = callWith(nil, "report", filepath.Join(temp, "out"), "--otlp", to, "--remote-write", to+"/api/v1/write")
	for _, want := range []string{"Request latency", "0 spans were exported and 4 were not", "points of metrics were exported", "0 samples were written", "go away"} {
		if code != tool.ExitRun || !strings.Contains(out, want) {
			t.Errorf("%d: there is no %q in %s", code, want, out)
		}
	}
}

// What cannot be is told before anything is sent.
func TestSendNowhere(t *testing.T) {
	for _, c := range []struct {
		env, args, want string
	}{
		{"", "run http://127.0.0.1:1 --otlp ftp://secret", "--otlp is not a collector URL"},
		{"", "run http://127.0.0.1:1 --remote-write secret", "--remote-write: is not a URL of a remote-write receiver"},
		{"OTEL_TRACES_SAMPLER=some", "run http://127.0.0.1:1 --otlp http://h", "OTEL_TRACES_SAMPLER"},
		{"OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=2", "run http://127.0.0.1:1 --otlp http://h", "OTEL_TRACES_SAMPLER_ARG"},
		{"OTEL_EXPORTER_OTLP_HEADERS=secret", "run http://127.0.0.1:1 --otlp http://h", "OTEL_EXPORTER_OTLP_HEADERS"},
		{"OTEL_RESOURCE_ATTRIBUTES=secret", "run http://127.0.0.1:1 --otlp http://h", "OTEL_RESOURCE_ATTRIBUTES"},
		{"INFEROMETER_REMOTE_WRITE_HEADERS=secret", "run http://127.0.0.1:1 --remote-write http://h", "INFEROMETER_REMOTE_WRITE_HEADERS"},
		{"", "report . --format genai-perf --otlp http://h", "cannot be combined with the format of another tool"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		if code, out := callWith(env, strings.Fields(c.args)...); code != tool.ExitUsage || !strings.Contains(out, c.want) || strings.Contains(out, "secret") {
			t.Errorf("%s %s: %d, %s", c.env, c.args, code, out)
		}
	}
}

// What a real Prometheus gives back is what the result says.
func TestRemoteWrite(t *testing.T) {
	server := prometheus.Start(t, time.Second)
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"run", serve(t), "--output-tokens", "2", "--out", dir, "--name", `a "name"`, "--stage", "concurrency=4,requests=4", "--stage", "rate=100,requests=3", "--remote-write", server.URL + "/api/v1/write"}
	if code, out := callWith(nil, args...); code == tool.ExitUsage || !strings.Contains(out, "samples") {
		t.Fatalf("%d: %s", code, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var res result.Result
	if err := json.Unmarshal(text, &res); err != nil {
		t.Fatal(err)
	}
	for i, s := range res.Stages {
		in := fmt.Sprintf(`stage="%d",name="a \"name\""`, i+1)
		for query, want := range map[string]float64{
			`inferometer_requests_total{outcome="ok",phase="measured",` + in + `}`:             float64(s.Counts.OK),
			`inferometer_requests_sent_total{phase="measured",` + in + `}`:                     float64(s.Counts.Sent),
			`inferometer_output_tokens_total{` + in + `}`:                                      s.Metrics["output_sequence_length"].Avg * float64(s.Counts.OK),
			`inferometer_requests_in_flight{` + in + `}`:                                       0,
			`histogram_count(inferometer_inter_token_latency_seconds{` + in + `})`:             float64(s.Metrics["inter_token_latency"].Count),
			`inferometer_result{metric="request_latency",stat="p99",` + in + `}`:               s.Metrics["request_latency"].P99,
			`inferometer_result{metric="request_throughput",` + in + `}`:                       s.Metrics["request_throughput"].Avg,
			`inferometer_result{metric="time_to_first_token",stat="max",unit="ms",` + in + `}`: s.Metrics["time_to_first_token"].Max,
		} {
			if got := server.Value(t, query); got != want {
				t.Errorf("%s is %v, want %v", query, got, want)
			}
		}
		sum := server.Value(t, `histogram_sum(inferometer_request_latency_seconds{`+in+`})`)
		if want := s.Metrics["request_latency"].Avg * float64(s.Counts.OK) / 1000; sum < want*0.999999 || sum > want*1.000001 {
			t.Errorf("latencies add up to %v, want %v", sum, want)
		}
	}
	if got := server.Value(t, `inferometer_requested_rate{stage="2"}`); got != 100 {
		t.Errorf("the rate is %v", got)
	}
	dashboardFits(t, server)
	// The same again is refused, which is told of.
	if code, out := callWith(nil, "report", dir, "--format", "json", "--remote-write", server.URL+"/api/v1/write"); code != tool.ExitRun || !strings.Contains(out, "out of order") || !strings.Contains(out, "0 samples were written") {
		t.Errorf("%d: %.300s", code, out)
	}
}
