package run

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
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/sweep"
)

// servers asks the servers of a run about themselves.
type servers struct {
	list  []probe.Prober // by URL
	pages []probe.Page   // of metrics, as the plan names them
	hide  []string       // secrets that a server may repeat
	gpus  sweep.GPUs     // since the last edge of a window
}

// servers makes what the plan wants to ask its servers with; nil: they are not asked about
// themselves.
func (prep *setup) servers(secret target.Secrets) (*servers, error) {
	p := prep.plan
	o := endpoint.Options{Clock: prep.clock, TLS: secret.TLS, Key: secret.Key, Getenv: prep.opt.Kit.Getenv}
	statistics := prep.protocol.Probe != nil && (p.TakesStatistics() || p.Probes.Metrics != "")
	if !statistics && len(p.Pages()) == 0 {
		return nil, nil
	}
	s := &servers{hide: secret.Texts(p.Target)}
	prep.onClose(s.close)
	for i := range p.Pages() {
		s.pages = append(s.pages, prep.opt.Kit.Pages(p, i, o))
	}
	if !statistics {
		return s, nil
	}
	for i := range p.Target.URLs {
		one, err := prep.protocol.Probe(p, i, o)
		if err != nil {
			return nil, fmt.Errorf("reading server metadata from %s: %w", plan.SafeURL(p.Target.URLs[i]), err)
		}
		s.list = append(s.list, one)
	}
	return s, nil
}

func (s *servers) close() {
	for _, p := range s.list {
		_ = p.Close()
	}
	for _, p := range s.pages {
		_ = p.Close()
	}
}

// snapshotAll asks all servers at once. settle waits until their totals stand still.
func (s *servers) snapshotAll(ctx context.Context, settle bool) (targets []record.TargetProbe, busy bool) {
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
func (s *servers) clean(text string) string { return target.Redact(text, s.hide) }

// Snapshot is what all servers together say, for the windows of a measurement.
func (s *servers) Snapshot(ctx context.Context) (*record.Snapshot, error) {
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

// serverMonitor asks the servers about themselves while stages run.
type serverMonitor struct {
	servers *servers // nil: they are not asked
	plan    *plan.Plan
	now     func() time.Duration
	journal *rundir.Journal
}

// poll asks the servers at one place of a stage and takes down what they say.
func (l *serverMonitor) poll(ctx context.Context, stage int, edge string) {
	reading := l.servers.read(ctx, edge != record.ProbeDuring)
	targets, busy := l.servers.snapshotAll(ctx, edge != record.ProbeDuring)
	pages := <-reading
	if edge == record.ProbeDuring && ctx.Err() != nil {
		return // the stage ended before they had answered
	}
	for _, t := range targets {
		if t.Server != nil && edge == record.ProbeDuring {
			l.servers.gpus.Add(t.Server.GPUs)
		}
	}
	l.journal.AddProbe(record.Probe{Stage: stage, Edge: edge, At: l.now(), Busy: busy, Targets: targets, Pages: pages})
}

// manyLooks is after how many looks at the servers they are asked half as often, so that
// a stage of a day does not fill the memory with them.
const manyLooks = 1000

// watch asks the servers before a stage and from time to time while it runs. The
// function that it gives asks them once more, when nothing is in flight.
func (l *serverMonitor) watch(ctx context.Context, stage int) (end func()) {
	if l.servers == nil {
		return func() {}
	}
	l.poll(ctx, stage, record.ProbeBegin)
	every := time.Duration(l.plan.Probes.Interval)
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
