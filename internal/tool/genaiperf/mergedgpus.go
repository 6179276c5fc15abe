package genaiperf

import (
	"encoding/json"
	"fmt"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// savedGPU is what a report says of a metric of one GPU.
type savedGPU struct {
	Avg *float64 `json:"avg"`
}

// mergedGPUs are the averages of the GPUs over all runs, of the metrics that the first run
// with any has: of what they take and of how busy they are the mean, of all else the most.
func (r *reading) mergedGPUs() (dialect.Telemetry, error) {
	var order []string
	units, values := map[string]string{}, map[string]map[string][]float64{}
	for _, saved := range r.reports {
		metrics, err := members(saved.GPUs)
		if err != nil {
			return nil, fmt.Errorf("reading telemetry_stats: %w", err)
		}
		first := order == nil
		for _, m := range metrics {
			raw, _ := m.Value.(json.RawMessage)
			gpus, err := members(raw)
			if err != nil {
				return nil, fmt.Errorf("reading telemetry_stats: %w", err)
			}
			if first {
				order, values[m.Name] = append(order, m.Name), map[string][]float64{}
			}
			for _, g := range gpus {
				raw, _ := g.Value.(json.RawMessage)
				var one savedGPU
				switch {
				case g.Name == "unit":
					var unit string
					if json.Unmarshal(raw, &unit) == nil && first {
						units[m.Name] = unit
					}
				case values[m.Name] != nil && json.Unmarshal(raw, &one) == nil && one.Avg != nil:
					values[m.Name][g.Name] = append(values[m.Name][g.Name], *one.Avg)
				}
			}
		}
	}
	var out dialect.Telemetry
	for _, name := range order {
		if len(values[name]) > 0 {
			out = append(out, dialect.MergedMetric(name, units[name], values[name]))
		}
	}
	return out, nil
}
