package console

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
)

func TestCost(t *testing.T) {
	figure := func(v float64, unit string) result.Stat { return result.Stat{Avg: v, Unit: unit} }
	metrics := map[string]result.Stat{
		"output_token_throughput_per_gpu": figure(469.2, "tokens/sec/GPU"), "cost_per_million_output_tokens": figure(1.243, "$/Mtok"),
		"cost_per_million_total_tokens": figure(0.0181, "$/Mtok"),
		"total_gpu_energy":              figure(292_176, "J"), "gpu_power_avg": figure(608.7, "W"), "gpu_power_peak": figure(694.2, "W"), "energy_per_request": figure(83.2, "J/request"),
	}
	valid := &result.Power{Source: "nvidia-smi", Method: result.MethodIntegral, Valid: true, Readings: 601}
	for _, c := range []struct {
		name string
		cost *result.Cost
		want []string
		not  string
	}{
		{"integral", &result.Cost{GPUs: 8, Price: 2.1, Power: valid}, []string{
			"total output", "Tokens/s per GPU 469.2", "$ per million tokens 0.0181 1.24",
			"Cost 8 GPUs at $2.10 an hour each; 608.7 W per GPU on average, 694.2 W at most; 292,176 J in all; 83.2 J/request (power read by nvidia-smi, 601 readings per GPU)",
		}, "Joules per token"},
		{"counter", &result.Cost{GPUs: 1, Power: &result.Power{Source: result.SourceScrape, Method: result.MethodCounter, Valid: true}},
			[]string{"Cost 1 GPU; 608.7 W per GPU", "(by the GPUs' energy counters, scraped from the exporter)"}, "$2"},
		{"given", &result.Cost{GPUs: 1, Power: &result.Power{Source: "given", Method: result.MethodGiven, Valid: true}}, []string{"(power as given, not measured)"}, "read by"},
		{"not valid", &result.Cost{Price: 2, Power: &result.Power{Reasons: []string{"no power was read of any GPU", "nvidia-smi\x1b[31m is not installed here"}}},
			[]string{"Cost the number of GPUs is not known; energy is not valid: no power was read of any GPU; nvidia-smi"}, "\x1b"},
		{"nobody asked", nil, nil, "Cost"},
	} {
		for _, all := range []bool{false, true} {
			var b strings.Builder
			if err := Write(&b, &result.Result{Stages: []result.Stage{{Cost: c.cost, Metrics: metrics}}},
				Options{Width: 200, All: all}); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(b.String()), " ")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s, all %v: no %q in\n%s", c.name, all, want, b.String())
				}
			}
			if strings.Contains(text, c.not) || c.cost != nil && strings.Contains(text, "Gpu power") {
				t.Errorf("%s, all %v: %q in\n%s", c.name, all, c.not, b.String())
			}
		}
	}
}
