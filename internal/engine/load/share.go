package load

import "time"

// Shard is a part of a load: every Of-th request, arrival and slot from the Index-th on; zero:
// all.
type Shard struct {
	Index, Of int
	// Dealt is to how many slots or lanes requests are dealt in turn, of which the share has every Of-th. A worker with
	// more slots than another then has more of the requests, too, so that all end together; and one has all requests
	// of a lane. 0: requests are dealt to the parts.
	Dealt int
}

// round is how many requests are dealt before it is the first one's turn again, and mine how many of them are the share's.
func (s Shard) round() (all, mine int64) {
	if s.Dealt == 0 {
		return int64(max(s.Of, 1)), 1
	}
	return int64(s.Dealt), s.every(int64(s.Dealt))
}

// Split is the i-th of n parts of the share, of a load with so many lanes.
func (s Shard) Split(i, n, lanes int) Shard {
	if lanes > 0 {
		s.Dealt = lanes
		_, mine := s.round()
		lanes = int(mine)
	}
	return Shard{Index: i, Of: n, Dealt: lanes}
}

// Owner is which one of the parts has a request.
func (s Shard) Owner(place int64) int {
	all, _ := s.round()
	return int(place % all % int64(max(s.Of, 1)))
}

// GlobalIndex is which one of all requests the i-th of the share is.
func (s Shard) GlobalIndex(i int64) int64 {
	all, mine := s.round()
	return i/mine*all + int64(s.Index) + i%mine*int64(max(s.Of, 1))
}

// requests is how many of the first n requests are in the share.
func (s Shard) requests(n int64) int64 {
	all, mine := s.round()
	return n/all*mine + s.every(n%all)
}

// every is how many of n things are in the share where each worker has one in turn.
func (s Shard) every(n int64) int64 {
	of := int64(max(s.Of, 1))
	return max(0, (n-int64(s.Index)+of-1)/of)
}

// Senders is how many of so many workers have something to send in the stage: a number that is
// shared out must not be 0 for one of them, which would mean that there is no such bound.
func (stage *Profile) Senders(workers int) int {
	if stage.Growth.Step > 0 {
		return 1 // what is sent next depends on all responses
	}
	most := int64(workers)
	for _, n := range []int64{int64(stage.MaxSlots), stage.Requests, stage.Sessions, int64(stage.Lanes)} {
		if n > 0 {
			most = min(most, n)
		}
	}
	if stage.Arrivals == nil {
		most = min(most, int64(stage.InFlight(0)))
	}
	senders := int(max(most, 1))
	for senders > 1 && !stage.allBusy(senders) {
		senders--
	}
	return senders
}

// allBusy reports whether each of so many workers has requests behind the warm-up.
func (stage *Profile) allBusy(workers int) bool {
	for i := range workers {
		if stage.Requests > 0 && stage.Part(Shard{Index: i, Of: workers}).Requests == 0 {
			return false
		}
	}
	return true
}

// Part is a worker's share of the stage.
func (stage Profile) Part(s Shard) Profile {
	if s.Of < 2 {
		stage.Share = s
		return stage
	}
	stage.Prompts = stage.MostPrompts()
	switch {
	case stage.Lanes > 0:
		s.Dealt = stage.Lanes
	case stage.dealsToSlots():
		s.Dealt = stage.MaxSlots
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
	if stage.AtLeast > 0 {
		stage.AtLeast = s.requests(stage.WarmupRequests+stage.AtLeast) - warm
	}
	stage.WarmupRequests, stage.Sessions = warm, s.requests(stage.Sessions)
	stage.WarmupDrains = stage.WarmupDrains && warm > 0
	stage.WarmupLanes = int(s.every(int64(stage.WarmupLanes)))
	if stage.Arrivals != nil {
		stage.Arrivals = &every{all: stage.Arrivals, share: s}
	}
	return stage
}

// dealsToSlots reports whether it is a closed loop of so many slots throughout, each of which has something to send.
func (stage *Profile) dealsToSlots() bool {
	n := stage.MaxSlots
	for _, bound := range []int64{stage.Requests, stage.Sessions} {
		if bound > 0 && bound < int64(n) {
			return false
		}
	}
	return stage.Arrivals == nil && stage.InFlight(0) == n && stage.InFlight(stage.Duration) == n
}

// MostPrompts is how many prompts the stage can send; -1: no number says.
func (stage *Profile) MostPrompts() int64 {
	if stage.Sessions > 0 {
		return stage.Sessions
	}
	if stage.Requests == 0 || stage.WarmupFor > 0 {
		return -1
	}
	return stage.WarmupRequests + stage.Requests
}

type every struct {
	all       Arrivals
	share     Shard
	had, next int64 // arrivals of the share so far, and of all
}

// Next implements Arrivals.
func (e *every) Next() (due time.Duration, ok bool) {
	for place := e.share.GlobalIndex(e.had); e.next <= place; e.next++ {
		if due, ok = e.all.Next(); !ok {
			return 0, false
		}
	}
	e.had++
	return due, true
}
