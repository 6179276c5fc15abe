package run

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/abort"
)

// sender puts loads on the target, by itself or through others.
type sender struct {
	plan        *plan.Plan
	schedule    []time.Duration // of the prompts; nil: they have none
	share       load.Shard      // of each load
	engine      *engine.Engine
	endpoint    *endpoint.Endpoint
	sameFailure *abort.SameFailure
	stopper     abort.Stopper // of the run
	fleet       Workers       // that sends instead; nil: nobody
	live        *engine.Counters
}

// send carries out a task until it ends or stop yields.
func (s *sender) send(ctx context.Context, t Task, stop abort.Stopper) (record.StageSummary, error) {
	work := t.load(s.plan, s.schedule)
	// A search for the capacity says itself what fails, and how often.
	s.sameFailure.Begin(work.Index, work.Arrivals == nil && !s.plan.Capacity.On())
	var mark record.StageSummary
	var err error
	if s.fleet != nil {
		mark, err = s.fleet.Send(ctx, t, stop, s.live)
	} else {
		mark, err = s.engine.Run(ctx, work.Part(s.shareOf(&work)), stop)
	}
	if err != nil {
		return mark, &abort.Error{Err: err}
	}
	return mark, nil
}

// shareOf is this process's share of a load, which may be too small for all workers.
func (s *sender) shareOf(work *load.Profile) load.Shard {
	if s.share.Of == 0 {
		return s.share
	}
	return load.Shard{Index: s.share.Index, Of: work.Senders(s.share.Of)}
}

// warm opens connections before a task.
func (s *sender) warm(ctx context.Context, t Task) {
	if s.endpoint.Warm != nil && s.fleet == nil {
		work := t.Load(s.plan)
		// What fails here fails again, and is recorded, when a request needs it.
		_ = s.endpoint.Warm(ctx, connectionsAhead(t.Stage, s.shareOf(&work)))
	}
}

// connectionsAhead is how many connections to open before a share of a stage: all of them in
// closed loop; in open loop what its rate needs if answers take 50 ms.
func connectionsAhead(s plan.Stage, of load.Shard) int {
	workers := max(of.Of, 1)
	if s.Concurrency > 0 {
		return (max(s.Concurrency, s.Growth.To) + workers - 1) / workers
	}
	if s.Arrival == plan.ArrivalSessions && s.Sessions.Concurrent > 0 {
		return (s.Sessions.Concurrent + workers - 1) / workers
	}
	n := int(s.Rate/20) + 1
	if s.MaxInFlight > 0 {
		n = min(n, s.MaxInFlight)
	}
	return min(n/workers+1, 512)
}
