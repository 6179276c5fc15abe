// Package health looks at the client itself while it measures: the CPU time that it
// used, had to wait for and could have used, its garbage collector, its memory.
package health

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Sampler takes samples of this process's condition, as totals since it was made.
type Sampler struct {
	cores float64
	first record.Health
	gcCPU []metrics.Sample
}

// NewSampler makes a Sampler.
func NewSampler() *Sampler {
	s := &Sampler{cores: Cores(), gcCPU: []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}}
	s.first = s.read()
	return s
}

// Sample is the condition at a given time of the run's clock.
func (s *Sampler) Sample(at time.Duration) record.Health {
	h := s.read()
	h.At = at
	h.CPU -= s.first.CPU
	h.CPUWait -= s.first.CPUWait
	h.GCPause -= s.first.GCPause
	h.GCCPU -= s.first.GCCPU
	h.Allowed = time.Duration(float64(at) * s.cores)
	return h
}

func (s *Sampler) read() record.Health {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	metrics.Read(s.gcCPU)
	h := record.Health{GCPause: gc.PauseTotal, CPU: cpuTime(), CPUWait: runQueueWait(), RSS: residentSet()}
	if v := s.gcCPU[0].Value; v.Kind() == metrics.KindFloat64 {
		h.GCCPU = time.Duration(v.Float64() * float64(time.Second))
	}
	return h
}

// Cores is how many cores this process may use: those of Go, or a lesser share that the system
// grants.
func Cores() float64 {
	n := float64(runtime.GOMAXPROCS(0))
	if quota, ok := cpuQuota(); ok {
		n = min(n, quota)
	}
	return n
}

// Host describes this machine.
func Host() record.Host {
	return record.Host{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernelVersion(), CPU: cpuModel(),
		Cores: runtime.NumCPU(), GoVersion: runtime.Version(), GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
}
