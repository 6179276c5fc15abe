package probe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
)

func ct(count, ns uint64) record.CountTime { return record.CountTime{Count: count, NS: ns} }

// model is a model that has answered n requests, each of which took 100 ns: 10 in
// the queue and 20, 30 and 5 in computing.
func model(name string, n uint64, parts ...record.ModelStats) record.ModelStats {
	return record.ModelStats{
		Name: name, Version: "1", Inferences: 2 * n, Executions: n, Success: ct(n, 100*n), Queue: ct(n, 10*n),
		ComputeInput: ct(n, 20*n), ComputeInfer: ct(n, 30*n), ComputeOutput: ct(n, 5*n), Composing: parts,
	}
}

func snapshot(models ...record.ModelStats) *record.Snapshot { return &record.Snapshot{Models: models} }

func TestDifference(t *testing.T) {
	before := snapshot(model("whole", 5, model("part", 7)))
	before.Models[0].Responses = []record.ResponseStats{{Index: 0, Success: ct(5, 50)}, {Index: 1, Success: ct(3, 30)}}
	before.Metrics = []record.Sample{{Name: "c", Counter: true, Value: 10}, {Name: "g", Value: 3}}
	after := snapshot(model("whole", 8, model("part", 12), model("late", 2)))
	after.At = 9
	after.Models[0].Responses = []record.ResponseStats{{Index: 0, Success: ct(8, 80)}, {Index: 1, Success: ct(3, 30)},
		{Index: 2, Empty: ct(1, 4)}}
	after.Metrics = []record.Sample{{Name: "c", Counter: true, Value: 14}, {Name: "c", Labels: `a="b"`, Counter: true, Value: 2}, {Name: "g", Value: 1}}
	got, restarted := Difference(before, after)
	want := snapshot(model("whole", 3, model("part", 5), model("late", 2)))
	want.At = 9
	want.Models[0].Responses = []record.ResponseStats{{Index: 0, Success: ct(3, 30)}, {Index: 2, Empty: ct(1, 4)}}
	want.Metrics = []record.Sample{{Name: "c", Counter: true, Value: 4}, {Name: "c", Labels: `a="b"`, Counter: true, Value: 2}, {Name: "g", Value: 1}}
	if diff := cmp.Diff(want, got); diff != "" || restarted != "" {
		t.Errorf("restarted %q, -want +got:\n%s", restarted, diff)
	}
}

func TestRestarted(t *testing.T) {
	counter := func(v float64) *record.Snapshot {
		return &record.Snapshot{Metrics: []record.Sample{{Name: "nv_c", Counter: true, Value: v}, {Name: "nv_g", Value: 10 - v}}}
	}
	for _, c := range []struct {
		name          string
		before, after *record.Snapshot
		want          string
	}{
		{"nothing", snapshot(model("m", 3)), snapshot(model("m", 3)), ""},
		{"went on", snapshot(model("m", 3)), snapshot(model("m", 4)), ""},
		{"began anew", snapshot(model("m", 3)), snapshot(model("m", 1)), "the number of inferences of model m version 1 went from 6 back to 2"},
		{"a part began anew", snapshot(model("m", 3, model("part", 9))), snapshot(model("m", 4, model("part", 1))), "of model part version 1 went from 18 back to 2"},
		{"gone", snapshot(model("m", 3), model("n", 1)), snapshot(model("m", 4)), "model n version 1 is gone"},
		{"metrics went on", counter(3), counter(5), ""},
		{"metrics began anew", counter(3), counter(1), "nv_c went from 3 back to 1"},
	} {
		_, got := Difference(c.before, c.after)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: restarted %q, want %q", c.name, got, c.want)
		}
	}
	// Each counter alone shows it.
	one := ct(1, 1)
	whole := record.ModelStats{
		Inferences: 1, Executions: 1, Success: one, Fail: one, Queue: one, ComputeInput: one, ComputeInfer: one, ComputeOutput: one,
		CacheHit: one, CacheMiss: one,
		Responses: []record.ResponseStats{{Success: one}},
	}
	for i, lower := range []func(*record.ModelStats){
		func(m *record.ModelStats) { m.Inferences-- }, func(m *record.ModelStats) { m.Executions-- },
		func(m *record.ModelStats) { m.Success.Count-- }, func(m *record.ModelStats) { m.Fail.NS-- }, func(m *record.ModelStats) { m.Queue.NS-- },
		func(m *record.ModelStats) { m.ComputeInput.NS-- }, func(m *record.ModelStats) { m.ComputeInfer.NS-- },
		func(m *record.ModelStats) { m.ComputeOutput.Count-- },
		func(m *record.ModelStats) { m.CacheHit.Count-- }, func(m *record.ModelStats) { m.CacheMiss.NS-- },
		func(m *record.ModelStats) { m.Responses = []record.ResponseStats{{}} },
	} {
		less := whole
		lower(&less)
		if _, restarted := Difference(snapshot(whole), snapshot(less)); restarted == "" {
			t.Errorf("counter %d went back and nothing was noticed", i)
		}
	}
}

func TestSum(t *testing.T) {
	a := snapshot(model("m", 3, model("part", 1)))
	a.Models[0].Responses = []record.ResponseStats{{Index: 1, Fail: ct(1, 2)}}
	a.Models[0].CacheHit = ct(1, 1)
	b := snapshot(model("m", 4, model("part", 2), model("other", 3)), model("n", 1))
	b.Models[0].Responses = []record.ResponseStats{{Index: 0, Success: ct(1, 1)}, {Index: 1, Fail: ct(2, 3)}}
	b.Models[0].CacheHit = ct(2, 5)
	want := snapshot(model("m", 7, model("part", 3), model("other", 3)), model("n", 1))
	want.Models[0].Responses = []record.ResponseStats{{Index: 0, Success: ct(1, 1)}, {Index: 1, Fail: ct(3, 5)}}
	want.Models[0].CacheHit = ct(3, 6)
	if diff := cmp.Diff(want, Sum([]*record.Snapshot{a, b})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(model("part", 1), a.Models[0].Composing[0]); diff != "" {
		t.Errorf("what was added has changed:\n%s", diff)
	}
}

func TestAverages(t *testing.T) {
	m := model("m", 4)
	if got := Average(m.Success); got != 100 {
		t.Errorf("average %v", got)
	}
	if got := Overhead(&m); got != 35 {
		t.Errorf("overhead %v", got)
	}
	// Two of the four came out of the cache and computed nothing.
	m.ComputeInput, m.ComputeInfer, m.ComputeOutput = ct(2, 40), ct(2, 60), ct(2, 10)
	m.CacheHit, m.CacheMiss = ct(2, 6), ct(2, 14)
	if got := Overhead(&m); got != (400-40-40-60-10-6-14)/4.0 {
		t.Errorf("overhead with a cache %v", got)
	}
	m.Queue.NS = 1000
	if got := Overhead(&m); got >= 0 {
		t.Errorf("overhead of sums that do not fit is %v", got)
	}
	if Average(ct(0, 0)) != 0 || Overhead(new(record.ModelStats)) != 0 {
		t.Error("nothing takes time")
	}
}

// growing is a server that counts late: its totals rise for some responses.
type growing struct {
	asked, until int
	failFrom     int
}

func (g *growing) Snapshot(context.Context) (*record.Snapshot, error) {
	g.asked++
	if g.failFrom > 0 && g.asked >= g.failFrom {
		return nil, errors.New("gone")
	}
	return snapshot(model("m", uint64(min(g.asked, g.until)))), nil
}

func (g *growing) Close() error { return nil }

func TestSettled(t *testing.T) {
	for _, c := range []struct {
		name     string
		server   growing
		want     uint64
		busy     bool
		err      bool
		mostTime time.Duration
	}{
		{"idle", growing{until: 1}, 1, false, false, 10 * time.Millisecond},
		{"counts late", growing{until: 4}, 4, false, false, time.Second},
		{"others use it", growing{until: 1 << 30}, 15, true, false, 2 * time.Second},
		{"gone", growing{until: 9, failFrom: 3}, 2, false, true, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			s, busy, err := SnapshotIdle(t.Context(), &c.server)
			if s.Models[0].Executions != c.want || busy != c.busy || (err != nil) != c.err {
				t.Errorf("%s: got %d, busy %v, error %v", c.name, s.Models[0].Executions, busy, err)
			}
			if took := time.Since(began); took > c.mostTime {
				t.Errorf("%s: took %v", c.name, took)
			}
		})
	}
	if s, busy, err := SnapshotIdle(t.Context(), &growing{failFrom: 1}); s != nil || busy || err == nil {
		t.Errorf("a dead server gives %v %v %v", s, busy, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, _, err := SnapshotIdle(ctx, &growing{until: 9}); s == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gives %v, %v", s, err)
	}
}
