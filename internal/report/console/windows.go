package console

import (
	"fmt"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// mostWindows is how many of a stage's last windows are listed.
const mostWindows = 10

// windows prints the measurement windows of a stage, and what the last of them come to
// together.
func (p *printer) windows(s *result.Stage) {
	l := s.Level
	if l == nil || l.Merged == nil {
		return
	}
	t := table{columns: []column{
		{title: "Window", keep: mustKeep}, {title: "Length", keep: 5}, {title: "Requests", keep: mustKeep}, {title: "Failed", keep: 4},
		{title: "Requests/s", keep: mustKeep}, {title: "Latency", keep: mustKeep}, {title: "p99", keep: 6},
	}}
	for i := max(len(l.Windows)-mostWindows, 0); i < len(l.Windows); i++ {
		w := &l.Windows[i]
		failed, p99 := "", ""
		if w.Failed > 0 {
			failed = number.Count(w.Failed)
		}
		if v, ok := w.Latency.Percentile(99); ok {
			p99 = number.Duration(v)
		}
		t.add(strconv.Itoa(i+1), number.Duration(w.End-w.Begin), number.Count(w.Requests), failed, number.Value(w.Throughput, ""), number.Duration(w.Latency.Avg), p99)
	}
	p.blank()
	p.table(&t)
	m := l.Merged
	p.wrapped(indent, fmt.Sprintf("%s; the last of them together: %s in %s, %s/s, latency %s on average",
		ending(l.Ended), number.Plural(m.Requests, "request"), number.Duration(m.End-m.Begin), number.Value(m.Throughput, ""), number.Duration(m.Latency.Avg)))
}

func ending(reason record.StopReason) string {
	switch reason {
	case record.StopStable:
		return "Stable"
	case record.StopThroughput:
		return "Stable in throughput, not in latency"
	case record.StopThreshold:
		return "Over the latency threshold"
	case record.StopTrials:
		return "Not stable within the windows allowed"
	case record.StopEmpty:
		return "No request succeeded in the last window"
	case record.StopWhole:
		return "One window"
	}
	return "Ended early"
}
