package triton

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/promtext"
	"github.com/inferometer/inferometer/internal/probe/prometheus"
	"github.com/inferometer/inferometer/internal/record"
)

// family is how the names of Triton's metrics begin.
const family = "nv_"

// readMetrics reads what the metrics page has of this probe's models, or of no model at all.
func (p *Probe) readMetrics(ctx context.Context, s *record.Snapshot) error {
	text, status, err := prometheus.Get(ctx, p.http, p.metrics, http.Header{})
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return prometheus.NotMetrics(status)
	}
	samples, err := prometheus.Parse(text, func(name string) bool { return strings.HasPrefix(name, family) })
	if err != nil {
		return err
	}
	if len(samples) == 0 {
		return fmt.Errorf("the page has no metric whose name begins with %s: is this the address of Triton's metrics?", family)
	}
	ours, reader := p.names(), promtext.NewReader()
	for _, m := range samples {
		if model := reader.Label(m.Labels, "model"); model == "" || slices.Contains(ours, model) {
			s.Metrics = append(s.Metrics, m)
		}
	}
	s.GPUs = gpus(samples, reader)
	return nil
}

// names are the models that this probe is about, as far as they are known.
func (p *Probe) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := []string{p.root.name}
	for _, b := range p.bls {
		names = append(names, b.name)
	}
	for _, model := range p.known {
		for _, part := range model.parts {
			names = append(names, part.name)
		}
	}
	return names
}

// gpus gathers the figures of each GPU, in the order of the page.
func gpus(samples []record.Sample, reader *promtext.Reader) []record.GPU {
	var all []record.GPU
	of := func(id string) *record.GPU {
		i := slices.IndexFunc(all, func(g record.GPU) bool { return g.UUID == id })
		if i < 0 {
			i = len(all)
			all = append(all, record.GPU{UUID: id})
		}
		return &all[i]
	}
	for _, m := range samples {
		id := reader.Label(m.Labels, "gpu_uuid")
		if id == "" {
			continue
		}
		switch m.Name {
		case "nv_gpu_utilization":
			of(id).Utilization = m.Value
		case "nv_gpu_power_usage":
			of(id).Power = m.Value
		case "nv_gpu_memory_used_bytes":
			of(id).MemoryUsed = m.Value
		case "nv_gpu_memory_total_bytes":
			of(id).MemoryTotal = m.Value
		}
	}
	return all
}
