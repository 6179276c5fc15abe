package inferenceperf

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/report"
)

// The summary has the series of all stages, one after the other, whoever its figures are of.
func TestSeries(t *testing.T) {
	pages := func(names ...string) []result.ServerMetrics {
		s := result.ServerMetrics{Source: result.SourceScrape}
		for i, name := range names {
			s.Series = append(s.Series, result.ServiceSeries{Name: name, Points: [][2]float64{{float64(i), 1}}})
		}
		return []result.ServerMetrics{{Source: result.SourcePrometheus}, s}
	}
	stages := []result.Stage{{Services: pages("a", "b")}, {}, {Services: pages("c", "a")}}
	want := []report.MetricSeries{{Name: "a", Points: [][2]float64{{0, 1}, {1, 1}}}, {Name: "b", Points: [][2]float64{{1, 1}}}, {Name: "c", Points: [][2]float64{{0, 1}}}}
	if diff := cmp.Diff(want, series(stages)); diff != "" {
		t.Error(diff)
	}
	if got := series(stages[1:2]); got != nil {
		t.Errorf("%v of a stage that nobody looked at", got)
	}
}
