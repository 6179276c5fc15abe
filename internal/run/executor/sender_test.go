package executor

import (
	"testing"

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
