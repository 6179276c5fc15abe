package result

import "github.com/inferometer/inferometer/internal/metric"

// intervals are the intervals of sampling of a metric; nil: it has none.
func intervals(s *metric.Stat) map[string]Interval {
	if s.Intervals == nil {
		return nil
	}
	out := make(map[string]Interval, len(s.Intervals))
	for name, at := range s.Intervals {
		out[name] = Interval{Lo: at.Lo, Hi: at.Hi}
	}
	return out
}

// HalfWidth is how far the ends of the interval of a statistic are from its middle; false: it is
// not known.
func (s *Stat) HalfWidth(name string) (float64, bool) {
	at, ok := s.Intervals[name]
	return (at.Hi - at.Lo) / 2, ok
}
