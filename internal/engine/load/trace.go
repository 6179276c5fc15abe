package load

import "time"

// Trace is a sequence of arrivals as they were once seen, or planned. The times
// must not decrease.
func Trace(moments []time.Duration) Arrivals { return &trace{moments} }

type trace struct{ left []time.Duration }

// Next implements Arrivals.
func (t *trace) Next() (time.Duration, bool) {
	if len(t.left) == 0 {
		return 0, false
	}
	due := t.left[0]
	t.left = t.left[1:]
	return due, true
}
