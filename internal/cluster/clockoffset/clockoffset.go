// Package clockoffset estimates by how much the clock of another machine is ahead of this one's, from round trips, with a bound that
// holds however the way there and the way back differ.
//
// The other clock is read at some time between question and answer. So each round trip says that its reading is
// between the two of ours, and nothing more: an interval as wide as the round trip. Two clocks drift apart by a
// bounded rate, so an interval holds at other times, too, if it is widened by the drift since. Where all intervals
// overlap, there is the truth.
package clockoffset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Drift is how much two clocks may part in a second: 200 µs. Crystals are good to 50 ppm or better each, and a clock
// that is being set right may be 100 ppm beside that.
const Drift = 200e-6

// ErrStepped means that no offset fits all round trips: one of the clocks was set, or drifts more than it may.
var ErrStepped = errors.New("the clocks of the two machines jumped or drift too fast")

// Ask reads the other clock.
type Ask func(context.Context) (theirs time.Duration, err error)

// Estimate is how far the other clock is ahead; the truth is at most Bound away.
type Estimate struct {
	Offset, Bound time.Duration
}

// Estimator gathers round trips with one other machine.
type Estimator struct {
	now   func() time.Duration
	drift float64

	mu      sync.Mutex
	known   []interval // by time; each is narrowed by those before it, back to the last step
	stepped bool       // two intervals do not overlap
}

// New makes an estimator. now reads our own clock; drift is Drift unless more is known of the clocks.
func New(now func() time.Duration, drift float64) *Estimator {
	return &Estimator{now: now, drift: drift}
}

// Measure makes some round trips, one after another, and keeps what they say together: no more than half of the shortest one is left to
// doubt. It fails where all of them fail. One Measure runs at a time.
func (e *Estimator) Measure(ctx context.Context, ask Ask, trips int) error {
	var failed error
	var found []interval
	for range trips {
		sent := e.now()
		theirs, err := ask(ctx)
		got := e.now()
		if err != nil {
			failed = err
			continue
		}
		// Who read the clock at the time of the response has no drift since to reckon with.
		found = append(found, interval{at: got, lo: theirs - got, hi: theirs - sent + parted(got-sent, e.drift)})
	}
	if len(found) == 0 {
		return fmt.Errorf("read the clock of the other machine: %w", failed)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.known); n > 0 {
		found = slices.Insert(found, 0, e.known[n-1])
	}
	here := found[0]
	for _, next := range found[1:] {
		before := here
		if here = next.meet(here.moved(next.at, e.drift)); here.lo > here.hi {
			// It is somewhere else from now on.
			e.stepped, here = true, next
			e.known = append(e.known, before)
		}
	}
	e.known = append(e.known, here)
	return nil
}

// Watch measures now and then until the context is over. It tells of every round that failed.
func (e *Estimator) Watch(ctx context.Context, ask Ask, trips int, every time.Duration, failed func(error)) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if err := e.Measure(ctx, ask, trips); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// Track is what is known until now of the offset, for every time.
func (e *Estimator) Track() Track {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := Track{known: slices.Clone(e.known), drift: e.drift, stepped: e.stepped}
	for i := len(t.known) - 2; i >= 0; i-- { // what comes later narrows what was before, unless a step is between
		if both := t.known[i].meet(t.known[i+1].moved(t.known[i].at, e.drift)); both.lo <= both.hi {
			t.known[i] = both
		}
	}
	return t
}

// Track is the offset over the time of a run.
type Track struct {
	known   []interval // by time; each is narrowed by all others
	drift   float64
	stepped bool
}

// Estimate is the offset at a given time of our clock.
func (t Track) Estimate(ours time.Duration) (Estimate, error) {
	switch {
	case len(t.known) == 0:
		return Estimate{}, errors.New("the clock of the other machine was not read")
	case t.stepped:
		return Estimate{}, ErrStepped
	}
	after, _ := slices.BinarySearchFunc(t.known, ours, func(i interval, at time.Duration) int { return cmp.Compare(i.at, at) })
	here := t.known[min(after, len(t.known)-1)].moved(ours, t.drift)
	if after > 0 {
		here = here.meet(t.known[after-1].moved(ours, t.drift))
	}
	half := (here.hi - here.lo + 1) / 2
	return Estimate{Offset: here.lo + half, Bound: half}, nil
}

// Error is what our clock was off the other one at most, at any time from the first round trip to now. It holds across
// a step, too: between two round trips our clock is as wrong as it was before or is afterwards.
func (t Track) Error(now time.Duration) time.Duration {
	var worst time.Duration
	for i, k := range t.known {
		gap, next := now-k.at, k
		if i+1 < len(t.known) {
			next = t.known[i+1]
			if gap = next.at - k.at; !t.stepped {
				gap /= 2 // beyond the middle the next one says more
			}
		}
		d := parted(gap, t.drift)
		worst = max(worst, max(k.hi, next.hi)+d, d-min(k.lo, next.lo))
	}
	return worst
}

// Stepped reports whether one of the clocks was set, or drifted more than it may.
func (t Track) Stepped() bool { return t.stepped }

// interval is where the offset lies at a given time.
type interval struct {
	at     time.Duration
	lo, hi time.Duration
}

// meet is where two intervals of one time overlap.
func (i interval) meet(o interval) interval {
	return interval{at: i.at, lo: max(i.lo, o.lo), hi: min(i.hi, o.hi)}
}

// moved is what an interval says of another time.
func (i interval) moved(at time.Duration, drift float64) interval {
	d := parted((at - i.at).Abs(), drift)
	return interval{at: at, lo: i.lo - d, hi: i.hi + d}
}

// parted is how far two clocks can part in a time, rounded up.
func parted(t time.Duration, drift float64) time.Duration {
	return time.Duration(math.Ceil(float64(t) * drift))
}
