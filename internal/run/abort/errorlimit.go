package abort

import (
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// fewestEnded is how many requests must have ended before their share of failures
// can end a run.
const fewestEnded = 20

// ErrorLimit counts requests that fail, and stops a run that has too many of them.
type ErrorLimit struct {
	most          plan.MaxErrors
	stop          Stopper
	ended, failed atomic.Int64
}

// NewErrorLimit makes one that stops a run at a plan's limits.
func NewErrorLimit(most plan.MaxErrors, stop Stopper) *ErrorLimit {
	return &ErrorLimit{most: most, stop: stop}
}

// Count takes note of how a request ended; "": well.
func (f *ErrorLimit) Count(class record.Class) {
	ended := f.ended.Add(1)
	if class == "" || class.EndedHere() {
		return
	}
	failed := f.failed.Add(1)
	if f.most.Count > 0 && failed >= f.most.Count ||
		f.most.Share > 0 && ended >= fewestEnded && float64(failed) > f.most.Share*float64(ended) {
		f.stop.Stop(record.StopErrors)
	}
}
