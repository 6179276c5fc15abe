package sweep

import (
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Level is what was measured at one level of load.
type Level struct {
	Value   float64           // concurrency or rate
	Ended   record.StopReason // empty: the load ended first
	Passed  bool              // stable, and below the latency threshold
	Windows []Window          // in order
	Merged  *Window           // the last windows as one, or nil
	// Server is what the server did over the merged windows, by its own account.
	Server []record.ModelStats
	GPUs   []record.GPU

	measurement plan.Measurement
	edges       []record.Edge
}

// Measured is the latency by which a level is judged, of its merged windows.
func (l *Level) Measured() time.Duration {
	if l.Merged == nil {
		return 0
	}
	return judge{l.measurement}.compared(l.Merged)
}

// FromEdges makes a level again from its edges and the samples of its stage.
func FromEdges(m plan.Measurement, edges []record.Edge, samples []Sample, ended record.StopReason) *Level {
	l := &Level{measurement: m, edges: edges, Ended: ended}
	if len(edges) > 0 {
		l.Value = edges[0].Level
	}
	l.Windows = make([]Window, max(len(edges)-1, 0))
	l.finish(func(begin, end time.Duration, extra int) Window { return WindowBetween(samples, begin, end, extra) },
		func(time.Duration) bool { return true })
	return l
}

// finish works out the windows, the merged one and the verdict. Requests that were
// handed over late are there by now. known says from which time on all is known.
func (l *Level) finish(cut func(begin, end time.Duration, extra int) Window, known func(after time.Duration) bool) {
	m := l.measurement
	for i := 1; i < len(l.edges); i++ {
		begin, end := l.edges[i-1].At, l.edges[i].At
		switch {
		case i > len(l.Windows):
			l.Windows = append(l.Windows, pass(cut(begin, end, m.Percentile)))
		case known(begin):
			l.Windows[i-1] = pass(cut(begin, end, m.Percentile))
		}
	}
	n := min(len(l.edges)-1, m.Windows)
	if n < 1 {
		return
	}
	last := l.edges[len(l.edges)-1-n:]
	merged := cut(last[0].At, last[n].At, m.Percentile)
	l.Merged = &merged
	l.Server = difference(last[0].Server, last[n].Server)
	l.GPUs = gpus(last)
	agreed := l.Ended == record.StopStable || l.Ended == record.StopThroughput || l.Ended == record.StopWhole
	l.Passed = agreed && merged.Requests > 0 &&
		(m.LatencyThreshold == 0 || l.Measured().Truncate(time.Millisecond) < time.Duration(m.LatencyThreshold))
}
