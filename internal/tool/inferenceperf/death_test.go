package inferenceperf

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// doomed is a server that has something die when it gets its 20th request, before it
// answers that. Its page of metrics counts what it answered.
type doomed struct {
	*httptest.Server
	asked atomic.Int64
	die   func()
	gone  atomic.Bool // it is this server itself that died
}

func newDoomed(t *testing.T) *doomed {
	t.Helper()
	d := &doomed{die: func() {}}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *doomed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/metrics":
		fmt.Fprintf(w, "# TYPE vllm:request_success_total counter\nvllm:request_success_total{model_name=\"mock\"} %d\n", d.asked.Load())
		return
	case r.Method == http.MethodGet:
		fmt.Fprint(w, `{"data":[{"id":"mock"}]}`)
		return
	}
	n := d.asked.Add(1)
	if n == 20 {
		d.die()
	}
	if n >= 20 && d.gone.Load() {
		panic(http.ErrAbortHandler)
	}
	fmt.Fprint(w, `{"choices":[{"text":"fine"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
}

// counted are the requests of a report of requests.
type counted struct {
	Load      struct{ Count int } `json:"load_summary"`
	Successes struct{ Count int }
	Failures  struct {
		Count   int
		ByLabel map[string]any `json:"by_label"`
	}
}

func readReport(t *testing.T, dir, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestServerDies: what was answered is reported, the rest is counted as failed, and the
// stages that were to come are there too.
func TestServerDies(t *testing.T) {
	server := newDoomed(t)
	server.die = func() {
		server.gone.Store(true)
		server.Listener.Close()
	}
	dir, _, _ := measure(t, fmt.Sprintf(`
data: {type: mock}
load: {type: constant, interval: 0, stages: [{rate: 100, duration: 1}, {rate: 50, duration: 1}]}
server: {type: vllm, model_name: mock, base_url: %q}
`, server.URL))
	var all, last counted
	readReport(t, dir, "summary_lifecycle_metrics.json", &all)
	readReport(t, dir, "stage_1_lifecycle_metrics.json", &last)
	if all.Load.Count != 150 || all.Successes.Count != 19 || all.Failures.Count != 131 || all.Failures.ByLabel["Connection Error"] == nil {
		t.Errorf("%+v", all)
	}
	if last.Load.Count != 50 || last.Failures.Count != 50 {
		t.Errorf("stage 1: %+v", last)
	}
}

// TestRequestsGoAgain: a request whose connection breaks before its response goes again where
// that is asked for, and the reports say what it cost.
func TestRequestsGoAgain(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && asked.Add(1)%3 == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Connection", "close") // a connection that has served nobody cannot have grown stale
		fmt.Fprint(w, `{"data":[{"id":"mock"}],"choices":[{"text":"fine"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	}))
	t.Cleanup(server.Close)
	dir, out, _ := measure(t, fmt.Sprintf(`
data: {type: mock}
load: {type: concurrent, request_retries: 20, request_retry_backoff_sec: 0, stages: [{num_requests: 40, concurrency_level: 4}]}
server: {type: vllm, model_name: mock, base_url: %q}
report: {request_lifecycle: {per_request: true}}
`, server.URL))
	var all struct {
		counted
		Retries struct {
			Requests  int64 `json:"requests_retried"`
			Attempts  int64
			Recovered int64
			Failed    int64 `json:"failed_after_retry"`
		}
	}
	readReport(t, dir, "summary_lifecycle_metrics.json", &all)
	if r := all.Retries; all.Successes.Count != 40 || r.Attempts != asked.Load()-40 || r.Requests == 0 || r.Requests > r.Attempts ||
		r.Recovered != r.Requests || r.Failed != 0 {
		t.Errorf("%+v after %d attempts", all, asked.Load())
	}
	var each []struct {
		Info struct {
			Attempts int64 `json:"retries_attempted"`
		}
	}
	readReport(t, dir, "per_request_lifecycle_metrics.json", &each)
	var sum int64
	for _, one := range each {
		sum += one.Info.Attempts
	}
	if sum != all.Retries.Attempts {
		t.Errorf("%d attempts in the report of requests, %d in the summary", sum, all.Retries.Attempts)
	}
	if notes := strings.Join(out.Result.Notes, "\n"); !strings.Contains(notes, "were sent again") {
		t.Errorf("notes %s", notes)
	}
}

// TestPrometheusDiesMidway: requests are measured to the end, the report of the servers has
// what is known without Prometheus, and why the rest is missing is told.
func TestPrometheusDiesMidway(t *testing.T) {
	for _, pages := range []bool{false, true} {
		prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
		}))
		t.Cleanup(prometheus.Close)
		server, metrics := newDoomed(t), ""
		server.die = prometheus.Close
		if pages {
			metrics = fmt.Sprintf(", scrape_urls: [%q]", server.URL+"/metrics")
		}
		dir, out, _ := measure(t, fmt.Sprintf(`
data: {type: mock}
load: {type: concurrent, stages: [{num_requests: 60, concurrency_level: 4}]}
server: {type: vllm, model_name: mock, base_url: %q}
metrics: {type: prometheus, prometheus: {url: %q, scrape_interval: 1}%s}
`, server.URL, prometheus.URL, metrics))
		var all counted
		readReport(t, dir, "summary_lifecycle_metrics.json", &all)
		if all.Successes.Count != 60 || all.Failures.Count != 0 {
			t.Errorf("pages %v: %+v", pages, all)
		}
		var servers struct{ Successes struct{ Count *float64 } }
		readReport(t, dir, "summary_prometheus_metrics.json", &servers)
		if n := servers.Successes.Count; (n != nil) != pages || pages && *n != 60 {
			t.Errorf("pages %v: the servers are said to have answered %v", pages, n)
		}
		if notes := strings.Join(out.Result.Notes, "\n"); !strings.Contains(notes, "metrics are not complete") {
			t.Errorf("pages %v: notes %s", pages, notes)
		}
	}
}

// TestPageDiesMidway: a page of metrics that is gone costs its own figures alone.
func TestPageDiesMidway(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 3\n")
	}))
	t.Cleanup(page.Close)
	server := newDoomed(t)
	server.die = page.Close
	dir, out, _ := measure(t, fmt.Sprintf(`
data: {type: mock}
load: {type: concurrent, stages: [{num_requests: 60, concurrency_level: 4}]}
server: {type: vllm, model_name: mock, base_url: %q}
metrics: {type: default, scrape_urls: [%q, %q]}
`, server.URL, page.URL, server.URL+"/metrics"))
	var all counted
	readReport(t, dir, "summary_lifecycle_metrics.json", &all)
	var servers struct{ Successes struct{ Count *float64 } }
	readReport(t, dir, "summary_prometheus_metrics.json", &servers)
	if all.Successes.Count != 60 || servers.Successes.Count == nil || *servers.Successes.Count != 60 {
		t.Errorf("%+v, by the other page %v", all, servers.Successes.Count)
	}
	if notes := strings.Join(out.Result.Notes, "\n"); !strings.Contains(notes, "metrics are not complete") {
		t.Errorf("notes %s", notes)
	}
}
