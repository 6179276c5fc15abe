package load

import (
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Spec is a stage to be sent, as other processes can be told of it.
type Spec struct {
	Index     int           `json:"index"` // of the stage; steps of a search are negative
	Stage     plan.Stage    `json:"stage"`
	Sessions  int64         `json:"sessions,omitempty"` // that it plays to their ends, where its load is whole sessions
	Seed      uint64        `json:"seed"`
	Drain     plan.Duration `json:"drain"`
	Grace     plan.Duration `json:"grace"`                // in place of Drain, after an early stop
	CountEnds bool          `json:"count_ends,omitempty"` // requests that end sequences are measured, too
	First     int64         `json:"first,omitempty"`      // number of its first prompt, where workers send it
	Warm      int           `json:"warm,omitempty"`       // sessions that are warmed up with calls of their own; 0: none
	Lanes     int           `json:"lanes,omitempty"`      // to which its requests go in turn; 0: there are none
	Start     time.Duration `json:"start,omitempty"`      // when it begins, on the run's clock, for all that send it; 0: at once
}

// NewSpec is the spec of a stage that takes the place of the plan's i-th.
func NewSpec(p *plan.Plan, i int, s plan.Stage) Spec {
	t := Spec{Index: i, Stage: s, Seed: p.Seed, Drain: p.Drain, Grace: p.Grace, CountEnds: p.Measurement.Mode == plan.WindowStage}
	if s.Arrival == plan.ArrivalSessions {
		t.Sessions = s.Sessions.Count
	}
	if s.Concurrency > 0 {
		t.Warm = min(p.Data.Replay.Lanes, s.Concurrency)
	}
	return t
}

// Compile makes the load of a stage. schedule begins the arrivals of the prompts, where they have their own; else nil. A ramp begins when
// the warm-up is over; where that is a number of requests, it counts as the time by which so many are expected.
// The random arrivals of each stage have a seed of their own, made of the plan's seed and the stage's index.
func (t *Spec) Compile(schedule func() Arrivals) Profile {
	s := t.Stage
	stage := Profile{
		Index:          t.Index,
		Name:           s.Name,
		Start:          t.Start,
		WarmupFor:      time.Duration(s.Warmup.Duration),
		WarmupRequests: s.Warmup.Requests,
		WarmupDrains:   s.Warmup.Drain && s.Warmup.Requests > 0,
		Duration:       time.Duration(s.Duration),
		Requests:       s.Requests,
		AtLeast:        s.MinRequests,
		CountEnds:      t.CountEnds,
		Drain:          time.Duration(t.Drain),
		Grace:          time.Duration(min(t.Drain, t.Grace)),
		WarmupLanes:    t.Warm,
		First:          t.First,
		Lanes:          t.Lanes,
	}
	if s.Arrival == plan.ArrivalSessions {
		stage.ofSessions(s.Sessions)
		stage.Sessions = t.Sessions
		return stage
	}
	if s.Growth.On() {
		stage.grows(s)
		return stage
	}
	if s.Concurrency > 0 {
		to := s.Concurrency
		if s.RampTo > 0 && s.Duration > 0 {
			to = int(math.Round(s.RampTo))
		}
		stage.InFlight = InFlight(s.Concurrency, to, stage.Duration)
		stage.MaxSlots = max(s.Concurrency, to)
		return stage
	}
	stage.InFlight = func(time.Duration) int { return s.MaxInFlight }
	stage.MaxSlots = s.MaxInFlight
	if s.Arrival == plan.ArrivalTrace {
		stage.Arrivals = none{}
		if schedule != nil {
			stage.Arrivals = schedule()
		}
		if t.Sessions > 0 {
			stage.Sessions, stage.Arrivals, stage.Drain = t.Sessions, &sessions{Arrivals: stage.Arrivals}, stage.Grace
		}
		return stage
	}
	stage.Arrivals = arrivals(s, stageSeed(t.Seed, max(t.Index, 0)))
	return stage
}
