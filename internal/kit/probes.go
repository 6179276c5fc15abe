package kit

import (
	"inferometer/internal/endpoint"
	"inferometer/internal/plan"
	"inferometer/internal/probe"
	"inferometer/internal/probe/triton"
)

// ProbeFactory makes what asks one of a target's servers about itself. The metrics
// page of a plan is that of the first.
type ProbeFactory func(p *plan.Plan, target int, o endpoint.Options) (probe.Prober, error)

func probes() map[string]ProbeFactory {
	return map[string]ProbeFactory{
		plan.ProtocolTriton: func(p *plan.Plan, target int, o endpoint.Options) (probe.Prober, error) {
			opt := triton.Options{Clock: o.Clock, TLS: o.TLS, Key: o.Key, Statistics: p.TakesStatistics()}
			if target == 0 {
				opt.Metrics = p.Probes.Metrics
			}
			return triton.New(p.Target, p.Target.URLs[target], opt)
		},
	}
}
