package sweep

import (
	"context"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/record"
)

const (
	// grace is how long after an edge its window is looked at: by then the requests
	// that ended before it have been handed over.
	grace = 10 * time.Millisecond
	// look is how often the end of a counted window is looked for by a faithful
	// measurement.
	look = time.Second
)

// Probe asks the server about itself at the edges of windows.
type Probe interface {
	Snapshot(ctx context.Context) (*record.Snapshot, error)
}

// Meter measures one level: it finds the edges of windows while the load goes on, and
// decides after each window whether to go on.
type Meter struct {
	Plan  plan.Measurement
	Now   func() time.Duration // the run's clock
	Tape  *Tape
	Probe Probe // nil: the server is not asked
	// Settle returns once everything that has ended is on the tape.
	Settle func(ctx context.Context)
	// Edge is told of every edge; its error is the writer's to remember.
	Edge func(record.Edge)
	// Window is told of every window that has ended.
	Window func(trial int, w Window)
	// Note is told what went wrong with the probe.
	Note func(err error)
}

// Run measures until the level is decided or ctx ends, which it does when the load
// ends by itself. from is the moment at which the measured part begins. The level
// says why it ended; "": ctx ended first.
func (m *Meter) Run(ctx context.Context, stage int, value float64, from time.Duration) *Level {
	l := &Level{Value: value, measurement: m.Plan}
	m.edge(l, stage, from, m.snapshot(ctx))
	if m.Plan.Mode == plan.WindowStage {
		<-ctx.Done()
		return l
	}
	j := judge{m.Plan}
	for l.Ended == "" {
		begin := l.edges[len(l.edges)-1].At
		end, server, ok := m.await(ctx, begin)
		if !ok {
			return l
		}
		m.edge(l, stage, end, server)
		w := pass(m.Tape.Cut(begin, end, m.Plan.Percentile))
		l.Windows = append(l.Windows, w)
		if m.Window != nil {
			m.Window(len(l.Windows), w)
		}
		l.Ended = j.after(l.Windows)
		if keep := len(l.edges) - 1 - m.Plan.Windows; keep > 0 {
			m.Tape.Forget(l.edges[keep].At)
		}
	}
	return l
}

// Finish completes a level after its load has ended and everything is on the tape.
func (m *Meter) Finish(ctx context.Context, l *Level, stage int) {
	if m.Plan.Mode == plan.WindowStage {
		if first, last, ok := m.Tape.Bounds(); ok {
			// The window reaches from the first request's start to the last one's
			// end: the edge that was told at the beginning is told anew.
			l.edges[0].At = first - 1
			m.tell(l.edges[0])
			m.edge(l, stage, last, m.snapshot(ctx))
			l.Ended = Whole
		}
	}
	l.finish(m.Tape.Cut, m.Tape.Knows)
}

// await waits for the end of the window that began at a moment, and asks the server at
// that end; false: ctx ended.
func (m *Meter) await(ctx context.Context, begin time.Duration) (end time.Duration, server *record.Snapshot, ok bool) {
	switch {
	case m.Plan.Mode == plan.WindowTime:
		end = begin + m.Plan.Window()
		ok = m.sleep(ctx, end)
	case m.Plan.Faithful:
		for end = begin + look; ; end += look {
			if ok = m.sleep(ctx, end); !ok {
				break
			}
			if _, enough := m.Tape.Nth(begin, m.Plan.Requests); enough {
				break
			}
		}
	default:
		ok = m.Tape.Await(ctx, begin, m.Plan.Requests) == nil
	}
	if !ok {
		return 0, nil, false
	}
	server = m.snapshot(ctx)
	m.sleep(ctx, max(end, m.Now())+grace)
	m.Settle(ctx)
	if end == 0 { // some requests are handed over in another order than that of their ends
		end, ok = m.Tape.Nth(begin, m.Plan.Requests)
	}
	return end, server, ok
}

// sleep waits for a moment of the run's clock; false: ctx ended first.
func (m *Meter) sleep(ctx context.Context, until time.Duration) bool {
	t := time.NewTimer(until - m.Now())
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// snapshot asks the server; nil: it is not to be asked, or did not answer.
func (m *Meter) snapshot(ctx context.Context) *record.Snapshot {
	if m.Probe == nil {
		return nil
	}
	s, err := m.Probe.Snapshot(ctx)
	if err != nil {
		if m.Note != nil {
			m.Note(err)
		}
		return nil
	}
	s.At = m.Now()
	return s
}

// edge takes down an edge with what the server said at that moment.
func (m *Meter) edge(l *Level, stage int, at time.Duration, server *record.Snapshot) {
	e := record.Edge{Stage: stage, Level: l.Value, Trial: len(l.edges), At: at, Server: server}
	l.edges = append(l.edges, e)
	m.tell(e)
}

func (m *Meter) tell(e record.Edge) {
	if m.Edge != nil {
		m.Edge(e)
	}
}
