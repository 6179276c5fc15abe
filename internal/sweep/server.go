package sweep

import "inferometer/internal/record"

// Difference is what a server did between two snapshots. Models that one of them
// lacks are left out; so are counts that went down, as those of a model do that was
// loaded anew.
func Difference(before, after *record.Snapshot) []record.ModelStats {
	if before == nil || after == nil {
		return nil
	}
	return difference(before.Models, after.Models)
}

func difference(before, after []record.ModelStats) []record.ModelStats {
	var out []record.ModelStats
	for _, a := range after {
		for _, b := range before {
			if a.Name == b.Name && a.Version == b.Version {
				out = append(out, minus(a, b))
				break
			}
		}
	}
	return out
}

func minus(a, b record.ModelStats) record.ModelStats {
	return record.ModelStats{
		Name: a.Name, Version: a.Version,
		Inferences: less(a.Inferences, b.Inferences), Executions: less(a.Executions, b.Executions),
		Success: lessTime(a.Success, b.Success), Fail: lessTime(a.Fail, b.Fail), Queue: lessTime(a.Queue, b.Queue),
		ComputeInput: lessTime(a.ComputeInput, b.ComputeInput), ComputeInfer: lessTime(a.ComputeInfer, b.ComputeInfer),
		ComputeOutput: lessTime(a.ComputeOutput, b.ComputeOutput),
		CacheHit:      lessTime(a.CacheHit, b.CacheHit), CacheMiss: lessTime(a.CacheMiss, b.CacheMiss),
		Composing: difference(b.Composing, a.Composing),
	}
}

// less is a − b, 0 where that is negative.
func less(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}

func lessTime(a, b record.CountTime) record.CountTime {
	return record.CountTime{Count: less(a.Count, b.Count), NS: less(a.NS, b.NS)}
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
