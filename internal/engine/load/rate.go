package load

import (
	"math"
	"time"
)

// Rate is arrivals per second, which may change once, linearly: From during Hold, then over Over
// to To, then To without end. What is not positive and finite counts as zero.
type Rate struct {
	From, To   float64
	Hold, Over time.Duration
}

// ConstantRate is a rate that does not change.
func ConstantRate(perSecond float64) Rate {
	return Rate{From: perSecond, To: perSecond}
}

func (r Rate) steady() bool { return r.From == r.To }

// rateIntegral maps arrivals of rate one (so many arrivals after the start) to times at
// which a process of this rate has had as many: the inverse of the integrated rate.
type rateIntegral struct {
	from, to   float64
	hold, over float64 // seconds
	held       float64 // arrivals expected by the end of Hold
	ramped     float64 // arrivals expected by the end of Over
	last       time.Duration
}

func newClock(r Rate) *rateIntegral {
	c := &rateIntegral{
		from: usable(r.From), to: usable(r.To),
		hold: max(r.Hold, 0).Seconds(), over: max(r.Over, 0).Seconds(),
	}
	c.held = c.from * c.hold
	c.ramped = c.held + (c.from+c.to)/2*c.over
	return c
}

func usable(rate float64) float64 {
	if rate > 0 && !math.IsInf(rate, 1) {
		return rate
	}
	return 0
}

// timeOf is when u arrivals are expected; false where the rate ends at
// zero before that many. The conversions to float64 keep processors that can fuse a
// multiplication with an addition from rounding differently from those that cannot.
func (c *rateIntegral) timeOf(u float64) (time.Duration, bool) {
	var t float64
	switch {
	case u < c.held || u == 0 && c.from > 0:
		t = u / c.from
	case u < c.ramped:
		t = c.hold + c.inRamp(u-c.held)
	case c.to > 0:
		t = c.hold + c.over + (u-c.ramped)/c.to
	default:
		return 0, false
	}
	c.last = max(c.last, nanoseconds(t*float64(time.Second)))
	return c.last, true
}

// nanoseconds rounds down, and to the largest duration what is beyond it.
func nanoseconds(ns float64) time.Duration {
	if ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}

// inRamp solves from·t + (to-from)/over·t²/2 = u for t; it does not cancel for nearly equal
// rates.
func (c *rateIntegral) inRamp(u float64) float64 {
	if u == 0 {
		return 0
	}
	slope := (c.to - c.from) / c.over
	square := float64(c.from*c.from) + float64(2*slope*u)
	t := 2 * u / (c.from + math.Sqrt(max(square, 0)))
	return min(t, c.over)
}
