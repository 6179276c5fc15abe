package gate

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

// Figures of cost are gates like any other, once the plan says what there is to know.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		gate string
		cost plan.Cost
		want string
	}{
		{"cost_per_million_output_tokens > 0.50$", plan.Cost{GPUs: 8, Price: 2}, ""},
		{"cost_per_million_output_tokens > 0.5", plan.Cost{Price: 2, Power: plan.PowerAuto}, ""},
		{"cost_per_million_output_tokens > 0.5", plan.Cost{GPUs: 8}, "the price of a GPU hour is not given"},
		{"output_token_throughput_per_gpu < 100", plan.Cost{}, "the number of GPUs is not known"},
		{"cost_per_million_output_tokens > 0.5", plan.Cost{Price: 2, Power: plan.PowerNone}, "the number of GPUs is not known"},
		{"energy_per_output_token > 2J", plan.Cost{GPUs: 8, Price: 2}, "neither read nor given"},
		{"energy_per_output_token > 2J", plan.Cost{GPUs: 8, Watts: 700}, ""},
		{"gpu_power_avg > 0.7kW", plan.Cost{Power: "http://h/metrics"}, ""},
		{"gpu_power_peak > 700W", plan.Cost{GPUs: 1, Watts: 700}, "the power of the GPUs is given"},
		{"total_tokens_per_second_per_megawatt < 1000000", plan.Cost{Power: plan.PowerNone}, "neither read nor given"},
	} {
		g, err := Parse(c.gate)
		if err != nil {
			t.Errorf("%s: %v", c.gate, err)
			continue
		}
		p := plan.Default()
		p.Cost = c.cost
		err = g.Check(&p)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %+v: %v, want %q", c.gate, c.cost, err, c.want)
		}
	}
}
