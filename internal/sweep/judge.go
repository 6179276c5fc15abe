package sweep

import (
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// judge decides about the windows of a level.
type judge struct{ plan.Measurement }

// compared is the latency of a window that is compared: the average or a percentile.
func (j judge) compared(w *Window) time.Duration {
	if j.Percentile > 0 {
		if v, ok := w.Latency.Percentile(j.Percentile); ok {
			return v
		}
	}
	return w.Latency.Avg
}

// after says why a level ends after the last of its windows; "": it goes on.
func (j judge) after(windows []Window) record.StopReason {
	last := &windows[len(windows)-1]
	if last.Requests == 0 {
		return record.StopEmpty
	}
	if len(windows) >= j.Windows {
		tail := windows[len(windows)-j.Windows:]
		switch {
		case j.stable(tail):
			return record.StopStable
		case j.over(tail):
			return record.StopThreshold
		}
	}
	if len(windows) < j.MaxTrials {
		return ""
	}
	if j.ThroughputAlone && len(windows) >= j.Windows && j.steady(windows[len(windows)-j.Windows:]) {
		return record.StopThroughput
	}
	return record.StopTrials
}

// stable reports whether windows agree in throughput and in latency.
func (j judge) stable(windows []Window) bool {
	return j.steady(windows) && j.within(windows, func(w *Window) float64 { return float64(j.compared(w)) })
}

func (j judge) steady(windows []Window) bool {
	return j.within(windows, func(w *Window) float64 { return w.Throughput })
}

// within reports whether the greatest value is at most so far above the least. 0 agrees with
// nothing.
func (j judge) within(windows []Window, value func(*Window) float64) bool {
	least, most := math.Inf(1), 0.0
	for i := range windows {
		v := value(&windows[i])
		least, most = min(least, v), max(most, v)
	}
	return least > 0 && most/least <= 1+j.Stability
}

// over reports whether one of the windows has the latency threshold or more.
func (j judge) over(windows []Window) bool {
	return j.LatencyThreshold != 0 && slices.ContainsFunc(windows, func(w Window) bool {
		return j.compared(&w) >= time.Duration(j.LatencyThreshold)
	})
}
