package cluster

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// scenario is what happens in a simulation, all of it from a seed.
type scenario struct {
	seed    uint64
	workers int
	runs    int // on the same NATS
	plan    string
	planned int64 // requests, where the plan says so
	slowest time.Duration
	weather Weather
	drifts  []float64
	faults  []fault
	length  time.Duration // of sending
}

// fault is something that goes wrong.
type fault struct {
	at     time.Duration // after the start
	does   string
	who    int // a worker, or the coordinator: -1
	lasts  time.Duration
	notice time.Duration
}

func (f fault) String() string {
	who := "coordinator"
	if f.who >= 0 {
		who = fmt.Sprint("worker ", f.who)
	}
	if strings.HasPrefix(f.does, "nats") {
		who = "NATS"
	}
	return fmt.Sprintf("%s: %s at %v for %v (noticed after %v)", who, f.does, f.at, f.lasts, f.notice)
}

func (s scenario) String() string {
	return fmt.Sprintf("seed %d: %d runs of %d workers, %s, weather %+v, faults %v", s.seed, s.runs, s.workers, strings.TrimSpace(s.plan), s.weather, s.faults)
}

// kinds of faults.
var kindsOfFaults = []string{
	"cut", "cut", "freeze", "freeze", "kill", "stop", "stop twice",
	"nats freeze", "nats freeze", "nats restart", "nats restart", "nats kill",
}

// newScenario makes one.
func newScenario(seed uint64) scenario {
	r := rand.New(rand.NewPCG(seed, 30))
	pick := func(list ...time.Duration) time.Duration { return list[r.IntN(len(list))] }
	s := scenario{seed: seed, workers: []int{1, 2, 2, 2, 3, 4}[r.IntN(6)], runs: 1}
	if r.IntN(8) == 0 {
		s.runs = 2
	}
	s.length = time.Duration(1+r.IntN(5)) * time.Second
	s.slowest = pick(20*time.Millisecond, 200*time.Millisecond, 900*time.Millisecond)
	stage := ""
	switch r.IntN(4) {
	case 0:
		s.planned = int64(s.workers + r.IntN(60))
		stage = fmt.Sprintf("{concurrency: %d, requests: %d}", s.workers+r.IntN(4), s.planned)
	case 1:
		stage = fmt.Sprintf("{concurrency: %d, duration: %s}", s.workers+r.IntN(4), s.length)
	default:
		s.planned = int64(s.workers) + int64(s.length.Seconds())*int64(2+r.IntN(8))
		stage = fmt.Sprintf("{rate: %d, arrival: poisson, requests: %d}", 2+r.IntN(20), s.planned)
	}
	if r.IntN(3) == 0 {
		s.planned *= 2
		stage += ", " + stage
	}
	s.plan = "target: {urls: ['http://sim'], model: m}\ndata: {source: mock, output: 3}\nseed: 7\ndrain: 2s\nstages: [" + stage + "]\n"
	s.weather = Weather{Seed: seed, Delay: pick(100*time.Microsecond, time.Millisecond, 30*time.Millisecond),
		Jitter: pick(0, 5*time.Millisecond, 300*time.Millisecond)}
	if r.IntN(3) == 0 {
		s.weather.Loss, s.weather.Double = 0.05*r.Float64(), 0.1*r.Float64()
	}
	for range s.workers * s.runs {
		s.drifts = append(s.drifts, (r.Float64()-0.5)*2e-4)
	}
	for range []int{0, 1, 1, 1, 2, 3}[r.IntN(6)] {
		f := fault{at: time.Duration(r.Float64() * float64(s.length+4*time.Second)), does: kindsOfFaults[r.IntN(len(kindsOfFaults))],
			who: r.IntN(s.workers+1) - 1}
		f.lasts = pick(300*time.Millisecond, 2*time.Second, 4500*time.Millisecond, 5500*time.Millisecond, 9*time.Second, 20*time.Second)
		f.notice = pick(0, 4*time.Second, 6*time.Second)
		s.faults = append(s.faults, f)
	}
	return s
}

// decode gives the plan.
func (s scenario) decode() (*plan.Plan, error) {
	p, err := planfile.Decode("plan.yaml", []byte(s.plan))
	if err != nil {
		return nil, err
	}
	p.Target.Protocol, p.Target.NoPreflight = "sim", true
	return p, nil
}

// strike has a fault happen to a world. Those of processes are those of the first run.
func (f fault) strike(w *world) {
	p := w.procs[f.who+1]
	switch f.does {
	case "cut":
		p.client.Cut(f.lasts, min(f.notice, f.lasts))
	case "freeze":
		p.client.Freeze(f.lasts)
	case "kill":
		p.kill()
	case "stop":
		p.signal()
	case "stop twice":
		p.signal()
		time.AfterFunc(min(f.lasts, 2*time.Second), p.signal)
	case "nats freeze":
		w.net.Freeze(f.lasts, max(f.notice, 4*time.Second))
	case "nats restart":
		w.net.Kill()
		time.AfterFunc(f.lasts, w.net.Start)
	case "nats kill":
		w.net.Kill()
	}
}
