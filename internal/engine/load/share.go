package load

import "time"

// Share is one worker's part of a load: every Of-th of its requests, arrivals and slots, from
// the Index-th on. The zero Share is all of it.
type Share struct{ Index, Of int }

// Step is how far apart its requests are.
func (s Share) Step() int64 { return int64(max(s.Of, 1)) }

// of is how many of n things are in the share.
func (s Share) of(n int64) int64 {
	return max(0, (n-int64(s.Index)+s.Step()-1)/s.Step())
}

// Fits reports whether each of the workers has something to do in the stage: a number that is
// shared out must not be 0 for one of them, which would mean that there is no such bound.
func (stage *Stage) Fits(workers int) bool {
	if stage.Growth.Step > 0 && workers > 1 {
		return false // what is sent next depends on all answers
	}
	for _, n := range []int64{int64(stage.MaxSlots), stage.Requests, stage.WarmupRequests, stage.Sessions} {
		if n > 0 && n < int64(workers) {
			return false
		}
	}
	return stage.Arrivals != nil || stage.InFlight(0) >= workers
}

// Part is a worker's share of the stage.
func (stage Stage) Part(s Share) Stage {
	if s.Of < 2 {
		return stage
	}
	stage.Prompts = stage.MostPrompts()
	stage.Share = s
	if all := stage.InFlight; all != nil {
		stage.InFlight = func(now time.Duration) int { return int(s.of(int64(all(now)))) }
	}
	stage.MaxSlots = int(s.of(int64(stage.MaxSlots)))
	stage.Requests, stage.WarmupRequests, stage.Sessions = s.of(stage.Requests), s.of(stage.WarmupRequests), s.of(stage.Sessions)
	if stage.Arrivals != nil {
		stage.Arrivals = &every{all: stage.Arrivals, skip: s.Index, step: s.Of}
	}
	return stage
}

// MostPrompts is how many prompts the stage can send; -1: no number says.
func (stage *Stage) MostPrompts() int64 {
	if stage.Sessions > 0 {
		return stage.Sessions
	}
	if stage.Requests == 0 || stage.WarmupFor > 0 {
		return -1
	}
	return stage.WarmupRequests + stage.Requests
}

// every has each step-th of other arrivals.
type every struct {
	all        Arrivals
	skip, step int
}

// Next implements Arrivals.
func (e *every) Next() (due time.Duration, ok bool) {
	for range e.skip + 1 {
		if due, ok = e.all.Next(); !ok {
			return 0, false
		}
	}
	e.skip = e.step - 1
	return due, true
}
