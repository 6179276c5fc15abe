package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/lib/cond"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
)

// Options are what a Coordinator works with.
type Options struct {
	Bus     *bus.Bus
	Workers int
	Version string        // workers of another one are refused
	Wait    time.Duration // how long workers may take to join and to prepare
	Log     io.Writer
}

// Coordinator has a run sent by workers. It implements run.Fleet.
type Coordinator struct {
	opt    Options
	id     string // of the run
	plan   *plan.Plan
	roster []record.WorkerInfo
	intake *run.Intake
	stops  []func() // end what was begun, the last first

	state   cond.Cond // guards the following, and what is known of members
	members []*member
	stage   *stage // under way; nil: none
	next    int64  // number of the first prompt that nobody has taken
	closing bool
}

// stage is what is known of a stage under way.
type stage struct {
	index   int
	members []*member // that send it
	live    *engine.Live
	ended   map[int]ended  // by worker
	last    map[int]status // what each has said last
	over    bool           // it has ended for all, and is marked so
}

// New makes a Coordinator.
func New(o Options) *Coordinator { return &Coordinator{opt: o, id: rand.Text()} }

// finds reports whether a condition holds, which it looks at under the lock.
func (c *Coordinator) finds(condition func() bool) bool {
	c.state.Lock()
	defer c.state.Unlock()
	return condition()
}

// Prepare implements run.Fleet.
func (c *Coordinator) Prepare(ctx context.Context, p *plan.Plan, in *run.Intake) error {
	c.plan, c.intake = p, in
	if err := c.opt.Bus.RemoveRecords(ctx); err != nil {
		return fmt.Errorf("removing what an earlier run of the same name has left in NATS: %w", err)
	}
	if err := c.listen(); err != nil {
		return err
	}
	c.watch()
	ctx, cancel := context.WithTimeoutCause(ctx, c.opt.Wait, fmt.Errorf("not all of %d workers were ready within %s", c.opt.Workers, c.opt.Wait))
	defer cancel()
	var fault error
	err := c.state.Wait(ctx, func() bool {
		fault = c.fault()
		return c.complete() || fault != nil
	})
	if fault != nil {
		return fault
	}
	if err != nil {
		return fmt.Errorf("waiting for workers: %w: %s", err, c.missing())
	}
	c.warn()
	c.roster = c.list()
	c.intake.Workers(c.roster)
	for _, m := range c.joinedBy() {
		if err := m.open(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// listen answers workers.
func (c *Coordinator) listen() error {
	b := c.opt.Bus
	var errs []error
	add := func(stop func(), err error) {
		if errs = append(errs, err); err == nil {
			c.stops = append(c.stops, stop)
		}
	}
	add(bus.Answer(b, onClock, func(none) (time.Duration, error) { return c.intake.Now(), nil }))
	add(bus.Answer(b, onJoin, c.join))
	add(bus.Answer(b, onReady, c.ready))
	add(bus.Answer(b, onMark, c.mark))
	add(bus.Answer(b, onLeave, c.leave))
	add(bus.Answer(b, onBye, c.bye))
	add(bus.Hear(b, onStatus, c.status))
	ctx, stop := context.WithCancel(context.Background())
	go b.Beat(ctx, coordinatorName, beatEvery)
	c.stops = append(c.stops, stop)
	return errors.Join(errs...)
}

// join gives a worker its place, or says why it gets none.
func (c *Coordinator) join(j joining) (p place, err error) {
	c.state.Update(func() {
		switch {
		case j.Version != c.opt.Version:
			err = fmt.Errorf("the run is of version %s, and worker %s of version %s: use the same program everywhere", c.opt.Version, j.Name, j.Version)
		case slices.ContainsFunc(c.members, func(m *member) bool { return m.name == j.Name }):
			err = fmt.Errorf("a worker of the name %s has joined already: one that was lost cannot come back, and each needs a name of its own", j.Name)
		case len(c.members) == c.opt.Workers:
			err = fmt.Errorf("the run has all of its %d workers", c.opt.Workers)
		default:
			p = place{Index: len(c.members), Of: c.opt.Workers, Run: c.id, Plan: c.plan}
			c.members = append(c.members, &member{index: p.Index, name: j.Name, host: j.Host, joined: time.Now()})
			fmt.Fprintf(c.opt.Log, "Worker %d of %d has joined: %s.\n", p.Index+1, p.Of, j.Name)
		}
	})
	return p, err
}

// ready counts a worker in.
func (c *Coordinator) ready(r readiness) (none, error) {
	c.state.Update(func() {
		if m := c.members[r.Index]; r.Fault != "" {
			m.fault = fmt.Errorf("worker %s: %s", m.name, r.Fault)
		} else {
			m.ready, m.clock, m.warnings = true, r.Clock, r.Warnings
		}
	})
	return none{}, nil
}

// leave gives a worker no more to do, which was told to stop. What it has under way it may end.
func (c *Coordinator) leave(l leaving) (none, error) {
	c.state.Update(func() {
		m := c.members[l.Index]
		m.told, m.gone = true, l.At
		fmt.Fprintf(c.opt.Log, "warning: worker %s was told to stop and leaves: the run goes on without it.\n", m.name)
	})
	return none{}, nil
}

// bye lets a worker go.
func (c *Coordinator) bye(index int) (none, error) {
	c.state.Update(func() { c.members[index].left = true })
	return none{}, nil
}

// complete reports whether all workers are ready.
func (c *Coordinator) complete() bool {
	return len(c.members) == c.opt.Workers && !slices.ContainsFunc(c.members, func(m *member) bool { return !m.ready })
}

// fault is the first that a worker has met.
func (c *Coordinator) fault() error {
	for _, m := range c.members {
		if m.fault != nil {
			return m.fault
		}
	}
	return nil
}

// missing says who is not there.
func (c *Coordinator) missing() string {
	c.state.Lock()
	defer c.state.Unlock()
	preparing := 0
	for _, m := range c.members {
		if !m.ready {
			preparing++
		}
	}
	return fmt.Sprintf("%d have joined, and %d of those are still preparing", len(c.members), preparing)
}

// watch gives up workers that are not heard any more.
func (c *Coordinator) watch() {
	pulse, err := c.opt.Bus.Pulse()
	if err != nil {
		fmt.Fprintf(c.opt.Log, "warning: workers that are lost will not be noticed: %v\n", err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stops = append(c.stops, pulse.Close, stop)
	began := time.Now()
	go func() {
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if c.opt.Bus.Away() > 0 { // this process is cut off itself
				began = time.Now()
				continue
			}
			for _, m := range c.joinedBy() {
				quiet, heard := pulse.Since(m.name)
				if !heard {
					quiet = time.Since(m.joined)
				}
				if min(quiet, time.Since(began)) > lostAfter {
					c.lose(ctx, m, quiet)
				}
			}
		}
	}()
}

// list describes the workers, as far as is known by now.
func (c *Coordinator) list() (list []record.WorkerInfo) {
	c.state.Lock()
	defer c.state.Unlock()
	for _, m := range c.members {
		list = append(list, record.WorkerInfo{Name: m.name, Host: m.host, ClockBound: m.clock.Bound, ClockJumped: m.clock.Jumped})
	}
	return list
}

// joinedBy are the workers by now.
func (c *Coordinator) joinedBy() []*member {
	c.state.Lock()
	defer c.state.Unlock()
	return slices.Clone(c.members)
}

// lose gives a worker up, which was last heard so long ago.
func (c *Coordinator) lose(ctx context.Context, m *member, since time.Duration) {
	first := false
	c.state.Update(func() {
		if first = !m.lost && !m.left && !c.closing; first {
			m.lost, m.gone = true, c.intake.Now()-since
		}
		if first && m.inbox == nil {
			m.fault, first = fmt.Errorf("worker %s was lost while it prepared: it was not heard for %s", m.name, lostAfter), false
		}
	})
	if !first {
		return
	}
	fmt.Fprintf(c.opt.Log, "warning: worker %s was not heard for %s and is given up: the run goes on without it.\n", m.name, lostAfter)
	if err := m.inbox.Lost(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(c.opt.Log, "warning: giving up worker %s: %v\n", m.name, err)
	}
}

// Close ends the workers.
func (c *Coordinator) Close() error {
	c.state.Update(func() { c.closing = true })
	ctx, cancel := context.WithTimeout(context.Background(), endFor)
	defer cancel()
	var all sync.WaitGroup
	for _, m := range c.members {
		if m.inbox == nil || c.finds(func() bool { return m.lost }) {
			continue
		}
		all.Go(func() {
			var err error
			if !c.finds(func() bool { return m.told }) { // such a one ends by itself, and may not answer any more
				_, err = bus.Ask[none](ctx, c.opt.Bus, to(onEnd, m.index), none{})
			}
			if err == nil {
				_ = c.state.Wait(ctx, m.over)
			}
			m.inbox.Close(ctx)
		})
	}
	all.Wait()
	for _, stop := range slices.Backward(c.stops) {
		stop()
	}
	return c.opt.Bus.RemoveRecords(ctx)
}
