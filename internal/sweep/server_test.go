package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

func TestDifference(t *testing.T) {
	before := &record.Snapshot{Models: []record.ModelStats{{Name: "e", Version: "1", Inferences: 5}}}
	after := &record.Snapshot{Models: []record.ModelStats{{Name: "e", Version: "1", Inferences: 15}}}
	if d := difference(before, after); len(d) != 1 || d[0].Inferences != 10 {
		t.Errorf("got %+v", d)
	}
	if difference(nil, after) != nil || difference(before, nil) != nil {
		t.Error("a difference of one snapshot")
	}
}

func TestGPUs(t *testing.T) {
	at := func(use, power, memory float64) record.Edge {
		return record.Edge{Server: &record.Snapshot{GPUs: []record.GPU{{UUID: "a", Utilization: use, Power: power, MemoryUsed: memory, MemoryTotal: 9}}}}
	}
	// The first edge tells of the time before the windows.
	got := gpus([]record.Edge{at(0, 9, 90), at(0.2, 100, 5), {}, at(0.4, 200, 7), at(0.9, 300, 6)})
	want := []record.GPU{{UUID: "a", Utilization: 0.5, Power: 200, MemoryUsed: 7, MemoryTotal: 9}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}

// count is a probe that answers with the number of times that it was asked.
type count struct{ n uint64 }

func (c *count) Snapshot(context.Context) (*record.Snapshot, error) {
	c.n++
	return &record.Snapshot{Models: []record.ModelStats{{Name: "m", Inferences: c.n * 10}}}, nil
}

func TestMeterAsksTheServerAtEdges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval = plan.Duration(time.Second)
		b := newBench(m)
		probe := new(count)
		b.Probe = probe
		l := b.measure(func(int) time.Duration { return 40 * time.Millisecond })
		if probe.n != 4 || len(l.Server) != 1 || l.Server[0].Inferences != 30 {
			t.Errorf("asked %d times, difference %+v", probe.n, l.Server)
		}
		if b.edges[2].Server.At != 2*time.Second {
			t.Errorf("asked at %v, want the edge at 2 s", b.edges[2].Server.At)
		}
	})
}

// use is a probe that finds a GPU idle at every edge but the first.
type use struct{ n int }

func (u *use) Snapshot(context.Context) (*record.Snapshot, error) {
	u.n++
	g := record.GPU{UUID: "a", Utilization: 0, MemoryUsed: 1, MemoryTotal: 9}
	if u.n == 1 {
		g.Utilization, g.MemoryUsed = 1, 99
	}
	return &record.Snapshot{GPUs: []record.GPU{g}}, nil
}

// What is seen of GPUs between the edges counts as much as what is seen at them.
func TestMeterSumsUpGPUs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval = plan.Duration(time.Second)
		b := newBench(m)
		b.Probe, b.GPUs = new(use), new(GPUs)
		b.GPUs.Add([]record.GPU{{UUID: "a", Utilization: 1, MemoryUsed: 70}}) // before the first window
		go func() {
			for i := range 10 {
				time.Sleep(310 * time.Millisecond) // three looks in each window
				b.GPUs.Add([]record.GPU{{UUID: "a", Utilization: 0.8, MemoryUsed: float64(i), MemoryTotal: 9}})
			}
		}()
		l := b.measure(func(int) time.Duration { return 40 * time.Millisecond })
		want := []record.GPU{{UUID: "a", Utilization: 0.6, MemoryUsed: 8, MemoryTotal: 9}}
		if diff := cmp.Diff(want, l.GPUs, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Error(diff)
		}
	})
}

// tardy is a server that counts its requests a while after it has answered them.
type tardy struct {
	*bench
	asked int
}

func (s *tardy) Snapshot(context.Context) (*record.Snapshot, error) {
	s.asked++
	w := s.Log.Cut(-1, s.Now()-300*time.Millisecond, 0)
	return &record.Snapshot{Models: []record.ModelStats{{Name: "m", Success: record.CountTime{Count: 5 + uint64(w.Requests)}}}}, nil
}

// A stage that is measured as a whole has the server's account of all its requests.
func TestMeterWaitsForTheServersCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Mode, m.Windows, m.MaxTrials = plan.WindowStage, 1, 1
		b := newBench(m)
		server := &tardy{bench: b}
		b.Probe = server
		b.Before(t.Context())
		ctx, cancel := context.WithCancel(context.Background())
		go b.load(ctx, func(int) time.Duration { return 100 * time.Millisecond })
		time.AfterFunc(950*time.Millisecond, cancel)
		time.Sleep(250 * time.Millisecond) // the meter comes late
		l := b.Run(ctx, 0, 1, 0)
		time.Sleep(60 * time.Millisecond) // the last one ends
		b.Finish(context.Background(), l, 0)
		if l.Merged.Requests != 10 || l.Server[0].Success.Count != 10 {
			t.Errorf("%d requests, the server counts %d, want 10", l.Merged.Requests, l.Server[0].Success.Count)
		}
		if server.asked < 3 || server.asked > 20 {
			t.Errorf("the server was asked %d times", server.asked)
		}
	})
}

// A server that never counts them all is not waited for without end.
func TestMeterDoesNotWaitForLostCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Mode, m.Windows, m.MaxTrials = plan.WindowStage, 1, 1
		b := newBench(m)
		b.Probe = new(count)
		b.Before(t.Context())
		ctx, cancel := context.WithCancel(context.Background())
		go b.load(ctx, func(int) time.Duration { return 100 * time.Millisecond })
		time.AfterFunc(950*time.Millisecond, cancel)
		l := b.Run(ctx, 0, 1, 0)
		time.Sleep(time.Second)
		began := b.Now()
		b.Finish(context.Background(), l, 0)
		if waited := b.Now() - began; waited < patience || waited > patience+pause {
			t.Errorf("waited for %v", waited)
		}
	})
}
