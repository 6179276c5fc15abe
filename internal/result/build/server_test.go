package build

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// counted is a model that has answered n requests, each of which took 40 ms in the
// server: 1 in the queue, 2, 30 and 3 in computing.
func counted(name string, n uint64, parts ...record.ModelStats) record.ModelStats {
	took := func(d time.Duration) record.CountTime { return record.CountTime{Count: n, NS: n * uint64(d)} }
	return record.ModelStats{
		Name: name, Version: "1", Inferences: n, Executions: n, Success: took(40 * ms), Queue: took(ms),
		ComputeInput: took(2 * ms), ComputeInfer: took(30 * ms), ComputeOutput: took(3 * ms), Composing: parts,
	}
}

func probeAt(edge string, at time.Duration, models ...record.ModelStats) record.Probe {
	return record.Probe{Edge: edge, At: at, Targets: []record.TargetProbe{{Server: &record.Snapshot{At: at, Models: models}}}}
}

// probed is the healthy run with a server that counted all of its 2200 requests.
func probed() *world {
	w := healthy()
	w.plan.Target.Protocol, w.plan.Target.Streaming = plan.ProtocolTriton, false
	w.facts.Probes = []record.Probe{
		probeAt(record.ProbeBegin, 0, counted("whole", 7, counted("part", 9))),
		probeAt(record.ProbeDuring, 5*time.Second, counted("whole", 900, counted("part", 1800))),
		probeAt(record.ProbeEnd, 12*time.Second, counted("whole", 2207, counted("part", 4409))),
	}
	return w
}

func (w *world) last() *record.TargetProbe {
	p := &w.facts.Probes[len(w.facts.Probes)-1]
	return &p.Targets[0]
}

func TestServer(t *testing.T) {
	w := probed()
	for i, v := range []float64{1, 3, 2} {
		w.facts.Probes[i].Targets[0].Server.Metrics = []record.Sample{{Name: "nv_c", Counter: true, Value: 10 + float64(i)/2}, {Name: "nv_g", Value: v}}
		w.facts.Probes[i].Targets[0].Server.GPUs = []record.GPU{{UUID: "g", Utilization: v / 4, Power: 100 * v, MemoryUsed: v, MemoryTotal: 9}}
	}
	r := w.build(t)
	if !r.Verdict.Valid {
		t.Errorf("INVALID: %v", r.Verdict.Reasons)
	}
	s := r.Stages[0].Server
	if s == nil || len(s.Models) != 1 || len(s.Models[0].Composing) != 1 {
		t.Fatalf("server %+v", s)
	}
	if m := s.Models[0]; m.Inferences != 2200 || m.Success.Count != 2200 || m.Success.NS != 2200*uint64(40*ms) || m.Success.AvgMS != 40 ||
		m.ComputeInfer.AvgMS != 30 || m.OverheadMS != 4 {
		t.Errorf("model %+v", m)
	}
	if part := s.Models[0].Composing[0]; part.Name != "part" || part.Success.Count != 4400 {
		t.Errorf("part %+v", part)
	}
	if got := *s.Requests; got != (result.ServerRequests{Sent: 2200, OK: 2200}) {
		t.Errorf("requests %+v", got)
	}
	if s.Window != (result.Span{Begin: 0, End: 12}) {
		t.Errorf("window %+v", s.Window)
	}
	if m := s.Metrics; len(m) != 2 || *m[0].Increase != 1 || m[0].Gauge != nil || *m[1].Gauge != (result.Gauge{Avg: 2, Min: 1, Max: 3}) {
		t.Errorf("metrics %+v", m)
	}
	if g := s.GPUs; len(g) != 1 || g[0] != (result.ServerGPU{UUID: "g", Utilization: 0.5, Power: 200, MemoryUsed: 3, MemoryTotal: 9}) {
		t.Errorf("GPUs %+v", g)
	}
	if c := checkOf(r, "server_latency"); c == nil || !c.OK || c.Value != 37 || c.Budget < 200 {
		t.Errorf("check %+v", c)
	}
	published.Fits(t, r)
	if healthy().build(t).Stages[0].Server != nil {
		t.Error("a server that nobody asked has figures")
	}
}

func checkOf(r *result.Result, name string) *result.Check {
	for i := range r.Verdict.Checks {
		if r.Verdict.Checks[i].Name == name {
			return &r.Verdict.Checks[i]
		}
	}
	return nil
}

func TestServerVerdicts(t *testing.T) {
	for _, c := range []struct {
		name         string
		bend         func(w *world)
		reason, note string
		look         func(t *testing.T, s *result.TritonStats)
	}{
		{"restarted between two looks", func(w *world) {
			w.facts.Probes[1].Targets[0].Server.Models[0] = counted("whole", 3, counted("part", 12))
		}, "restarted during the stage, or another server stands behind the same address: the number of inferences of model whole version 1 went from 7 back to 3 between 0.0 s and 5.0 s", "",
			func(t *testing.T, s *result.TritonStats) {
				if s.Models != nil || s.Requests != nil || s.Restarted == "" {
					t.Errorf("figures of a restarted server: %+v", s)
				}
			}},
		{"impossible latency", func(w *world) {
			w.last().Server.Models[0].Success.NS *= 100
		}, "inside the server, before their responses could leave it, and 242 ms here, on average, which cannot be", "", nil},
		{"impossible latency over a stream, of a model with one response", func(w *world) {
			w.plan.Target.Streaming = true
			w.last().Server.Models[0].Success.NS *= 100
		}, "inside the server, before their responses could leave it, and 242 ms here, on average, which cannot be", "", nil},
		{"streams that leave while the model computes", func(w *world) {
			w.last().Server.Models[0].Decoupled = true
			w.last().Server.Models[0].Success.NS *= 100
			w.last().Server.Models[0].ComputeInfer.NS *= 100
		}, "", "", nil},
		{"streams of an ensemble's step", func(w *world) {
			w.last().Server.Models[0].Composing[0].Decoupled = true
			w.last().Server.Models[0].Success.NS *= 100
		}, "", "", nil},
		{"impossible wait of streams", func(w *world) {
			w.last().Server.Models[0].Decoupled = true
			w.last().Server.Models[0].Queue.NS = w.last().Server.Models[0].Success.NS * 100
		}, "inside the server, before their responses could leave it", "", nil},
		{"not the same requests", func(w *world) {
			w.last().Server.Models[0] = counted("whole", 3007, counted("part", 4409))
			w.last().Server.Models[0].Success.NS *= 100
		}, "", "The server counts 800 requests that this client did not send", func(t *testing.T, s *result.TritonStats) {
			if s.Requests.Others != 800 {
				t.Errorf("%+v", s.Requests)
			}
		}},
		{"failed in mid-stream", func(w *world) {
			for i := range 5 {
				w.recs[i*400].Failure = &record.Failure{Class: record.StreamError, Message: "broke"}
			}
			w.last().Server.Models[0].Success.NS *= 100 // some of which is theirs
		}, "", "The server counts 5 requests as successes that failed here", func(t *testing.T, s *result.TritonStats) {
			if *s.Requests != (result.ServerRequests{Sent: 2200, OK: 2195, Failed: 5, FailedAsSuccess: 5}) {
				t.Errorf("%+v", s.Requests)
			}
		}},
		{"several behind one address", func(w *world) { w.last().Server.Models[0] = counted("whole", 1207, counted("part", 4409)) },
			"", "The server counts 1,000 requests fewer than it answered", func(t *testing.T, s *result.TritonStats) {
				if s.Requests.Missing != 1000 {
					t.Errorf("%+v", s.Requests)
				}
			}},
		{"busy", func(w *world) { w.facts.Probes[0].Busy = true }, "", "also handled other work", nil},
		{"did not answer", func(w *world) { *w.last() = record.TargetProbe{Error: "connection refused"} }, "", "statistics could not be read. connection refused", func(t *testing.T, s *result.TritonStats) {
			if s.Models != nil || s.Requests != nil {
				t.Errorf("figures of nothing: %+v", s)
			}
		}},
		{"killed run", func(w *world) { w.facts.Probes = w.facts.Probes[:2] }, "", "final statistics are missing", func(t *testing.T, s *result.TritonStats) {
			if s.Models != nil {
				t.Errorf("figures of half a stage: %+v", s)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := probed()
			c.bend(w)
			r := w.build(t)
			has := func(list []string, text string) bool {
				return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, text) })
			}
			if c.reason == "" && !r.Verdict.Valid || c.reason != "" && !has(r.Verdict.Reasons, c.reason) {
				t.Errorf("reasons %q, want %q", r.Verdict.Reasons, c.reason)
			}
			if c.note != "" && !has(r.Notes, c.note) {
				t.Errorf("notes %q, want %q", r.Notes, c.note)
			}
			if c.look != nil {
				c.look(t, r.Stages[0].Server)
			}
			published.Fits(t, r)
		})
	}
}

// TestServers: several servers are added up, and one that is silent spoils the sum.
func TestServers(t *testing.T) {
	two := func() *world {
		w := probed()
		w.plan.Target.URLs = []string{"http://a.test", "http://user:secret@b.test"}
		for i := range w.facts.Probes {
			p := &w.facts.Probes[i]
			p.Targets = append(p.Targets, record.TargetProbe{Server: &record.Snapshot{Models: []record.ModelStats{counted("whole", uint64(1000*i))}}})
		}
		w.last().Server.Models[0] = counted("whole", 207, counted("part", 9))
		w.facts.Probes[1].Targets[0].Server.Models[0] = counted("whole", 107, counted("part", 9))
		return w
	}
	r := two().build(t)
	s := r.Stages[0].Server
	if m := s.Models; len(m) != 1 || m[0].Success.Count != 2200 || s.Requests.Missing+s.Requests.Others != 0 {
		t.Errorf("%+v %+v", m, s.Requests)
	}
	w := two()
	w.facts.Probes[2].Targets[1] = record.TargetProbe{Error: "no route"}
	s = w.build(t).Stages[0].Server
	if s.Requests != nil || len(s.Faults) != 1 || s.Faults[0] != "http://b.test: no route" {
		t.Errorf("%+v", s)
	}
}
