package run

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	promtest "github.com/inferometer/inferometer/internal/testkit/prometheus"
)

// slow makes a mock whose latencies are known: 20 ms to the first token, 5 ms for each
// after it.
func slow(c *config.Server) { c.Latency.TTFT, c.Latency.ITL = 20*time.Millisecond, 5*time.Millisecond }

// watched is a plan of two stages against two servers whose pages are read.
func watched(t *testing.T, servers ...*server) *plan.Plan {
	p := closedPlan(t, servers[0].url, 4, 40)
	p.Target.URLs = nil
	for _, s := range servers {
		p.Target.URLs = append(p.Target.URLs, s.url)
		p.Probes.Scrape = append(p.Probes.Scrape, s.url+"/metrics")
	}
	p.Stages = append(p.Stages, plan.Stage{Concurrency: 8, Requests: 80, Gap: plan.Duration(800 * time.Millisecond)})
	p.Probes.Interval = plan.Duration(20 * time.Millisecond)
	return p
}

// figure is one value of a figure that must be there.
func figure(t *testing.T, s *result.ServerMetrics, name string, of func(*result.Figure) *float64) float64 {
	t.Helper()
	if s == nil {
		t.Fatalf("nobody was asked for %s", name)
	}
	f := s.Figure(name)
	if f == nil || of(f) == nil {
		t.Fatalf("%s says nothing of %s: faults %q", s.Source, name, s.Faults)
	}
	return *of(f)
}

func totalOf(f *result.Figure) *float64 { return f.Total }
func meanOf(f *result.Figure) *float64  { return f.Mean }
func mostOf(f *result.Figure) *float64  { return f.Max }
func p99Of(f *result.Figure) *float64 {
	if f.Within != nil {
		return &f.Within.P99.Evenly
	}
	return f.P99
}

// checkService looks at what was said of so many requests with 8 tokens each.
func checkService(t *testing.T, s *result.ServerMetrics, requests float64) {
	t.Helper()
	if got := figure(t, s, "requests", totalOf); got != requests {
		t.Errorf("%s: %v requests, want %v", s.Source, got, requests)
	}
	if got := figure(t, s, "output_tokens", totalOf); got != 8*requests {
		t.Errorf("%s: %v tokens, want %v", s.Source, got, 8*requests)
	}
	if got := figure(t, s, "time_to_first_token", meanOf); got < 0.020 || got > 2 {
		t.Errorf("%s: first tokens came after %v s on average, want 0.02 and little more", s.Source, got)
	}
	if got, least := figure(t, s, "time_to_first_token", p99Of), figure(t, s, "time_to_first_token", meanOf); got < least/2 {
		t.Errorf("%s: p99 of the first tokens is %v s, their mean %v s", s.Source, got, least)
	}
	if got := figure(t, s, "request_latency", totalOf); got != requests {
		t.Errorf("%s: %v latencies, want %v", s.Source, got, requests)
	}
	for _, missing := range []string{"corrupted_requests", "kv_block_lifetime", "gpu_power"} {
		if f := s.Figure(missing); f != nil {
			t.Errorf("%s: %s is not missing: %+v", s.Source, missing, f)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	a, b := serve(t, slow), serve(t, slow)
	p := watched(t, a, b)
	gpu := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\"} 50\nDCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\"} 100\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 300\n")
	}))
	defer gpu.Close()
	p.Probes.Scrape = append(p.Probes.Scrape, gpu.URL, "http://127.0.0.1:1/metrics")
	res := mustRun(t, p)
	for i, requests := range []float64{40, 80} {
		s := result.FromPages(res.Stages[i].Services)
		if s == nil {
			t.Fatal("no page was read")
		}
		if f := s.Figure("gpu_utilization"); f == nil || f.Mean == nil || *f.Mean != 0.75 {
			t.Errorf("GPUs busy %+v, want 0.75", f)
		}
		if f := s.Figure("gpu_power"); f == nil || f.Max == nil || *f.Max != 300 {
			t.Errorf("power %+v", f)
		}
		if f := s.Figure("num_requests_running"); f == nil || f.Max == nil || *f.Max < 1 || *f.Max > 2*8 {
			t.Errorf("running %+v, want some, and no more than 8 on each page", f)
		}
		bare := *s
		bare.Figures = nil
		for _, f := range s.Figures {
			if f.Name != "gpu_power" {
				bare.Figures = append(bare.Figures, f)
			}
		}
		checkService(t, &bare, requests)
		if len(s.Parts) != 4 || figure(t, &result.ServerMetrics{Figures: s.Parts[1].Figures}, "requests", totalOf) != requests/2 || s.Parts[3].GPU != "GPU-b" {
			t.Errorf("parts %+v", s.Parts)
		}
		if len(s.Faults) != 1 || !strings.Contains(s.Faults[0], "127.0.0.1:1/metrics: ") {
			t.Errorf("faults %q", s.Faults)
		}
		if len(s.Series) < 5 || len(s.Series[0].Points) < 3 {
			t.Errorf("series %+v", s.Series)
		}
	}
	if got := figure(t, result.FromPages(res.Services), "requests", totalOf); got != 120 {
		t.Errorf("the whole run has %v requests", got)
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res.Stages[1].Services, again.Stages[1].Services); diff != "" {
		t.Errorf("made again from the records:\n%s", diff)
	}
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	a, b := serve(t, slow), serve(t, slow)
	every := 250 * time.Millisecond
	prometheus := promtest.Start(t, every, strings.TrimPrefix(a.url, "http://"), strings.TrimPrefix(b.url, "http://"))
	var p *plan.Plan
	var res *result.Result
	// Some scrapes must see the end of the first stage. On a busy machine they can be late
	// by seconds: the stages are then set further apart.
	for gap := 8 * every; gap <= 128*every; gap *= 4 {
		p = watched(t, a, b)
		p.Probes.Scrape = nil
		p.Stages[1].Gap = plan.Duration(gap)
		p.Probes.Prometheus = plan.Prometheus{URL: prometheus.URL, Interval: plan.Duration(every), Filters: []string{"job='servers'"}}
		res = mustRun(t, p)
		if figure(t, result.FromPrometheus(res.Stages[0].Services), "requests", totalOf) == 40 && figure(t, result.FromPrometheus(res.Services), "requests", totalOf) == 120 {
			break
		}
	}
	for i, requests := range []float64{40, 80} {
		checkService(t, result.FromPrometheus(res.Stages[i].Services), requests)
	}
	whole := result.FromPrometheus(res.Services)
	checkService(t, whole, 120)
	if got := figure(t, whole, "num_requests_running", mostOf); got < 1 || got > 2*8 {
		t.Errorf("at most %v requests were running, want some, and no more than 8 on each server", got)
	}
	if len(whole.Faults) > 0 {
		t.Errorf("faults %q", whole.Faults)
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res.Services, again.Services); diff != "" {
		t.Errorf("made again from the records:\n%s", diff)
	}

	for _, c := range []struct {
		name   string
		change func(*plan.Prometheus)
		want   string
	}{
		{"filters that let nothing pass", func(p *plan.Prometheus) { p.Filters = []string{"job='others'"} }, "has no metric of vllm"},
		{"filters that are none", func(p *plan.Prometheus) { p.Filters = []string{"job"} }, "HTTP status 400"},
		{"another server's names", func(p *plan.Prometheus) { p.Server = "tgi"; p.Filters = nil }, "has no metric of tgi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := closedPlan(t, a.url, 2, 4)
			p.Probes.Prometheus = plan.Prometheus{URL: prometheus.URL, Interval: plan.Duration(time.Millisecond), Filters: []string{"job='servers'"}}
			c.change(&p.Probes.Prometheus)
			s := result.FromPrometheus(mustRun(t, p).Services)
			if s == nil || len(s.Figures) > 0 || len(s.Faults) == 0 || !strings.Contains(strings.Join(s.Faults, "\n"), c.want) {
				t.Errorf("%+v, want %q", s, c.want)
			}
		})
	}
}

// TestPrometheusDies: what was measured is there, and the fault is told.
func TestPrometheusDies(t *testing.T) {
	s := serve(t, nil)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	p := closedPlan(t, s.url, 2, 6)
	p.Probes.Prometheus = plan.Prometheus{URL: strings.Replace(gone.URL, "http://", "http://user:s3cret@", 1), Interval: plan.Duration(time.Millisecond)}
	res := mustRun(t, p)
	if res.Stages[0].Counts.OK != 6 {
		t.Errorf("counts %+v", res.Stages[0].Counts)
	}
	said := result.FromPrometheus(res.Stages[0].Services)
	if said == nil || len(said.Faults) != 1 || len(said.Figures) > 0 || strings.Contains(said.Faults[0], "s3cret") {
		t.Errorf("it is said to say %+v", said)
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "metrics are not complete") {
		t.Errorf("notes %s", notes)
	}
}
