package genaiperf

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// TestMergedGPUs holds the averages of runs side by side: of power the mean, of memory the most, of
// the metrics that the first has.
func TestMergedGPUs(t *testing.T) {
	r := &reading{reports: []jsonReport{
		{},
		{GPUs: json.RawMessage(`{"gpu_power_usage": {"unit": "W", "1": {"avg": 50, "p99": 60}, "0": {"avg": 40}}, "gpu_memory_used": {"unit": "GB", "0": {"avg": 7}}, "gpu_clock_sm": {"unit": "MHz"}}`)},
		{GPUs: json.RawMessage(`{"gpu_power_usage": {"unit": "W", "0": {"avg": 60}}, "gpu_memory_used": {"unit": "GB", "0": {"avg": 9}}, "gpu_temperature": {"unit": "C", "0": {"avg": 30}}}`)},
	}}
	got, err := r.mergedGPUs()
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range got {
		for _, g := range m.GPUs {
			text, _ := json.Marshal([]any{m.Name, m.Unit, g.ID, g.Stat.Avg, m.Merged})
			said = append(said, string(text))
		}
	}
	want := []string{`["gpu_power_usage","W","0",50,true]`, `["gpu_power_usage","W","1",50,true]`, `["gpu_memory_used","GB","0",9,true]`}
	if !slices.Equal(said, want) {
		t.Errorf("GPUs are\n%q, want\n%q", said, want)
	}
	if got.Find("gpu_power_usage").GPUs[0].Stat.N != 2 {
		t.Error("an average is not of both runs")
	}
	if _, err := (&reading{reports: []jsonReport{{GPUs: json.RawMessage(`{"a": {`)}}}).mergedGPUs(); err == nil {
		t.Error("telemetry_stats that are cut raise no error")
	}
	var none dialect.Telemetry
	if got, err := (&reading{}).mergedGPUs(); err != nil || len(got) != len(none) {
		t.Errorf("no reports have GPUs %v, %v", got, err)
	}
}
