package load

import "time"

// Trace is a sequence of arrivals as seen or planned: the times of next, which must not decrease.
func Trace(next func() (time.Duration, bool)) Arrivals { return recorded(next) }

type recorded func() (time.Duration, bool)

// Next implements Arrivals.
func (r recorded) Next() (time.Duration, bool) { return r() }

// sessions are arrivals of sessions. When all have arrived, whoever asks for the next finds that there is none.
type sessions struct {
	Arrivals
	last time.Duration
}

// Next implements Arrivals.
func (s *sessions) Next() (time.Duration, bool) {
	if due, ok := s.Arrivals.Next(); ok {
		s.last = due
	}
	return s.last, true
}
