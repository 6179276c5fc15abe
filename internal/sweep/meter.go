package sweep

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
)

const (
	// grace is how long after an edge its window is looked at: requests that ended before are in by
	// then.
	grace = 10 * time.Millisecond
	// look is how often the end of a counted window is looked for by a faithful
	// measurement.
	look = time.Second
	// patience is how long a server may take to count the last requests of a stage, which
	// it may do after it has answered them; pause is the time between two questions.
	patience = time.Second
	pause    = 20 * time.Millisecond
	// hopeless is how many requests must fail one after the other, for a second at least, to
	// end a counted window that would else wait for ever.
	hopeless = 20
)

// Probe asks the server about itself at the edges of windows.
type Probe interface {
	Snapshot(ctx context.Context) (*record.Snapshot, error)
}

// Meter measures a level: it finds the edges of windows, and decides after each whether to go on.
type Meter struct {
	Plan  plan.Measurement
	Now   func() time.Duration // the run's clock
	Log   *SampleLog
	Probe Probe // nil means the server is not asked
	// GPUs are the looks at the server's GPUs taken between the edges; optional.
	GPUs *GPUs
	// Settle returns once everything that has ended is in the log.
	Settle func(ctx context.Context)
	// Edge is told of every edge; its error is the writer's to remember.
	Edge func(record.Edge)
	// Window is told of every window that has ended.
	Window func(trial int, w Window)
	// Note is told what went wrong with the probe.
	Note func(err error)

	// Paced: requests come at a rate, however long responses take. Gap is the mean time between
	// two.
	Paced bool
	Gap   time.Duration

	before *record.Snapshot // of a server that had nothing to do yet; nil means it was not asked
}

// Before asks the server ahead of the load. It is for stages that are measured as a whole
// and have no warm-up: what the server counts is then what it was asked by this stage.
func (m *Meter) Before(ctx context.Context) { m.before = m.snapshot(ctx) }

// Run measures until the level is decided or ctx ends, as with the load itself. from is when the
// measured part begins. The level says why it ended; "": ctx did.
func (m *Meter) Run(ctx context.Context, stage int, value float64, from time.Duration) *Level {
	l := &Level{Value: value, measurement: m.Plan}
	server := m.before
	if server == nil || m.Plan.Mode != plan.WindowStage {
		server = m.snapshot(ctx)
	}
	m.edge(l, stage, from, server)
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
		w := pass(m.Log.Cut(begin, end, m.Plan.Percentile))
		l.Windows = append(l.Windows, w)
		if m.Window != nil {
			m.Window(len(l.Windows), w)
		}
		l.Ended = j.after(l.Windows)
		if keep := len(l.edges) - 1 - m.Plan.Windows; keep > 0 {
			m.Log.Forget(l.edges[keep].At)
		}
	}
	return l
}

// Finish completes a level after its load has ended and everything is in the log.
func (m *Meter) Finish(ctx context.Context, l *Level, stage int) {
	if m.Plan.Mode == plan.WindowStage {
		if first, last, ok := m.Log.Bounds(); ok {
			// The window reaches from the first request's start to the last one's end: its first
			// edge is told anew. At a rate it has the gap behind the last, too: else there would be
			// more requests per second than sent.
			l.edges[0].At = first - 1
			m.notify(l.edges[0])
			if m.Paced {
				last = max(last, first+m.Log.Span())
			}
			m.edge(l, stage, last, m.after(ctx, m.Log.Cut(first-1, last, 0).Requests))
			l.Ended = record.StopWhole
		}
	}
	l.finish(m.Log.Cut, m.Log.Knows)
}

// await waits for the end of the window begun at a time, and asks the server then; false: ctx
// ended.
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
			if _, enough := m.Log.Nth(begin, m.Plan.Requests); enough || m.lost(begin) {
				break
			}
		}
	default:
		end, ok = m.enough(ctx, begin)
	}
	if !ok {
		return 0, nil, false
	}
	server = m.snapshot(ctx)
	m.sleep(ctx, max(end, m.Now())+grace)
	m.Settle(ctx)
	if end == 0 { // some requests are handed over in another order than that of their ends
		end, ok = m.Log.Nth(begin, m.Plan.Requests)
	}
	return end, server, ok
}

// enough waits until a counted window has its requests. end is 0, which stands for the end of the
// last of them, with two exceptions. Where requests do nothing but fail, it is the present, and the
// window has what it has. Where they come at a rate, it is no earlier than they are due to have come:
// a window that begins with a request would else lack the gap behind its last one, and have more
// requests per second than are sent. ok is false where ctx ended.
func (m *Meter) enough(ctx context.Context, begin time.Duration) (end time.Duration, ok bool) {
	for {
		part, cancel := context.WithTimeout(ctx, look)
		err := m.Log.Await(part, begin, m.Plan.Requests)
		cancel()
		switch {
		case err == nil && m.Paced:
			if due := begin + time.Duration(m.Plan.Requests)*m.Gap; due > m.Now() {
				return due, m.sleep(ctx, due)
			}
			return 0, true
		case err == nil:
			return 0, true
		case ctx.Err() != nil:
			return 0, false
		case m.lost(begin):
			return m.Now(), true
		}
	}
}

// lost reports whether the requests of a counted window do nothing but fail.
func (m *Meter) lost(begin time.Duration) bool {
	failed, since := m.Log.Failing(begin)
	return failed >= max(m.Plan.Requests, hopeless) && m.Now()-since >= look
}

// sleep waits for a moment of the run's clock; false: ctx ended first.
func (m *Meter) sleep(ctx context.Context, until time.Duration) bool {
	return probe.Sleep(ctx, until-m.Now())
}

// snapshot asks the server; nil means it is not to be asked, or did not answer.
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

// after asks the server after the load. Where it was asked before that too, it is asked
// until it has counted all requests that it answered.
func (m *Meter) after(ctx context.Context, ended int64) *record.Snapshot {
	s := m.snapshot(ctx)
	for until := m.Now() + patience; m.before != nil && s != nil && answered(m.before, s) < ended && m.Now() < until; {
		if !m.sleep(ctx, m.Now()+pause) {
			break
		}
		next := m.snapshot(ctx)
		if next == nil {
			break
		}
		s = next
	}
	return s
}

// edge takes down an edge with what the server said then.
func (m *Meter) edge(l *Level, stage int, at time.Duration, server *record.Snapshot) {
	if m.GPUs != nil && server != nil {
		m.GPUs.Add(server.GPUs)
		server.GPUs = m.GPUs.drain()
	}
	e := record.Edge{Stage: stage, Level: l.Value, Trial: len(l.edges), At: at, Server: server}
	l.edges = append(l.edges, e)
	m.notify(e)
}

func (m *Meter) notify(e record.Edge) {
	if m.Edge != nil {
		m.Edge(e)
	}
}
