package load

import (
	"math/bits"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Profile is the load of a part of a run: when requests are due, how many are in flight, and its
// end.
type Profile struct {
	Index int // in the plan
	Name  string

	// Start is the time of the run's clock at which it begins, which those that send shares of it
	// have agreed on; 0: as soon as its first requests are made.
	Start time.Duration

	// Arrivals says when requests are due, warm-up included; nil: when a slot is free (closed
	// loop).
	Arrivals Arrivals
	// InFlight is the number of slots at a given time of the measured part, counted from
	// its start; before it, that at 0. 0 slots: unbounded (open loop).
	InFlight func(now time.Duration) int
	MaxSlots int // largest value InFlight takes; 0: unbounded

	// The warm-up ends when both of these are reached.
	WarmupFor      time.Duration
	WarmupRequests int64
	// WarmupDrains: the measured part waits until the warm-up, which is a number, has ended.
	WarmupDrains bool
	// WarmupLanes is how many sessions are warmed up with calls of their own before the measured part begins; 0: none.
	WarmupLanes int
	// The measured part ends when one of these is reached; 0: no such limit.
	Duration time.Duration
	Requests int64
	// AtLeast is how many requests are sent even where that takes longer than Duration.
	AtLeast int64
	// Sessions is how many prompts are taken from the data, each with the turns that
	// follow it; the stage ends with the last of them. 0: no bound.
	Sessions int64
	// Growth: InFlight is what is sent at first, and more follow as responses come.
	Growth Growth

	// CountEnds: requests that end sequences, because the stage has ended, are measured too.
	CountEnds bool

	// Lanes is to how many sessions of the data requests go in turn; whoever sends one of a session sends all.
	// 0: requests do not depend on one another.
	Lanes int

	// Share is which part of the load this is; Prompts is how many the load as a whole can send
	// where it is a part; -1: no number says.
	Share   Shard
	Prompts int64
	// First is the number of the first prompt of a part: workers do not know how many others have
	// taken.
	First int64

	Drain time.Duration // how long requests in flight may take after that
	Grace time.Duration // the same where the stage is ended before its time
}

// ofSessions makes it a load of whole sessions. Each holds a slot until it ends: where
// only the slots bound them, it is a closed loop; else they arrive at a rate, or at once.
func (stage *Profile) ofSessions(s plan.SessionLoad) {
	stage.Sessions, stage.Duration = s.Count, time.Duration(s.Timeout)
	stage.Drain = stage.Grace // all that ends it but its last session is before its time
	stage.InFlight, stage.MaxSlots = func(time.Duration) int { return s.Concurrent }, s.Concurrent
	switch {
	case s.Rate > 0:
		stage.Arrivals = Constant(ConstantRate(s.Rate))
	case s.Concurrent == 0:
		stage.Arrivals = Intervals([]time.Duration{0})
	}
}

func arrivals(s plan.Stage, seed uint64) Arrivals {
	r := ConstantRate(s.Rate)
	if s.RampTo > 0 && s.Duration > 0 {
		counted := float64(s.Warmup.Requests) / s.Rate * float64(time.Second)
		r = Rate{
			From: s.Rate, To: s.RampTo,
			Hold: max(time.Duration(s.Warmup.Duration), nanoseconds(counted)),
			Over: time.Duration(s.Duration),
		}
	}
	switch s.Arrival {
	case plan.ArrivalIntervals:
		list := make([]time.Duration, len(s.Intervals))
		for i, d := range s.Intervals {
			list[i] = time.Duration(d)
		}
		return Intervals(list)
	case plan.ArrivalPoisson:
		if s.Draws == plan.DrawsMT19937 {
			return UnseededPoisson(r)
		}
		return Poisson(r, seed)
	case plan.ArrivalGamma:
		return Gamma(r, s.CV, seed)
	default:
		return Constant(r)
	}
}

// stageSeed mixes so that no two stages of a run, or of runs with neighbouring seeds, share a
// stream.
func stageSeed(seed uint64, stage int) uint64 {
	x := seed + uint64(stage+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// InFlight is a number of slots that changes linearly over a time, rounded to the
// nearest whole slot: from until 0, to from then on.
func InFlight(from, to int, over time.Duration) func(now time.Duration) int {
	return func(now time.Duration) int {
		switch {
		case now >= over:
			return to
		case now <= 0:
			return from
		case to >= from:
			return from + share(to-from, now, over)
		default:
			return from - share(from-to, now, over)
		}
	}
}

// share is n·part/whole to the nearest whole number, for 0 < part < whole.
func share(n int, part, whole time.Duration) int {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(whole))
	return int(q)
}
