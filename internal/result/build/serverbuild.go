package build

import (
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// buildServer makes the server's part of a stage; optional.
func buildServer(p *plan.Plan, stage int, probes []record.Probe, all *metric.All) *result.TritonStats {
	probes = slices.DeleteFunc(slices.Clone(probes), func(p record.Probe) bool { return p.Stage != stage })
	if len(probes) == 0 {
		return nil
	}
	s := new(result.TritonStats)
	begin, end := probes[0], probes[len(probes)-1]
	s.Window = result.Span{Begin: begin.At.Seconds(), End: end.At.Seconds()}
	if begin.Edge != record.ProbeBegin || end.Edge != record.ProbeEnd {
		s.Faults = append(s.Faults, "The records end before the stage did: the server's final statistics are missing.")
	}
	s.Busy = begin.Busy || end.Busy
	var whole []*record.Snapshot
	for target := range len(begin.Targets) {
		line := lineOf(probes, target)
		s.Faults = append(s.Faults, line.faults(p, target)...)
		if s.Restarted == "" {
			s.Restarted = line.restarted(p, target)
		}
		if d := line.difference(); d != nil {
			whole = append(whole, d)
			addMetrics(s, target, line, d)
		}
	}
	if s.Restarted != "" || len(whole) == 0 || len(s.Faults) > 0 && end.Edge != record.ProbeEnd {
		s.Metrics, s.GPUs = nil, nil
		return s
	}
	for _, m := range probe.Sum(whole).Models {
		s.Models = append(s.Models, result.NewServerModel(&m))
	}
	// Where one of several servers said nothing, sums cannot be compared.
	if len(s.Models) > 0 && len(whole) == len(begin.Targets) {
		s.Requests = compare(s.Models, all)
	}
	return s
}

// line is what one server said, one time after the other.
type line []look

// look is what a server said once.
type look struct {
	at     time.Duration
	edge   string
	server *record.Snapshot // nil means nothing
	fault  string
}

func lineOf(probes []record.Probe, target int) line {
	var l line
	for _, p := range probes {
		if target < len(p.Targets) {
			t := p.Targets[target]
			l = append(l, look{p.At, p.Edge, t.Server, t.Error})
		}
	}
	return l
}

func (l line) faults(p *plan.Plan, target int) []string {
	var texts []string
	times := map[string]int{}
	for _, k := range l {
		if k.fault == "" {
			continue
		}
		if times[k.fault]++; times[k.fault] == 1 {
			texts = append(texts, k.fault)
		}
	}
	for i, t := range texts {
		texts[i] = named(p, target) + t
		if n := times[t]; n > 1 {
			texts[i] += fmt.Sprintf(" (%d times)", n)
		}
	}
	return texts
}

// named is the name of a server before what is said of it, where there are several.
func named(p *plan.Plan, target int) string {
	if len(p.Target.URLs) < 2 || target >= len(p.Target.URLs) {
		return ""
	}
	return plan.SafeURL(p.Target.URLs[target]) + ": "
}

// restarted names what had begun anew between two looks; empty: nothing.
func (l line) restarted(p *plan.Plan, target int) string {
	var last *look
	for i := range l {
		k := &l[i]
		if k.server == nil {
			continue
		}
		if last != nil {
			if _, anew := probe.Difference(last.server, k.server); anew != "" {
				return fmt.Sprintf("%s%s between %.1f s and %.1f s", named(p, target), anew, last.at.Seconds(), k.at.Seconds())
			}
		}
		last = k
	}
	return ""
}

// difference is what the server did from the first look to the last; nil where one of
// them failed.
func (l line) difference() *record.Snapshot {
	if len(l) < 2 || l[0].server == nil || l[len(l)-1].server == nil {
		return nil
	}
	d, _ := probe.Difference(l[0].server, l[len(l)-1].server)
	return d
}

// addMetrics adds what the Prometheus pages of one server said.
func addMetrics(s *result.TritonStats, target int, l line, d *record.Snapshot) {
	for _, m := range d.Metrics {
		out := result.ServerMetric{Target: target, Name: m.Name, Labels: m.Labels}
		if m.Counter {
			out.Increase = &m.Value
		} else {
			out.Gauge = l.gauge(m.Name, m.Labels)
		}
		s.Metrics = append(s.Metrics, out)
	}
	for _, g := range d.GPUs {
		s.GPUs = append(s.GPUs, l.gpu(target, g.UUID))
	}
}

func (l line) gauge(name, labels string) *result.Gauge {
	var g result.Gauge
	n := 0
	for _, k := range l {
		if k.server == nil {
			continue
		}
		i := slices.IndexFunc(k.server.Metrics, func(m record.Sample) bool { return m.Name == name && m.Labels == labels })
		if i < 0 {
			continue
		}
		v := k.server.Metrics[i].Value
		if n == 0 {
			g.Min, g.Max = v, v
		}
		g.Avg += v
		g.Min, g.Max = min(g.Min, v), max(g.Max, v)
		n++
	}
	g.Avg /= float64(max(n, 1))
	return &g
}

func (l line) gpu(target int, id string) result.ServerGPU {
	out := result.ServerGPU{Target: target, UUID: id}
	n := 0
	for _, k := range l {
		if k.server == nil {
			continue
		}
		i := slices.IndexFunc(k.server.GPUs, func(g record.GPU) bool { return g.UUID == id })
		if i < 0 {
			continue
		}
		g := k.server.GPUs[i]
		out.Utilization += g.Utilization
		out.Power += g.Power
		out.MemoryUsed = max(out.MemoryUsed, g.MemoryUsed)
		out.MemoryTotal = max(out.MemoryTotal, g.MemoryTotal)
		n++
	}
	out.Utilization /= float64(max(n, 1))
	out.Power /= float64(max(n, 1))
	return out
}

// compare holds the server's count of requests against this client's.
func compare(models []result.ServerModel, all *metric.All) *result.ServerRequests {
	r := &result.ServerRequests{Sent: all.OK + all.Failed - all.Unsent, OK: all.OK, Failed: all.Failed}
	var success int64
	for i := range models {
		success += int64(models[i].Success.Count)
	}
	more := max(0, success-all.OK)
	r.FailedAsSuccess = min(more, all.Failed-all.Unsent)
	r.Others = more - r.FailedAsSuccess
	r.Missing = max(0, all.OK-success)
	return r
}

// server judges what the server said of itself.
func (j *judge) server(i int, s *result.TritonStats, all *metric.All) {
	if s == nil {
		return
	}
	for _, f := range s.Faults {
		j.addNote(i, "The server's statistics could not be read. %s", f)
	}
	restarts := 0.0
	if s.Restarted != "" {
		restarts = 1
	}
	j.check(result.Check{Stage: i, Name: "server_restarts", Value: restarts, Unit: "restarts", OK: restarts == 0, Fix: "Find out why, and measure again."},
		fmt.Sprintf("The server or the model was restarted during the stage, or another server stands behind the same address: %s.", s.Restarted))
	if s.Requests == nil {
		return
	}
	j.serverNotes(i, s)
	j.serverLatency(i, s, all)
}

func (j *judge) serverNotes(i int, s *result.TritonStats) {
	r := s.Requests
	if s.Busy {
		j.addNote(i, "The server also handled other work: its own figures include it.")
	}
	if r.FailedAsSuccess > 0 {
		j.addNote(i, "The server counts %s as successes that failed here, most likely in mid-stream.", number.Plural(r.FailedAsSuccess, "request"))
	}
	if r.Others > 0 && !s.Busy {
		j.addNote(i, "The server counts %s that this client did not send: others used it, and its own figures include theirs.", number.Plural(r.Others, "request"))
	}
	if r.Missing > 0 {
		j.addNote(i, "The server counts %s fewer than it answered: several servers stand behind the address, or it was restarted.", number.Plural(r.Missing, "request"))
	}
}

// serverSlack is by which share requests may have taken longer in the server, or by a
// millisecond.
const serverSlack = 0.05

// serverLatency judges what cannot be: that requests took longer inside the server than
// they took here. It cannot be told where they were not the same requests.
//
// A server counts a request as done when its whole batch is, and responses leave while
// outputs are computed, so that this part of its time may be over later than here. Those of
// a decoupled model leave while it computes, and it may go on for other requests.
func (j *judge) serverLatency(i int, s *result.TritonStats, all *metric.All) {
	r := s.Requests
	var count, inside uint64
	for k := range s.Models {
		m := &s.Models[k]
		count += m.Success.Count
		if m.Streams() {
			inside += m.Queue.NS + m.ComputeInput.NS
		} else {
			inside += m.Success.NS - min(m.Success.NS, m.ComputeOutput.NS)
		}
	}
	if count == 0 || all.OK == 0 || all.Abandoned > 0 || r.Others > 0 || r.FailedAsSuccess > 0 || r.Missing > 0 || s.Busy {
		return
	}
	server := float64(inside) / float64(count) / 1e6
	client := result.Millis(all.Latency) / float64(all.OK)
	// Two clocks never run alike, and the server's figures are rounded.
	most := client + max(serverSlack*client, 1)
	j.check(result.Check{Stage: i, Name: "server_latency", Value: server, Budget: most, Unit: metric.Milliseconds, OK: server <= most,
		Fix: "Do not use either figure before this is explained."},
		fmt.Sprintf("Requests took %s inside the server, before their responses could leave it, and %s here, on average, which cannot be: clocks run apart, or responses were matched with the wrong requests.", number.Millis(server), number.Millis(client)))
}
