package target

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// spareFiles is what a run opens besides its connections.
const spareFiles = 64

// sparePorts is what a run's questions to the server take besides its connections. A port is
// not free again at once when its connection is closed.
const sparePorts = 16

// SystemLimits are what the system grants.
type SystemLimits struct {
	Files int // this process may open; 0: not known
	Ports int // connections from one address to another can use; 0: not known
	pairs int // of a local address and a target; 0: one for each URL
	Ends  int // of a connection in this process: 2 where the server runs in it too
}

// ReadSystemLimits are those of this process; pairs is how many pairs of a local address and a target there are.
func ReadSystemLimits(pairs int) SystemLimits {
	return SystemLimits{Files: openFileLimit(), Ports: localPorts(), pairs: pairs, Ends: 1}
}

// allPorts is how many ports connections to all targets have; 0: not known.
func (l SystemLimits) allPorts(p *plan.Plan) int {
	return l.Ports * cmp.Or(l.pairs, len(p.Target.URLs))
}

// connections is how many a plan takes for n requests in flight.
func connections(p *plan.Plan, n int) int {
	if streams := p.Target.Triton.Streams; streams > 0 && p.Target.Endpoint == plan.EndpointStream {
		return min(n, streams)
	}
	if p.Target.HTTP2 {
		return (n + plan.HTTP2Streams - 1) / plan.HTTP2Streams
	}
	return n
}

// usualTime is how long responses are expected to take by default: an open loop
// has so many requests in flight as its rate brings in that time.
const usualTime = 10 * time.Second

// Warnings warn of stages that send at a rate, without a cap on what is in flight, and may need
// more connections than the system grants: that depends on the server.
func (l SystemLimits) Warnings(p *plan.Plan) []message.Message {
	granted, what, advice := math.Inf(1), "", message.Message{}
	if l.Files > 0 {
		granted = max(float64(l.Files-spareFiles)/float64(l.Ends), 0)
		what, advice = fmt.Sprintf("this process may open %d files", l.Files), message.New("raise the limit with ulimit -n")
	}
	if ports := float64(l.allPorts(p)); ports > 0 && ports-sparePorts < granted {
		granted = max(ports-sparePorts, 0)
		what, advice = fmt.Sprintf("this system has %d local ports", int(ports)), message.New("widen net.ipv4.ip_local_port_range, add local addresses with %v", message.SourceAddress).Or("widen net.ipv4.ip_local_port_range")
	}
	if granted < 1 {
		return nil // which is refused
	}
	var warnings []message.Message
	for i := range p.Stages {
		s := &p.Stages[i]
		rate := max(s.PerSecond(), s.RampTo)
		if s.Concurrency > 0 || s.MaxInFlight > 0 || rate <= 0 || float64(connections(p, int(min(rate*usualTime.Seconds(), 1<<30)))) <= granted {
			continue
		}
		room := granted
		if p.Target.HTTP2 {
			room *= plan.HTTP2Streams
		}
		warnings = append(warnings, message.New("%v sends %s requests/s with no %v, and %s: once responses take longer than %s, requests will fail for want of them, and the result will be INVALID; %v%v",
			message.Stage(i), strconv.FormatFloat(rate, 'f', -1, 64), message.New("%v", message.MaxInFlight).Or("cap on those in flight"), what,
			time.Duration(room/rate*float64(time.Second)).Round(10*time.Millisecond), advice, message.New(", or set %v", message.MaxInFlight).Or("")))
	}
	return warnings
}

// Check makes sure that the system lets a plan have its connections.
func (l SystemLimits) Check(p *plan.Plan) error {
	var errs []error
	ports := l.allPorts(p)
	for i, s := range p.Stages {
		n := max(s.Concurrency, s.Growth.To)
		if s.Concurrency > 0 && s.RampTo > 0 {
			n = max(n, int(math.Round(s.RampTo)))
		}
		if s.Concurrency == 0 {
			n = max(s.MaxInFlight, s.Sessions.Concurrent, 1) // without a cap the least that can be
		}
		conns := connections(p, n)
		if need := conns*l.Ends + spareFiles; l.Files > 0 && need > l.Files {
			errs = append(errs, message.Errorf("%v has %s and needs %d open files, but this process may open only %d: raise the limit with ulimit -n %d%s", message.Stage(i), inFlight(&s, n), need, l.Files, need, orLess(n)))
		}
		if need := conns + sparePorts; ports > 0 && need > ports {
			errs = append(errs, message.Errorf("%v has %s and needs %d local ports, but this system has only %d for them: widen net.ipv4.ip_local_port_range%v, or add target URLs", message.Stage(i), inFlight(&s, n), need, ports,
				message.New(", use at least %d local addresses with %v", (need-1)/(l.Ports*max(len(p.Target.URLs), 1))+1, message.SourceAddress).Or("")))
		}
	}
	return errors.Join(errs...)
}

// PeakLoad is a plan with the greatest load that a share of it can come to, as far as that is known.
func PeakLoad(p *plan.Plan, s load.Shard) *plan.Plan { return partOf(highest(p), s) }

// highest is the plan with the greatest load that its levels can come to, as far as
// that is known.
func highest(p *plan.Plan) *plan.Plan {
	if !p.Levels.On() {
		return p
	}
	level := max(p.Levels.Start, p.Levels.End)
	for _, v := range p.Levels.List {
		level = max(level, v)
	}
	q := *p
	q.Stages = []plan.Stage{p.Stages[0].AtLevel(level)}
	return &q
}

// partOf is a plan with the load that is in a share of it, at most.
func partOf(p *plan.Plan, s load.Shard) *plan.Plan {
	if s.Of < 2 {
		return p
	}
	part := func(n int) int { return (n + s.Of - 1) / s.Of }
	q := *p
	q.Stages = slices.Clone(p.Stages)
	for i := range q.Stages {
		st := &q.Stages[i]
		st.Concurrency, st.MaxInFlight, st.Sessions.Concurrent = part(st.Concurrency), part(st.MaxInFlight), part(st.Sessions.Concurrent)
		st.Rate, st.RampTo = st.Rate/float64(s.Of), st.RampTo/float64(s.Of)
	}
	return &q
}

// inFlight says how many requests of a stage are in flight at once.
func inFlight(s *plan.Stage, n int) string {
	least := ""
	if s.Concurrency == 0 && s.MaxInFlight == 0 && s.Sessions.Concurrent == 0 {
		least = "at least "
	}
	if n == 1 {
		return least + "1 request in flight"
	}
	return fmt.Sprintf("%s%d requests in flight", least, n)
}

// orLess is the other way out, where there is one.
func orLess(n int) string {
	if n == 1 {
		return ""
	}
	return ", or lower the load"
}
