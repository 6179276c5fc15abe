package triton

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func ct(count, ns uint64) record.CountTime { return record.CountTime{Count: count, NS: ns} }

// fakeServer has the pages that it is given.
func fakeServer(t *testing.T, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":"no %s here"}`, r.URL.Path)
			return
		}
		if r.Header.Get("X-Mine") == "" && strings.Contains(r.URL.Path, "/v2") {
			t.Errorf("%s was asked without the target's headers", r.URL.Path)
		}
		fmt.Fprint(w, page)
	}))
	t.Cleanup(s.Close)
	return s
}

func newProbe(t *testing.T, target plan.Target, address string, o Options) *Probe {
	t.Helper()
	o.Clock = timedconn.NewClock()
	p, err := New(target, address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func statistics(name, version string, n int) string {
	d := func(ns int) string { return fmt.Sprintf(`{"count":%d,"ns":%d}`, n, ns*n) }
	return fmt.Sprintf(`{"name":%q,"version":%q,"inference_count":%d,"execution_count":%d,"last_inference":5,"inference_stats":{"success":%s,"fail":{},
		"queue":%s,"compute_input":%s,"compute_infer":%s,"compute_output":%s,"cache_hit":{"count":1,"ns":2},"cache_miss":{"count":3,"ns":4}},
		"response_stats":{"10":{"success":{"count":1,"ns":7}},"2":{"compute_infer":{"count":3,"ns":9},"empty_response":{"count":1,"ns":1}},"odd":{}},
		"batch_stats":[{"batch_size":1}],"memory_usage":[],"not in the protocol":1}`, name, version, 2*n, n, d(100), d(1), d(2), d(3), d(4))
}

// anyVersion marks a model of which no version was asked for.
func anyVersion(m record.ModelStats) record.ModelStats {
	m.AnyVersion = true
	return m
}

// cache marks a model that has a response cache and is decoupled.
func cache(m record.ModelStats) record.ModelStats {
	m.Cache, m.Decoupled = true, true
	return m
}

func stats(name, version string, n uint64, parts ...record.ModelStats) record.ModelStats {
	return record.ModelStats{
		Name: name, Version: version, Inferences: 2 * n, Executions: n, Success: ct(n, 100*n), Queue: ct(n, n),
		ComputeInput: ct(n, 2*n), ComputeInfer: ct(n, 3*n), ComputeOutput: ct(n, 4*n), CacheHit: ct(1, 2), CacheMiss: ct(3, 4),
		Responses: []record.ResponseStats{{Index: 2, ComputeInfer: ct(3, 9), Empty: ct(1, 1)}, {Index: 10, Success: ct(1, 7)}},
		Composing: parts,
	}
}

func TestSnapshotOverHTTP(t *testing.T) {
	all := `{"model_stats":[` + strings.Join([]string{
		statistics("inner", "1", 4), statistics("outer", "1", 2), statistics("leaf", "1", 5), statistics("leaf", "2", 6),
		statistics("stranger", "1", 9), statistics("called", "3", 7),
	}, ",") + `]}`
	server := fakeServer(t, map[string]string{
		"/base/v2/models/stats":                    all,
		"/base/v2/models/outer/config":             `{"name":"outer","platform":"ensemble","ensemble_scheduling":{"step":[{"model_name":"inner","model_version":"-1"},{"model_name":"leaf","model_version":-1},{"model_name":"inner","model_version":-1}]}}`,
		"/base/v2/models/inner/config":             `{"name":"inner","ensemble_scheduling":{"step":[{"model_name":"leaf","model_version":2}]},"unheard_of":1}`,
		"/base/v2/models/leaf/config":              `{"name":"leaf","response_cache":{"enable":true},"model_transaction_policy":{"decoupled":true}}`,
		"/base/v2/models/leaf/versions/2/config":   `{"name":"leaf"}`,
		"/base/v2/models/called/versions/3/config": `{"name":"called"}`,
		"/metrics": `# TYPE nv_inference_count counter
nv_inference_count{model="outer",version="1"} 4
nv_inference_count{model="leaf",version="1"} 5
nv_inference_count{model="stranger",version="1"} 6
# TYPE nv_gpu_utilization gauge
nv_gpu_utilization{gpu_uuid="GPU-1"} 0.5
nv_gpu_memory_used_bytes{gpu_uuid="GPU-1"} 7
nv_gpu_memory_total_bytes{gpu_uuid="GPU-2"} 9
nv_gpu_power_usage{gpu_uuid="GPU-2"} 71.5
process_cpu_seconds 3
`,
	})
	p := newProbe(t, plan.Target{Model: "outer", Headers: map[string]string{"X-Mine": "yes"}, Triton: plan.Triton{Composing: []string{"called:3", "leaf", "called:3"}}},
		server.URL+"/base/", Options{Statistics: true, Metrics: server.URL + "/metrics"})
	got, err := p.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got.At = 0
	want := &record.Snapshot{
		Models: []record.ModelStats{anyVersion(stats("outer", "1", 2, anyVersion(stats("inner", "1", 4, stats("leaf", "2", 6))), anyVersion(cache(stats("leaf", "1", 5))), anyVersion(cache(stats("leaf", "2", 6))), stats("called", "3", 7)))},
		GPUs:   []record.GPU{{UUID: "GPU-1", Utilization: 0.5, MemoryUsed: 7}, {UUID: "GPU-2", MemoryTotal: 9, Power: 71.5}},
		Metrics: []record.Sample{
			{Name: "nv_inference_count", Labels: `model="outer",version="1"`, Counter: true, Value: 4},
			{Name: "nv_inference_count", Labels: `model="leaf",version="1"`, Counter: true, Value: 5},
			{Name: "nv_gpu_utilization", Labels: `gpu_uuid="GPU-1"`, Value: 0.5},
			{Name: "nv_gpu_memory_used_bytes", Labels: `gpu_uuid="GPU-1"`, Value: 7},
			{Name: "nv_gpu_memory_total_bytes", Labels: `gpu_uuid="GPU-2"`, Value: 9},
			{Name: "nv_gpu_power_usage", Labels: `gpu_uuid="GPU-2"`, Value: 71.5},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSnapshotFaults(t *testing.T) {
	page := map[string]string{
		"/v2/models/stats": `{"model_stats":[` + statistics("m", "1", 1) + `]}`, "/v2/models/m/stats": `{"model_stats":[` + statistics("m", "1", 1) + `]}`,
		"/v2/models/m/config": `{"ensemble_scheduling":{"step":[{"model_name":"absent"}]}}`, "/v2/models/absent/config": `{}`,
		"/html": "<html>\n", "/other": "go_threads 3\n",
	}
	server := fakeServer(t, page)
	headers := map[string]string{"X-Mine": "yes"}
	for _, c := range []struct {
		name   string
		target plan.Target
		url    string
		o      Options
		want   string
		models int
	}{
		{"no such model", plan.Target{Model: "n"}, server.URL, Options{Statistics: true}, "statistics of model n: the configuration of n, which would name its parts: no /v2/models/n/config here", 0},
		{"a part is missing", plan.Target{Model: "m"}, server.URL, Options{Statistics: true}, "statistics of model m: the server has no statistics of model absent", 1},
		{"no statistics", plan.Target{Model: "m"}, server.URL + "/elsewhere", Options{Statistics: true}, "no /elsewhere/v2/models/stats here", 0},
		{"no metrics", plan.Target{Model: "m"}, server.URL, Options{Metrics: server.URL + "/none"}, "answers with HTTP status 400", 0},
		{"a web page", plan.Target{Model: "m"}, server.URL, Options{Metrics: server.URL + "/html"}, "line 1 of the metrics page", 0},
		{"other metrics", plan.Target{Model: "m"}, server.URL, Options{Metrics: server.URL + "/other"}, "no metric whose name begins with nv_", 0},
		{"nobody", plan.Target{Model: "m"}, "http://127.0.0.1:1", Options{Statistics: true, Metrics: "http://user:secret@127.0.0.1:1/metrics"}, "connection refused", 0},
		{"nobody, gRPC", plan.Target{Model: "m", Transport: plan.TransportGRPC}, "grpc://127.0.0.1:1", Options{Statistics: true}, "connection refused", 0},
		{"no gRPC", plan.Target{Model: "m", Transport: plan.TransportGRPC}, strings.Replace(server.URL, "http", "grpc", 1), Options{Statistics: true}, "statistics of model m", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.target.Headers = headers
			s, err := newProbe(t, c.target, c.url, c.o).Snapshot(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			models := 0
			if s != nil {
				models = len(s.Models)
			}
			if models != c.models {
				t.Errorf("%d models, want %d", models, c.models)
			}
		})
	}
}
