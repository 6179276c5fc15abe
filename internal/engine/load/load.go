// Package load describes when requests are sent: sequences of arrivals as values
// that a seed fixes, the number of slots over time, and how to wait for a moment
// precisely.
//
// All times are offsets from the start of a stage.
package load

import "time"

// Arrivals is a sequence of times at which requests are due. They never decrease. The sequence
// ends where ok is false. One goroutine at a time uses it.
type Arrivals interface {
	Next() (due time.Duration, ok bool)
}
