package executor

import (
	"context"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/abort"
)

// Sender puts loads on the target, by itself or through others.
type Sender struct {
	Plan        *plan.Plan
	Schedule    func() load.Arrivals // begins those of the prompts; nil: they have none
	Share       load.Shard           // of each load
	Engine      *engine.Engine
	Endpoint    *endpoint.Endpoint
	SameFailure *abort.SameFailure
	Stopper     abort.Stopper // of the run
	Workers     Workers       // that sends instead; nil means nobody
	Live        *engine.Counters
}

// Send carries out a task until it ends or stop yields.
func (s *Sender) Send(ctx context.Context, t load.Spec, stop abort.Stopper) (record.StageSummary, error) {
	work := t.Compile(s.Schedule)
	// A search for the capacity says itself what fails, and how often.
	s.SameFailure.Begin(work.Index, work.Arrivals == nil && !s.Plan.Capacity.On())
	var mark record.StageSummary
	var err error
	if s.Workers != nil {
		mark, err = s.Workers.Send(ctx, t, stop, s.Live)
	} else {
		mark, err = s.Engine.Run(ctx, work.Part(s.shareOf(&work)), stop)
	}
	if err != nil {
		return mark, &abort.Error{Err: err}
	}
	return mark, nil
}

// shareOf is this process's share of a load, which may be too small for all workers.
func (s *Sender) shareOf(work *load.Profile) load.Shard {
	if s.Share.Of == 0 {
		return s.Share
	}
	return load.Shard{Index: s.Share.Index, Of: work.Senders(s.Share.Of)}
}

// Warm opens connections before a task.
func (s *Sender) Warm(ctx context.Context, t load.Spec) {
	if s.Endpoint.Warm != nil && s.Workers == nil {
		work := t.Compile(nil)
		// What fails here fails again, and is recorded, when a request needs it.
		_ = s.Endpoint.Warm(ctx, connectionsAhead(t.Stage, s.shareOf(&work)))
	}
}

// connectionsAhead is how many connections to open before a share of a stage: all of them in
// closed loop; in open loop what its rate needs if responses take 50 ms.
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
