package telemetry

import (
	"testing"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// The response of a search is a gauge with a point for each of its numbers.
func TestCapacity(t *testing.T) {
	r := theRun()
	r.Result.Capacity = &capacity.Result{Unit: "requests/s", Outcome: capacity.Found, Value: 38.2, Lo: 36.9, Hi: 39.5}
	want := map[string]float64{"value": 38.2, "lo": 36.9, "hi": 39.5}
	got := map[string]float64{}
	for _, s := range r.Series(stages(), "here") {
		if s.Name == "inferometer_capacity" && s.Labels["unit"] == "requests/s" && s.Labels["outcome"] == "found" {
			got[s.Labels["stat"]] = s.Samples[0].Value
		}
	}
	for stat, v := range want {
		if got[stat] != v {
			t.Errorf("series: %s is %v", stat, got[stat])
		}
	}
	clear(got)
	for _, m := range r.Metrics(metric.Options{}).List(stages()) {
		if m.Name != "inferometer.capacity" {
			continue
		}
		for _, p := range m.Gauge.Points {
			got[*p.Attributes[0].Value.String] = *p.Double
		}
	}
	for stat, v := range want {
		if got[stat] != v {
			t.Errorf("metrics: %s is %v", stat, got[stat])
		}
	}
}
