package load

import "time"

// Share is one worker's part of a load: every Of-th of its requests, arrivals and slots, from
// the Index-th on. The zero Share is all of it.
type Share struct {
	Index, Of int
	// Slots are those of a closed loop, whose requests are dealt to them in turn: a worker with more slots than
	// another has more of the requests, too, so that all end together. 0: requests are dealt to workers.
	Slots int
}

// round is how many requests are dealt before it is the first one's turn again, and mine how many of them are the share's.
func (s Share) round() (all, mine int64) {
	if s.Of < 2 {
		return 1, 1
	}
	if s.Slots == 0 {
		return int64(s.Of), 1
	}
	return int64(s.Slots), s.every(int64(s.Slots))
}

// Place is which one of all requests the i-th of the share is.
func (s Share) Place(i int64) int64 {
	all, mine := s.round()
	return i/mine*all + int64(s.Index) + i%mine*int64(s.Of)
}

// requests is how many of the first n requests are in the share.
func (s Share) requests(n int64) int64 {
	all, mine := s.round()
	return n/all*mine + s.every(n%all)
}

// every is how many of n things are in the share where each worker has one in turn.
func (s Share) every(n int64) int64 {
	of := int64(max(s.Of, 1))
	return max(0, (n-int64(s.Index)+of-1)/of)
}

// Senders is how many of so many workers have something to send in the stage: a number that is
// shared out must not be 0 for one of them, which would mean that there is no such bound.
func (stage *Stage) Senders(workers int) int {
	if stage.Growth.Step > 0 {
		return 1 // what is sent next depends on all answers
	}
	most := int64(workers)
	for _, n := range []int64{int64(stage.MaxSlots), stage.Requests, stage.Sessions} {
		if n > 0 {
			most = min(most, n)
		}
	}
	if stage.Arrivals == nil {
		most = min(most, int64(stage.InFlight(0)))
	}
	return int(max(most, 1))
}

// Part is a worker's share of the stage.
func (stage Stage) Part(s Share) Stage {
	if s.Of < 2 {
		stage.Share = s
		return stage
	}
	stage.Prompts = stage.MostPrompts()
	if stage.dealsToSlots() {
		s.Slots = stage.MaxSlots
	}
	stage.Share = s
	if all := stage.InFlight; all != nil {
		stage.InFlight = func(now time.Duration) int { return int(s.every(int64(all(now)))) }
	}
	stage.MaxSlots = int(s.every(int64(stage.MaxSlots)))
	// The warm-up's requests are the first ones.
	warm := s.requests(stage.WarmupRequests)
	if stage.Requests > 0 {
		stage.Requests = s.requests(stage.WarmupRequests+stage.Requests) - warm
	}
	stage.WarmupRequests, stage.Sessions = warm, s.requests(stage.Sessions)
	stage.WarmupDrains = stage.WarmupDrains && warm > 0
	if stage.Arrivals != nil {
		stage.Arrivals = &every{all: stage.Arrivals, skip: s.Index, step: s.Of}
	}
	return stage
}

// dealsToSlots reports whether it is a closed loop of so many slots throughout, each of which has something to send.
func (stage *Stage) dealsToSlots() bool {
	n := stage.MaxSlots
	for _, bound := range []int64{stage.Requests, stage.Sessions} {
		if bound > 0 && bound < int64(n) {
			return false
		}
	}
	return stage.Arrivals == nil && stage.InFlight(0) == n && stage.InFlight(stage.For) == n
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
