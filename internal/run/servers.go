package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"inferometer/internal/endpoint"
	"inferometer/internal/plan"
	serverprobe "inferometer/internal/probe"
	"inferometer/internal/record"
	"inferometer/internal/sweep"
)

// servers asks the servers of a run about themselves.
type servers struct {
	list  []serverprobe.Prober // by URL
	pages []serverprobe.Page   // of metrics, as the plan names them
	hide  []string             // secrets that a server may repeat
	gpus  sweep.GPUs           // since the last edge of a window
}

// makeServers makes what the plan wants to ask its servers with.
func (r *run) makeServers(ctx context.Context, secret secrets) error {
	p := r.plan
	o := endpoint.Options{Clock: r.clock, TLS: secret.tls, Key: secret.key}
	if err := r.makeArchive(ctx, o); err != nil {
		return err
	}
	newProbe, ok := r.opt.Kit.Probes[p.Target.Protocol]
	statistics := ok && (p.TakesStatistics() || p.Probes.Metrics != "")
	if !statistics && len(p.Probes.Scrape) == 0 {
		return nil
	}
	r.servers = &servers{hide: secret.hide(p.Target)}
	for i := range p.Probes.Scrape {
		r.servers.pages = append(r.servers.pages, r.opt.Kit.Pages(p, i, o))
	}
	if !statistics {
		return nil
	}
	r.probe = r.servers
	for i := range p.Target.URLs {
		one, err := newProbe(p, i, o)
		if err != nil {
			return fmt.Errorf("asking %s about itself: %w", plan.SafeURL(p.Target.URLs[i]), err)
		}
		r.servers.list = append(r.servers.list, one)
	}
	return nil
}

func (s *servers) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, p := range s.list {
		errs = append(errs, p.Close())
	}
	for _, p := range s.pages {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// ask asks all servers at once. settle waits until their totals stand still.
func (s *servers) ask(ctx context.Context, settle bool) (targets []record.TargetProbe, busy bool) {
	targets = make([]record.TargetProbe, len(s.list))
	moving := make([]bool, len(s.list))
	var wg sync.WaitGroup
	for i, p := range s.list {
		wg.Go(func() {
			var err error
			if settle {
				targets[i].Server, moving[i], err = serverprobe.Settled(ctx, p)
			} else {
				targets[i].Server, err = p.Snapshot(ctx)
			}
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
func (s *servers) clean(text string) string {
	for _, secret := range s.hide {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}

// Snapshot is what all servers together say, for the windows of a measurement.
func (s *servers) Snapshot(ctx context.Context) (*record.Snapshot, error) {
	targets, _ := s.ask(ctx, false)
	var all []*record.Snapshot
	for _, t := range targets {
		if t.Server == nil {
			return nil, errors.New(t.Error)
		}
		all = append(all, t.Server)
	}
	return serverprobe.Sum(all), nil
}

// look asks the servers at one place of a stage and takes down what they say.
func (r *run) look(ctx context.Context, stage int, edge string) {
	reading := r.servers.read(ctx, edge != record.ProbeDuring)
	targets, busy := r.servers.ask(ctx, edge != record.ProbeDuring)
	pages := <-reading
	if edge == record.ProbeDuring && ctx.Err() != nil {
		return // the stage ended before they had answered
	}
	for _, t := range targets {
		if t.Server != nil && edge == record.ProbeDuring {
			r.servers.gpus.Add(t.Server.GPUs)
		}
	}
	p := record.Probe{Stage: stage, Edge: edge, At: r.clock.Now(), Busy: busy, Targets: targets, Pages: pages}
	r.output.note(r.output.probe(p))
	r.facts.AddProbe(r.plan, p)
}

// manyLooks is after how many looks at the servers they are asked half as often, so that
// a stage of a day does not fill the memory with them.
const manyLooks = 1000

// overlook asks the servers before a stage and from time to time while it runs. The
// function that it gives asks them once more, when nothing is in flight.
func (r *run) overlook(ctx context.Context, stage int) (end func()) {
	if r.servers == nil {
		return func() {}
	}
	r.look(ctx, stage, record.ProbeBegin)
	every := time.Duration(r.plan.Probes.Interval)
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
				r.look(during, stage, record.ProbeDuring)
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
		r.look(ctx, stage, record.ProbeEnd)
	}
}
