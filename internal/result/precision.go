package result

import (
	"fmt"
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
)

// Within is half the width of the interval of a statistic, as a share of its value. known is
// false where there are too few requests, ok where the metric has no intervals at all.
func (s *Stat) Within(name string) (share float64, known, ok bool) {
	value := s.Avg
	switch {
	case s.Intervals == nil || s.Open(name):
		return 0, false, false
	case name == metric.Average:
	case s.Distribution == nil:
		return 0, false, false
	default:
		value = s.Quantile(name)
	}
	at, known := s.Intervals[name]
	half := (at.Hi - at.Lo) / 2
	switch {
	case !known:
		return 0, false, true
	case half == 0:
		return 0, true, true
	}
	return half / math.Abs(value), value != 0, true
}

// Precision says in words how well the figure is known that most people read first: what the error
// bar of measuring it is, and what it does not tell, how close it is to what the server does on
// average. It is empty where that is not known.
func (s *Stage) Precision() string {
	for _, id := range []string{"time_to_first_token", "request_latency"} {
		m, ok := s.Metrics[id]
		if !ok || m.Distribution == nil || m.Intervals == nil {
			continue
		}
		def, _ := metric.ByID(id)
		text := def.Name + ": " + m.measuredTo()
		requests := number.Plural(m.Count, "request")
		if m.Open(metric.Average) { // it is only known to be at least so much
			continue
		}
		if share, known, _ := m.Within(metric.Average); known {
			text += fmt.Sprintf("with %s the average is known to %s", requests, number.PlusMinus(share))
		} else {
			text += fmt.Sprintf("%s are too few to say how well the average is known", requests)
		}
		if share, known, _ := m.Within("p99"); known && !slices.Contains(m.LowSamples, "p99") {
			text += ", p99 to " + number.PlusMinus(share)
		}
		return text
	}
	return ""
}

// measuredTo says how far the client can have bent the average of a metric.
func (s *Stat) measuredTo() string {
	if s.Error == nil {
		return ""
	}
	return "measured to ±" + number.Value(s.Off(metric.Average), s.Unit) + "; "
}
