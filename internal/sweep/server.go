package sweep

import (
	"sync"

	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
)

// difference is what the models did between two snapshots; nil where one is missing.
func difference(before, after *record.Snapshot) []record.ModelStats {
	if before == nil || after == nil {
		return nil
	}
	d, _ := probe.Difference(before, after)
	return d.Models
}

// answered is how many requests the models answered between two snapshots.
func answered(before, after *record.Snapshot) int64 {
	var n uint64
	for _, m := range difference(before, after) {
		n += m.Success.Count
	}
	return int64(n)
}

// GPUs sums up what a server says of its GPUs between the edges of a window, concurrently.
type GPUs struct {
	mu   sync.Mutex
	list []gpuSum
}

// gpuSum is a GPU over several looks: mean utilization and power, most memory used, first total.
type gpuSum struct {
	record.GPU
	looks float64
}

// Add takes note of one look.
func (g *GPUs) Add(list []record.GPU) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, now := range list {
		s := g.sum(now)
		s.looks++
		s.Utilization += (now.Utilization - s.Utilization) / s.looks
		s.Power += (now.Power - s.Power) / s.looks
		s.MemoryUsed = max(s.MemoryUsed, now.MemoryUsed)
	}
}

// sum is the sum of a GPU, begun where there is none.
func (g *GPUs) sum(gpu record.GPU) *gpuSum {
	for i := range g.list {
		if g.list[i].UUID == gpu.UUID {
			return &g.list[i]
		}
	}
	g.list = append(g.list, gpuSum{GPU: gpu})
	return &g.list[len(g.list)-1]
}

// drain gives what was summed up and begins anew.
func (g *GPUs) drain() []record.GPU {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []record.GPU
	for _, s := range g.list {
		out = append(out, s.GPU)
	}
	g.list = nil
	return out
}

// gpus sums up the GPUs over the windows between edges, without the first, which tells of before.
func gpus(edges []record.Edge) []record.GPU {
	var all GPUs
	for _, e := range edges[1:] {
		if e.Server != nil {
			all.Add(e.Server.GPUs)
		}
	}
	return all.drain()
}
