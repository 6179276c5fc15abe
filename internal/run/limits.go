package run

import (
	"errors"
	"fmt"
	"math"

	"inferometer/internal/plan"
)

// spareFiles is what a run opens besides its connections.
const spareFiles = 64

// limits are what the system grants.
type limits struct {
	files int // this process may open; 0: not known
	ports int // connections to one address can use; 0: not known
	ends  int // of a connection in this process: 2 where the server runs in it too
}

// checkLimits makes sure that the system lets a plan have its connections.
func checkLimits(p *plan.Plan, l limits) error {
	var errs []error
	ports := l.ports * len(p.Target.URLs)
	for i, s := range p.Stages {
		n := max(s.Concurrency, s.Growth.To)
		if s.Concurrency > 0 && s.RampTo > 0 {
			n = max(n, int(math.Round(s.RampTo)))
		}
		if s.Concurrency == 0 {
			n = max(s.MaxInFlight, s.Sessions.Concurrent)
		}
		conns := n
		if p.Target.HTTP2 {
			conns = (n + plan.HTTP2Streams - 1) / plan.HTTP2Streams
		}
		if streams := p.Target.Triton.Streams; streams > 0 && p.Target.Endpoint == plan.EndpointStream {
			conns = min(n, streams)
		}
		if need := conns*l.ends + spareFiles; l.files > 0 && need > l.files {
			errs = append(errs, fmt.Errorf("stage %d wants %d requests in flight, and this process may open %d files: raise the limit with ulimit -n %d, or ask for less", i+1, n, l.files, need))
		}
		if ports > 0 && conns > ports {
			errs = append(errs, fmt.Errorf("stage %d wants %d requests in flight, and this system has %d local ports for them: widen net.ipv4.ip_local_port_range, or add target URLs", i+1, n, ports))
		}
	}
	return errors.Join(errs...)
}
