// Package monitor watches while a run goes on: the servers' statistics and pages of metrics, the power of GPUs,
// and this client itself. What it sees goes to the run's journal.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/sweep"
)

// Servers asks the servers of a run about themselves.
type Servers struct {
	list  []probe.Prober // by URL
	pages []probe.Page   // of metrics, as the plan names them
	hide  []string       // secrets that a server may repeat
	GPUs  sweep.GPUs     // since the last edge of a window
}

// OpenServers makes what the plan wants to ask its servers with; nil means they are not asked about
// themselves. hide are secrets that they may repeat. What was made until an error is to be closed, too.
func OpenServers(p *plan.Plan, protocol endpoint.Protocol, kit registry.Kit, o endpoint.Options, hide []string) (*Servers, error) {
	statistics := protocol.Probe != nil && (p.TakesStatistics() || p.Probes.Metrics != "")
	if !statistics && len(p.Pages()) == 0 {
		return nil, nil
	}
	s := &Servers{hide: hide}
	for i := range p.Pages() {
		s.pages = append(s.pages, kit.Pages(p, i, o))
	}
	if !statistics {
		return s, nil
	}
	for i := range p.Target.URLs {
		one, err := protocol.Probe(p, i, o)
		if err != nil {
			return s, fmt.Errorf("reading server metadata from %s: %w", plan.SafeURL(p.Target.URLs[i]), err)
		}
		s.list = append(s.list, one)
	}
	return s, nil
}

// Close ends the connections to them.
func (s *Servers) Close() {
	if s == nil {
		return
	}
	for _, p := range s.list {
		_ = p.Close()
	}
	for _, p := range s.pages {
		_ = p.Close()
	}
}

// HaveStatistics reports whether they are asked for their statistics.
func (s *Servers) HaveStatistics() bool { return len(s.list) > 0 }

// snapshotAll asks all servers at once. settle waits until their totals stand still.
func (s *Servers) snapshotAll(ctx context.Context, settle bool) (targets []record.TargetProbe, busy bool) {
	targets = make([]record.TargetProbe, len(s.list))
	moving := make([]bool, len(s.list))
	var wg sync.WaitGroup
	for i, p := range s.list {
		wg.Go(func() {
			err := aside.Call("Reading it", func() (err error) {
				if settle {
					targets[i].Server, moving[i], err = probe.SnapshotIdle(ctx, p)
				} else {
					targets[i].Server, err = p.Snapshot(ctx)
				}
				return err
			})
			if err != nil {
				targets[i].Error = s.clean(err.Error())
			}
		})
	}
	wg.Wait()
	for _, m := range moving {
		busy = busy || m
	}
	return targets, busy
}

// clean takes secrets out of what a server said.
func (s *Servers) clean(text string) string { return target.Redact(text, s.hide) }

// Snapshot is what all servers together say, for the windows of a measurement.
func (s *Servers) Snapshot(ctx context.Context) (*record.Snapshot, error) {
	targets, _ := s.snapshotAll(ctx, false)
	var all []*record.Snapshot
	for _, t := range targets {
		if t.Server == nil {
			return nil, errors.New(t.Error)
		}
		all = append(all, t.Server)
	}
	return probe.Sum(all), nil
}

// Poller asks the servers about themselves while stages run.
type Poller struct {
	Servers *Servers // nil means they are not asked
	Plan    *plan.Plan
	Now     func() time.Duration
	Journal *rundir.Journal
}

// poll asks the servers at one place of a stage and takes down what they say.
func (l *Poller) poll(ctx context.Context, stage int, edge string) {
	reading := l.Servers.read(ctx, edge != record.ProbeDuring)
	targets, busy := l.Servers.snapshotAll(ctx, edge != record.ProbeDuring)
	pages := <-reading
	if edge == record.ProbeDuring && ctx.Err() != nil {
		return // the stage ended before they had answered
	}
	for _, t := range targets {
		if t.Server != nil && edge == record.ProbeDuring {
			l.Servers.GPUs.Add(t.Server.GPUs)
		}
	}
	l.Journal.AddProbe(record.Probe{Stage: stage, Edge: edge, At: l.Now(), Busy: busy, Targets: targets, Pages: pages})
}

// manyLooks is after how many looks at the servers they are asked half as often, so that
// a stage of a day does not fill the memory with them.
const manyLooks = 1000

// Watch asks the servers before a stage and from time to time while it runs. The
// function that it gives asks them once more, when nothing is in flight.
func (l *Poller) Watch(ctx context.Context, stage int) (end func()) {
	if l.Servers == nil {
		return func() {}
	}
	l.poll(ctx, stage, record.ProbeBegin)
	every := time.Duration(l.Plan.Probes.Interval)
	if every == 0 {
		every = plan.ProbeInterval
	}
	during, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-during.Done():
				return
			case <-tick.C:
				l.poll(during, stage, record.ProbeDuring)
			}
			if n%manyLooks == 0 {
				every *= 2
				tick.Reset(every)
			}
		}
	}()
	return func() {
		stop()
		<-done
		l.poll(ctx, stage, record.ProbeEnd)
	}
}
