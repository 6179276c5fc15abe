package run

import (
	"context"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// sender puts loads on the target.
type sender struct {
	engine   *engine.Engine
	endpoint *endpoint.Endpoint
	alike    *alike
	brake    brake // of the run
}

// send carries out a load until it ends or stop yields.
func (s *sender) send(ctx context.Context, work load.Stage, stop brake) (record.StageMark, error) {
	s.alike.begin(work.Index, work.Arrivals == nil)
	mark, err := s.engine.Run(ctx, work, stop)
	if err != nil {
		return mark, &BreakError{err}
	}
	return mark, nil
}

// warm opens connections before a stage.
func (s *sender) warm(ctx context.Context, st plan.Stage) {
	if s.endpoint.Warm != nil {
		// What fails here fails again, and is recorded, when a request needs it.
		_ = s.endpoint.Warm(ctx, connectionsAhead(st))
	}
}

// connectionsAhead is how many connections to open before a stage: all of them in
// closed loop; in open loop what its rate needs if answers take 50 ms.
func connectionsAhead(s plan.Stage) int {
	if s.Concurrency > 0 {
		return max(s.Concurrency, s.Growth.To)
	}
	if s.Arrival == plan.ArrivalSessions && s.Sessions.Concurrent > 0 {
		return s.Sessions.Concurrent
	}
	n := int(s.Rate/20) + 1
	if s.MaxInFlight > 0 {
		n = min(n, s.MaxInFlight)
	}
	return min(n, 512)
}
