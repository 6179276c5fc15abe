package run

import (
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
)

// Task is a stage to be sent, as other processes can be told of it.
type Task struct {
	Index    int           `json:"index"` // of the stage; steps of a search are negative
	Stage    plan.Stage    `json:"stage"`
	Sessions int64         `json:"sessions,omitempty"` // that it plays, where its load is whole sessions
	Seed     uint64        `json:"seed"`
	Drain    plan.Duration `json:"drain"`
	First    int64         `json:"first,omitempty"` // number of its first prompt, where workers send it
	Lanes    int           `json:"lanes,omitempty"` // to which its requests go in turn; 0: there are none
	Start    time.Duration `json:"start,omitempty"` // when it begins, on the run's clock, for all that send it; 0: at once
}

// task is the plan's i-th stage, as it is run.
func task(p *plan.Plan, i int, s plan.Stage) Task {
	return Task{Index: i, Stage: s, Seed: p.Seed, Drain: p.Drain}
}

// Load is what the task puts on the target, but for the moments of a trace.
func (t Task) Load(p *plan.Plan) load.Profile { return t.load(p, nil) }

// load is what the task puts on the target. schedule is that of the prompts, where they have one.
func (t Task) load(p *plan.Plan, schedule []time.Duration) load.Profile {
	q := *p
	q.Seed, q.Drain = t.Seed, t.Drain
	work := load.FromStage(&q, t.Stage, max(t.Index, 0))
	work.Index, work.First, work.Lanes, work.Start = t.Index, t.First, t.Lanes, t.Start
	switch t.Stage.Arrival {
	case plan.ArrivalTrace:
		work.Arrivals = load.Trace(schedule)
	case plan.ArrivalSessions:
		work.Sessions = t.Sessions
	}
	return work
}
