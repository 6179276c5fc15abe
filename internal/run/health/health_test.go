package health

import (
	"runtime"
	"testing"
	"time"
)

func TestCores(t *testing.T) {
	if n := Cores(); n <= 0 || n > float64(runtime.NumCPU()) {
		t.Errorf("%v cores on a machine with %d", n, runtime.NumCPU())
	}
}

func TestHost(t *testing.T) {
	h := Host()
	if h.OS != runtime.GOOS || h.Arch != runtime.GOARCH || h.Cores < 1 || h.GOMAXPROCS < 1 || h.GoVersion == "" {
		t.Errorf("host %+v", h)
	}
}

// burn uses the CPU for a while and lets the garbage collector work.
func burn() (sum int) {
	for i := range 3_000_000 {
		sum += i % 7
	}
	runtime.GC()
	return sum
}

func TestSamplesGrow(t *testing.T) {
	s := NewSampler()
	last := s.Sample(0)
	if last.CPU < 0 || last.CPU > 10*time.Second {
		t.Errorf("the first sample has %v of CPU: it must count from the sampler's start", last.CPU)
	}
	for i := 1; i <= 3; i++ {
		begin := last
		for deadline := time.Now().Add(10 * time.Second); last.CPU == begin.CPU; {
			burn()
			last = s.Sample(time.Duration(i) * time.Second)
			if time.Now().After(deadline) {
				t.Fatal("the CPU time does not grow")
			}
		}
		if last.CPU < begin.CPU || last.GCPause < begin.GCPause || last.GCCPU < begin.GCCPU || last.CPUWait < begin.CPUWait {
			t.Errorf("totals went back from %+v to %+v", begin, last)
		}
		if want := time.Duration(float64(i) * Cores() * float64(time.Second)); last.Allowed != want || last.At != time.Duration(i)*time.Second {
			t.Errorf("after %v %v of CPU time were allowed, want %v", last.At, last.Allowed, want)
		}
	}
	if last.GCPause <= 0 {
		t.Error("the collector ran and took no time")
	}
}
