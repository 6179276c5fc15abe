package run

import (
	"context"

	"github.com/inferometer/inferometer/internal/record"
)

// brake stops a run: whoever pulls it says why, and the stage under way, or the next one,
// sends no more. It holds one reason at a time.
type brake chan record.StopReason

func newBrake() brake { return make(brake, 1) }

// pull asks for the end.
func (b brake) pull(reason record.StopReason) { b.offer(reason) }

// offer is the same and tells whether this reason is the first.
func (b brake) offer(reason record.StopReason) bool {
	select {
	case b <- reason:
		return true
	default:
		return false
	}
}

// pullWhen pulls the brake where the user stops the run before ctx ends.
func (b brake) pullWhen(ctx context.Context, stop <-chan struct{}) {
	select {
	case <-stop:
		b.pull(record.StopInterrupted)
	case <-ctx.Done():
	}
}

// forward hands a wish to stop the run on to the stage under way. The function that it gives
// is called when the stage has ended and its meter, which may have ended it for a reason of
// its own, has too: a wish that the stage did not hear is the run's again.
func (b brake) forward(stage brake) (end func(measured record.StopReason)) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case reason := <-b:
			if !stage.offer(reason) {
				b.pull(reason) // the stage is ending; the wish is for the run
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
				b.pull(reason)
			}
		default:
		}
	}
}
