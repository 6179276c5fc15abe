package load

import (
	"math"
	"math/big"
	"strconv"
	"time"
)

// Constant is a sequence of equally spaced arrivals, the first at once. At a steady rate the i-th
// is due at i seconds ÷ rate, rounded down to a nanosecond: exact arithmetic on the rate as the
// decimal it is written as. While the rate changes, the spacing follows it.
func Constant(r Rate) Arrivals {
	if !r.steady() {
		return &rampArrivals{clock: newClock(r)}
	}
	if usable(r.From) == 0 {
		return none{}
	}
	return newEven(r.From)
}

// constantArrivals counts in whole nanoseconds and a remainder of part/den nanoseconds.
type constantArrivals struct {
	due, step      int64
	part, add, den uint64
}

func newEven(rate float64) *constantArrivals {
	// The decimal number has at most 17 digits, so the numerator fits 64 bits for
	// any rate below 10^17; a nanosecond holds no more than that many.
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(rate, 'g', -1, 64))
	gap := new(big.Rat).Quo(big.NewRat(int64(time.Second), 1), exact)
	step, add := new(big.Int).QuoRem(gap.Num(), gap.Denom(), new(big.Int))
	if !gap.Denom().IsUint64() || gap.Denom().Uint64() > math.MaxInt64 {
		return &constantArrivals{den: 1} // more than 2^63 a nanosecond: all at once
	}
	if !step.IsInt64() {
		return &constantArrivals{step: math.MaxInt64, den: 1}
	}
	return &constantArrivals{step: step.Int64(), add: add.Uint64(), den: gap.Denom().Uint64()}
}

// Next implements Arrivals.
func (e *constantArrivals) Next() (time.Duration, bool) {
	due := e.due
	if e.due > math.MaxInt64-e.step-1 {
		e.due, e.step, e.add = math.MaxInt64, 0, 0
		return time.Duration(due), true
	}
	e.due += e.step
	e.part += e.add
	if e.part >= e.den {
		e.part -= e.den
		e.due++
	}
	return time.Duration(due), true
}

// rampArrivals is a constant spacing in expected arrivals.
type rampArrivals struct {
	clock *rateIntegral
	i     int64
}

// Next implements Arrivals.
func (c *rampArrivals) Next() (time.Duration, bool) {
	due, ok := c.clock.timeOf(float64(c.i))
	c.i++
	return due, ok
}

type none struct{}

// Next implements Arrivals.
func (none) Next() (time.Duration, bool) { return 0, false }
