package run

import (
	"errors"
	"fmt"
	"math"

	"inferometer/internal/plan"
)

// spareFiles is what a run opens besides its connections.
const spareFiles = 64

// checkLimits makes sure that the system lets a plan have its connections.
func checkLimits(p *plan.Plan) error {
	var errs []error
	files, ports := openFileLimit(), localPorts()*len(p.Target.URLs)
	for i, s := range p.Stages {
		n := s.Concurrency
		if s.Concurrency > 0 && s.RampTo > 0 {
			n = max(n, int(math.Round(s.RampTo)))
		}
		if s.Rate > 0 {
			n = s.MaxInFlight
		}
		conns := n
		if p.Target.HTTP2 {
			conns = (n + plan.HTTP2Streams - 1) / plan.HTTP2Streams
		}
		if files > 0 && conns+spareFiles > files {
			errs = append(errs, fmt.Errorf("stage %d wants %d requests in flight, and this process may open %d files: raise the limit with ulimit -n %d, or ask for less", i+1, n, files, conns+spareFiles))
		}
		if ports > 0 && conns > ports {
			errs = append(errs, fmt.Errorf("stage %d wants %d requests in flight, and this system has %d local ports for them: widen net.ipv4.ip_local_port_range, or add target URLs", i+1, n, ports))
		}
	}
	return errors.Join(errs...)
}
