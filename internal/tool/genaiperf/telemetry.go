package genaiperf

import (
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// telemetry works out what was read of the GPUs. A page that was not available is told
// of once.
func (t *job) telemetry(looks []record.Probe) {
	fold := dialect.NewTelemetryFold(t.set.Faithful)
	faults := map[int]string{}
	for i := range looks {
		fold.Add(looks[i].Pages)
		for n := range looks[i].Pages {
			if text := looks[i].Pages[n].Error; text != "" && faults[n] == "" {
				faults[n] = text
			}
		}
	}
	t.gpus = fold.Telemetry()
	for n, u := range t.plan.Probes.Scrape {
		switch {
		case faults[n] != "":
			t.warn("--server-metrics-url %s: %s", plan.SafeURL(u), faults[n])
		case len(t.gpus) == 0:
			t.warn("--server-metrics-url %s: the page has no GPU metrics", plan.SafeURL(u))
		}
	}
}
