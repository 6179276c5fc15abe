// Package abort ends a run early: because its user asks for that, or too many requests fail, or all
// in the same way. What a plan describes itself is in run/breaker.
package abort

import (
	"context"

	"github.com/inferometer/inferometer/internal/record"
)

// Stopper stops a run: whoever uses it says why, and the current stage, or the next one,
// sends no more. It holds one reason at a time.
type Stopper chan record.StopReason

// NewStopper returns an unused Stopper.
func NewStopper() Stopper { return make(Stopper, 1) }

// Stop asks for the end.
func (b Stopper) Stop(reason record.StopReason) { b.Offer(reason) }

// Offer is the same and tells whether this reason is the first.
func (b Stopper) Offer(reason record.StopReason) bool {
	select {
	case b <- reason:
		return true
	default:
		return false
	}
}

// StopWhen stops the run where its user does so before ctx ends.
func (b Stopper) StopWhen(ctx context.Context, stop <-chan struct{}) {
	select {
	case <-stop:
		b.Stop(record.StopInterrupted)
	case <-ctx.Done():
	}
}

// Forward hands a stop request the run on to the current stage. The function that it gives
// is called when the stage has ended and its meter, which may have ended it for a reason of
// its own, has too: a wish that the stage did not hear is the run's again.
func (b Stopper) Forward(stage Stopper) (end func(measured record.StopReason)) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case reason := <-b:
			if !stage.Offer(reason) {
				b.Stop(reason) // the stage is ending; the wish is for the run
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
				b.Stop(reason)
			}
		default:
		}
	}
}

// Error is an error that ended a run early. The result beside it is of what was measured by then.
type Error struct{ Err error }

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
