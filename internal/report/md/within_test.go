package md_test

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/result"
)

// TestIntervals: figures say how well they are known, and where that is not known.
func TestIntervals(t *testing.T) {
	m := result.Stat{Unit: "ms", Count: 100, Avg: 52, Distribution: &result.Distribution{P50: 50, P99: 90}, Intervals: map[string]result.ConfidenceInterval{"avg": {Lo: 51, Hi: 53}, "p50": {Lo: 49, Hi: 51}}}
	var b strings.Builder
	if err := md.Write(&b, &result.Result{Stages: []result.Stage{{Metrics: map[string]result.Stat{"time_to_first_token": m}}}}, md.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 50.00 ±2.0 % | 90.00 ±? |", "±? not known: too few requests", "with 100 requests the average is known to ±1.9 %"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}
