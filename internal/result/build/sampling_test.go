package build

import (
	"testing"

	"github.com/inferometer/inferometer/internal/result"
)

// TestPrecision: what is said in words of how well a figure is known.
func TestPrecision(t *testing.T) {
	spread := &result.Distribution{P99: 400}
	narrow := map[string]result.ConfidenceInterval{"avg": {Lo: 196, Hi: 204}, "p99": {Lo: 360, Hi: 440}}
	for _, c := range []struct {
		name string
		of   map[string]result.Stat
		want string
	}{
		{"both", map[string]result.Stat{"time_to_first_token": {Unit: "ms", Count: 100, Avg: 200, Distribution: spread, Error: map[string]result.ErrorBar{"avg": {Lo: 199.98, Hi: 200}}, Intervals: narrow}},
			"Time to first token: measured to ±20 µs; with 100 requests the average is known to ±2.0 %, p99 to ±10 %"},
		{"thin", map[string]result.Stat{"time_to_first_token": {Unit: "ms", Count: 100, Avg: 200, Distribution: spread, LowSamples: []string{"p99"}, Intervals: narrow}},
			"Time to first token: with 100 requests the average is known to ±2.0 %"},
		{"too few", map[string]result.Stat{"request_latency": {Unit: "ms", Count: 20, Avg: 200, Distribution: spread, Intervals: map[string]result.ConfidenceInterval{}}},
			"Request latency: 20 requests are too few to say how well the average is known"},
		{"no intervals", map[string]result.Stat{"request_latency": {Unit: "ms", Count: 20, Avg: 200, Distribution: spread}}, ""},
	} {
		if got := (&result.Stage{Metrics: c.of}).Precision(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWithin: a statistic that has no interval is not one whose interval is not known.
func TestWithin(t *testing.T) {
	s := result.Stat{Avg: 200, Distribution: &result.Distribution{P50: 0}, Intervals: map[string]result.ConfidenceInterval{"avg": {Lo: 190, Hi: 210}, "p50": {Lo: 0, Hi: 1}}}
	for name, want := range map[string]struct {
		share     float64
		known, ok bool
	}{"avg": {0.05, true, true}, "p99": {0, false, true}} {
		if share, known, ok := s.Within(name); share != want.share || known != want.known || ok != want.ok {
			t.Errorf("%s: %v %v %v, want %+v", name, share, known, ok, want)
		}
	}
	if _, known, ok := s.Within("p50"); known || !ok {
		t.Error("an interval is a share of a figure that is 0")
	}
	if _, _, ok := (&result.Stat{Avg: 1}).Within("avg"); ok {
		t.Error("a metric without intervals has one")
	}
}
