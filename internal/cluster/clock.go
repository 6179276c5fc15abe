package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/cluster/clockoffset"
)

const (
	// trips is how many questions a worker sets its clock by, and tripsAgain how many it compares it by
	// every so often during the run: the clocks may drift apart by 0.4 ms meanwhile.
	trips      = 30
	tripsAgain = 5
	clockEvery = 2 * time.Second
)

// accuracy is how well a worker's clock agreed with the coordinator's so far.
type accuracy struct {
	Bound  time.Duration `json:"bound"`            // it was never off by more
	Jumped bool          `json:"jumped,omitempty"` // one of the two was set or stood still
}

// setClock has this process count time as the coordinator does.
func (w *worker) setClock(ctx context.Context) error {
	own := w.opt.NewClock(0)
	known := clockoffset.New(own.Now, clockoffset.Drift)
	if err := known.Measure(ctx, w.askClock, trips); err != nil {
		return fmt.Errorf("synchronizing the clock with the coordinator: %w", err)
	}
	estimate, err := known.Track().Estimate(own.Now())
	if err != nil {
		return fmt.Errorf("synchronizing the clock with the coordinator: %w", err)
	}
	w.clock = w.opt.NewClock(own.Now() + estimate.Offset)
	w.error = clockoffset.New(w.clock.Now, clockoffset.Drift)
	if err := w.error.Measure(ctx, w.askClock, tripsAgain); err != nil {
		return fmt.Errorf("comparing the clock with the coordinator's: %w", err)
	}
	fmt.Fprintf(w.opt.Log, "Worker %d: the clock is set to the coordinator's, within %s.\n", w.place.Index+1, estimate.Bound)
	return nil
}

// askClock reads the coordinator's clock.
func (w *worker) askClock(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	return bus.Request[time.Duration](ctx, w.bus, onClock, none{})
}

// accuracy is how well the clock agrees with the coordinator's; nothing is known before it is set.
func (w *worker) accuracy() accuracy {
	if w.error == nil {
		return accuracy{}
	}
	known := w.error.Track()
	return accuracy{Bound: known.Error(w.clock.Now()), Jumped: known.Stepped()}
}

// noteClock writes down how well the clock has agreed with the coordinator's, which may not be there any more to do so.
func (w *worker) noteClock() {
	if list := slices.Clone(w.roster); w.place.Index < len(list) {
		a := w.accuracy()
		list[w.place.Index].ClockBound, list[w.place.Index].ClockJumped = a.Bound, a.Jumped
		w.w.Workers(list)
	}
}
