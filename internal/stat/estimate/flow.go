package estimate

import "math"

// Flow is amounts that came at moments: a rate is their sum over the span.
type Flow struct {
	At, Amount []float64 // moments in seconds, and as many amounts; Amount nil: 1 each
	Begin, End float64   // the span; what is outside it does not count
}

// OfFlow is the interval of a rate, in amount per second.
func OfFlow(s *Flow, confidence float64) Interval {
	e := s.rate()
	return e.interval(confidence)
}

// cells is the most parts that the span is cut into.
const cells = 4096

func (s *Flow) rate() estimate {
	span := s.End - s.Begin
	if !(span > 0) || math.IsInf(span, 0) || s.Amount != nil && len(s.Amount) != len(s.At) {
		return unknown(math.NaN())
	}
	parts := make([]float64, min(cells, len(s.At)))
	var sum float64
	for i, at := range s.At {
		amount := 1.0
		if s.Amount != nil {
			amount = s.Amount[i]
		}
		if math.IsNaN(at) || math.IsNaN(amount) || math.IsInf(amount, 0) {
			return unknown(math.NaN())
		}
		if at < s.Begin || at > s.End {
			continue
		}
		sum += amount
		parts[min(len(parts)-1, int((at-s.Begin)/span*float64(len(parts))))] += amount
	}
	rate := sum / span
	for i := range parts {
		parts[i] -= sum / float64(len(parts))
	}
	err, df, ok := spread(parts)
	if !ok {
		return unknown(rate)
	}
	se := err / span
	return estimate{value: rate, known: true, df: df, limits: func(t float64) (float64, float64) { return rate - t*se, rate + t*se }}
}
