package csvreport

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

func withServices() *result.Result {
	v := func(x float64) *float64 { return &x }
	requests := result.Figure{Name: "requests", Kind: record.FigureCounter, Total: v(120), Rate: v(12.5)}
	return &result.Result{Stages: []result.Stage{{Load: "1 in flight", Services: []result.ServerMetrics{
		{
			Source: result.SourceScrape,
			Figures: []result.Figure{
				requests,
				{Name: "kv_cache_usage", Kind: record.FigureGauge, Unit: "ratio", Mean: v(0.25), Median: v(0.2), P90: v(0.4), P99: v(0.45), Min: v(0), Max: v(0.5)},
				{Name: "time_to_first_token", Kind: record.FigureHistogram, Unit: "s", Total: v(120), Rate: v(12.5), Mean: v(0.02),
					Within: &record.QuantileBounds{Median: record.Bucket{UpTo: v(0.02)}, P90: record.Bucket{Above: 0.02, UpTo: v(0.04)},
						P99: record.Bucket{Above: 0.08}}},
				{Name: "gpu_energy", Kind: record.FigureCounter, Unit: "J", Total: v(30), Rate: v(3)},
				{Name: "mm_cache_hits", Kind: record.FigureCounter}, // nobody said how many
			},
			Parts: []result.ServicePart{
				{Page: "http://a:8000/metrics", Figures: []result.Figure{requests}},
				{Page: "http://b:9400/metrics", GPU: "1", Figures: []result.Figure{{Name: "gpu_power", Kind: record.FigureGauge, Unit: "W", Mean: v(300)}}},
			},
		},
		{Source: result.SourcePrometheus, Figures: []result.Figure{requests}},
	}}}}
}

func TestServiceRows(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, withServices()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&buf).ReadAll() // it refuses rows of different lengths
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows[1:] {
		if r[3] == whole {
			continue
		}
		cells := []string{r[3]}
		for i, cell := range r[4:] {
			if cell != "" {
				cells = append(cells, rows[0][4+i]+"="+cell)
			}
		}
		got = append(got, strings.Join(cells, " "))
	}
	want := []string{
		"scrape metric=requests avg=120",
		"scrape metric=requests_rate unit=per sec avg=12.5",
		"scrape metric=kv_cache_usage unit=ratio avg=0.25 min=0 max=0.5 p50=0.2 p90=0.4 p99=0.45",
		"scrape metric=time_to_first_token unit=s count=120 avg=0.02",
		"scrape metric=time_to_first_token_above unit=s p50=0 p90=0.02 p99=0.08",
		"scrape metric=time_to_first_token_up_to unit=s p50=0.02 p90=0.04",
		"scrape metric=time_to_first_token_rate unit=per sec avg=12.5",
		"scrape metric=gpu_energy unit=J avg=30",
		"scrape metric=gpu_energy_rate unit=J/sec avg=3",
		"http://a:8000/metrics metric=requests avg=120",
		"http://a:8000/metrics metric=requests_rate unit=per sec avg=12.5",
		"http://b:9400/metrics GPU 1 metric=gpu_power unit=W avg=300",
		"prometheus metric=requests avg=120",
		"prometheus metric=requests_rate unit=per sec avg=12.5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r := withServices()
	*r.Stages[0].Services[0].Figures[1].Max = math.NaN()
	if err := Write(&bytes.Buffer{}, r); err == nil || !strings.Contains(err.Error(), "scrape window, kv_cache_usage max") {
		t.Errorf("no number was written as one: %v", err)
	}
}
