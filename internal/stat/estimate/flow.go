package estimate

import "math"

// Flow is amounts that came at times: a rate is their sum over the span.
type Flow struct {
	At, Amount []float64 // moments in seconds, and as many amounts; Amount nil means 1 each
	Begin, End float64   // the span; what is outside it does not count
}

// OfFlow is the interval of a rate, in amount per second.
func OfFlow(s *Flow, confidence float64) Interval {
	e := s.rate()
	return e.interval(confidence)
}

// leastEvents is how many of a flow say something about it.
const leastEvents = 500

func (s *Flow) rate() estimate {
	span := s.End - s.Begin
	if !(span > 0) || !finite(span) || s.Amount != nil && len(s.Amount) != len(s.At) {
		return estimate{value: math.NaN()}
	}
	cells := make([]float64, min(parts, max(1, len(s.At))))
	var sum float64
	count := 0
	for i, at := range s.At {
		amount := 1.0
		if s.Amount != nil {
			amount = s.Amount[i]
		}
		if !finite(at, amount) {
			return estimate{value: math.NaN()}
		}
		if at < s.Begin || at > s.End {
			continue
		}
		count++
		sum += amount
		cells[min(len(cells)-1, int((at-s.Begin)/span*float64(len(cells))))] += amount
	}
	for i := range cells {
		cells[i] -= sum / float64(len(cells))
	}
	err, df, ok := spread(cells, mostWaves)
	e := around(sum/span, err/span, df)
	e.known = ok && count >= leastEvents
	return e
}
