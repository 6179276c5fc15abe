package gate

import (
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// lacksCost says what a plan must say of its GPUs before a metric of cost is measured: what is not known,
// and what to add; empty: nothing is missing.
func lacksCost(id string, p *plan.Plan) (text, hint string) {
	c := &p.Cost
	read := c.Power != "" && c.Power != plan.PowerNone || c.Power == "" && (len(p.Probes.Scrape) > 0 || p.Probes.Metrics != "")
	money, perGPU := strings.HasPrefix(id, "cost_per_million_"), strings.HasSuffix(id, "_per_gpu")
	energy := strings.HasPrefix(id, "energy_per_") || strings.HasSuffix(id, "_per_megawatt") || strings.HasPrefix(id, "gpu_power_") || id == "total_gpu_energy"
	switch {
	case money && c.Price == 0:
		return "the price of a GPU hour is not given", "add --gpus 8 --gpu-hour-price 2.10"
	case (money || perGPU) && c.GPUs == 0 && !(c.On() && read):
		return "the number of GPUs is not known", "add --gpus"
	case energy && c.Watts == 0 && !(c.On() && read):
		return "the power of the GPUs is neither read nor given", "add --power, such as --power auto, or --gpu-watts with --gpus"
	case id == "gpu_power_peak" && c.Watts > 0:
		return "the power of the GPUs is given", "read it, such as with --power auto"
	}
	return "", ""
}
