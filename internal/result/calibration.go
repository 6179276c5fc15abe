package result

import "github.com/inferometer/inferometer/internal/record"

// Calibration is how far the figures were off on the built-in mock, at the load of the run
// and ahead of it, and what load the run then had.
type Calibration struct {
	record.Calibration
	Run AchievedLoad `json:"run"`
}

// AchievedLoad is the load that was reached.
type AchievedLoad struct {
	Rate     float64 `json:"requests_per_second"`
	InFlight float64 `json:"in_flight"`
	Events   float64 `json:"events_per_second"`
}

// HeldBy is the load that a stage reached. Each response has one token event more than gaps
// between them.
func HeldBy(s *Stage) AchievedLoad {
	h := AchievedLoad{Rate: s.Metrics["request_throughput"].Avg, InFlight: s.Metrics["concurrency"].Avg}
	if span := s.Window.End - s.Window.Begin; span > 0 {
		h.Events = float64(s.Metrics["inter_event_latency"].Count+s.Counts.OK) / span
	}
	return h
}
