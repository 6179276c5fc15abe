package run

import (
	"context"

	"github.com/inferometer/inferometer/internal/record"
)

// stopper stops a run: whoever pulls it says why, and the stage under way, or the next one,
// sends no more. It holds one reason at a time.
type stopper chan record.StopReason

func newBrake() stopper { return make(stopper, 1) }

// stop asks for the end.
func (b stopper) stop(reason record.StopReason) { b.offer(reason) }

// offer is the same and tells whether this reason is the first.
func (b stopper) offer(reason record.StopReason) bool {
	select {
	case b <- reason:
		return true
	default:
		return false
	}
}

// pullWhen pulls the brake where the user stops the run before ctx ends.
func (b stopper) pullWhen(ctx context.Context, stop <-chan struct{}) {
	select {
	case <-stop:
		b.stop(record.StopInterrupted)
	case <-ctx.Done():
	}
}

// forward hands a wish to stop the run on to the stage under way. The function that it gives
// is called when the stage has ended and its meter, which may have ended it for a reason of
// its own, has too: a wish that the stage did not hear is the run's again.
func (b stopper) forward(stage stopper) (end func(measured record.StopReason)) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case reason := <-b:
			if !stage.offer(reason) {
				b.stop(reason) // the stage is ending; the wish is for the run
			}
		case <-over:
		}
	}()
	return func(measured record.StopReason) {
		close(over)
		<-done
		select {
		case reason := <-stage:
			if reason != measured {
				b.stop(reason)
			}
		default:
		}
	}
}
