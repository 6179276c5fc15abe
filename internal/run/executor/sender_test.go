package executor

import (
	"context"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
)

// Each worker opens the connections of its own share, rounded up.
func TestConnectionsAhead(t *testing.T) {
	sessions := plan.Stage{Arrival: plan.ArrivalSessions, Rate: 100}
	sessions.Sessions.Concurrent = 9
	growing := plan.Stage{Concurrency: 4}
	growing.Growth.To = 10
	for _, c := range []struct {
		name    string
		stage   plan.Stage
		workers int
		want    int
	}{
		{"closed loop", plan.Stage{Concurrency: 10}, 0, 10},
		{"closed loop, workers", plan.Stage{Concurrency: 10}, 4, 3},
		{"closed loop, workers that share evenly", plan.Stage{Concurrency: 12}, 4, 3},
		{"growing loop", growing, 1, 10},
		{"sessions", sessions, 2, 5},
		{"sessions as they come", plan.Stage{Arrival: plan.ArrivalSessions, Rate: 100}, 2, 4},
		{"a rate, and a number of sessions that is none", plan.Stage{Rate: 100, Sessions: sessions.Sessions}, 1, 7},
		{"rate", plan.Stage{Rate: 200}, 1, 12},
		{"rate, workers", plan.Stage{Rate: 200}, 2, 6},
		{"rate with a cap", plan.Stage{Rate: 200, MaxInFlight: 4}, 1, 5},
		{"high rate", plan.Stage{Rate: 1e6}, 1, 512},
	} {
		if got := connectionsAhead(c.stage, load.Shard{Of: c.workers}); got != c.want {
			t.Errorf("%s: %d connections, want %d", c.name, got, c.want)
		}
	}
}

// A share of a load that is too small for all workers is one of fewer.
func TestShareOf(t *testing.T) {
	p := plan.Default()
	p.Stages = []plan.Stage{{Concurrency: 3, Requests: 30}}
	spec := load.NewSpec(&p, 0, p.Stages[0])
	work := spec.Compile(nil)
	for _, c := range []struct{ share, want load.Shard }{
		{load.Shard{}, load.Shard{}},
		{load.Shard{Index: 1, Of: 2}, load.Shard{Index: 1, Of: 2}},
		{load.Shard{Index: 1, Of: 8}, load.Shard{Index: 1, Of: 3}},
	} {
		if got := (&Sender{Share: c.share}).shareOf(&work); got != c.want {
			t.Errorf("of %+v: %+v, want %+v", c.share, got, c.want)
		}
	}
}

// others stands for workers that send in this process's place.
type others struct{ Workers }

// A process opens its connections ahead, unless others send in its place.
func TestWarm(t *testing.T) {
	p := plan.Default()
	p.Stages = []plan.Stage{{Concurrency: 7, Requests: 30}}
	spec := load.NewSpec(&p, 0, p.Stages[0])
	opened := 0
	e := &endpoint.Endpoint{Warm: func(_ context.Context, n int) error { opened += n; return nil }}
	(&Sender{Endpoint: &endpoint.Endpoint{}}).Warm(t.Context(), spec) // a protocol without connections to open
	(&Sender{Endpoint: e, Workers: others{}}).Warm(t.Context(), spec)
	if opened != 0 {
		t.Errorf("%d connections, and others send", opened)
	}
	if (&Sender{Endpoint: e}).Warm(t.Context(), spec); opened != 7 {
		t.Errorf("%d connections for 7 slots", opened)
	}
}
