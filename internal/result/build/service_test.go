package build

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// TestServices: what the pages and a Prometheus server say is in the result, fits the
// schema, and what is missing is told.
func TestServices(t *testing.T) {
	w := healthy()
	w.plan.Probes.Scrape = []string{"http://u:s3cret@a/metrics", "http://b/metrics"}
	for i, n := range []float64{10, 20, 40} {
		edge := []string{record.ProbeBegin, record.ProbeDuring, record.ProbeEnd}[i]
		page := record.Page{Samples: []record.Sample{{Name: "vllm:request_success_total", Counter: true, Value: n}, {Name: "vllm:num_requests_running", Value: n}}}
		w.facts.AddProbe(&w.plan, record.Probe{Edge: edge, At: time.Duration(i) * time.Second, Pages: []record.Page{page, {Error: "gone"}}})
	}
	ten := 10.0
	for _, stage := range []int{0, record.WholeRun} {
		w.facts.AddFigures(&w.plan, record.Figures{
			Source: result.SourcePrometheus, Stage: stage, End: time.Second, Figures: []result.Figure{{Name: "requests", Metric: "m", Kind: record.FigureCounter, Total: &ten}}, Faults: []string{"half of it"},
		})
	}
	if len(w.facts.Probes) > 0 {
		t.Error("pages alone are taken for statistics")
	}
	r := w.build(t)
	published.Fits(t, r)
	for _, all := range [][]result.ServerMetrics{r.Services, r.Stages[0].Services} {
		if s := result.FromPages(all); s == nil || s.Figure("requests") == nil || *s.Figure("requests").Total != 30 || s.Figure("kv_cache_usage") != nil {
			t.Errorf("pages %+v", s)
		}
		if s := result.FromPrometheus(all); s == nil || *s.Figure("requests").Total != 10 {
			t.Errorf("Prometheus %+v", s)
		}
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, "http://b/metrics: gone (3 of 3 reads failed)") || !strings.Contains(notes, "half of it") || strings.Contains(notes, "s3cret") {
		t.Errorf("notes:\n%s", notes)
	}
	if r.Stages[0].Server != nil {
		t.Errorf("statistics %+v", r.Stages[0].Server)
	}
	if healthy().build(t).Services != nil {
		t.Error("nobody was asked, and somebody says something")
	}
}
