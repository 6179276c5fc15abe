package sweep

import (
	"inferometer/internal/probe"
	"inferometer/internal/record"
)

// difference is what the models did between two snapshots; nil where one is missing.
func difference(before, after *record.Snapshot) []record.ModelStats {
	if before == nil || after == nil {
		return nil
	}
	d, _ := probe.Difference(before, after)
	return d.Models
}

// gpus sums up the GPUs over edges: mean utilization and power, greatest use of
// memory, first total.
func gpus(edges []record.Edge) []record.GPU {
	var out []record.GPU
	n := map[string]float64{}
	for _, e := range edges {
		if e.Server == nil {
			continue
		}
		for _, g := range e.Server.GPUs {
			at := -1
			for i := range out {
				if out[i].UUID == g.UUID {
					at = i
				}
			}
			n[g.UUID]++
			if at < 0 {
				out = append(out, g)
				continue
			}
			o := &out[at]
			o.Utilization += (g.Utilization - o.Utilization) / n[g.UUID]
			o.Power += (g.Power - o.Power) / n[g.UUID]
			o.MemoryUsed = max(o.MemoryUsed, g.MemoryUsed)
		}
	}
	return out
}
