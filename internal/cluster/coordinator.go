package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/lib/cond"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/executor"
)

// Options are what a Coordinator works with.
type Options struct {
	Bus     *bus.Bus // within the subjects of the run
	Workers int
	Version string        // workers of another one are refused
	Wait    time.Duration // how long workers may take to join and to prepare
	Own     bool          // the NATS is this run's alone
	Chosen  bool          // the run's ID is the user's choice: another run may have it
	Log     io.Writer
}

// Coordinator has a run sent by workers. It implements executor.Workers.
type Coordinator struct {
	opt    Options
	plan   *plan.Plan // nil until Prepare, as intake; guarded by state until then
	intake *executor.WorkerRecords
	roster []record.WorkerInfo
	stops  []func() // end what was begun, the last first

	life context.Context // until Close
	end  context.CancelFunc

	state   cond.Cond // guards the following, and what is known of members
	members []*member
	stage   *sharedStage // in flight, or nil
	orders  uint64       // stages that were ordered
	next    int64        // number of the first prompt not taken
	ending  error        // why the run takes nothing any more; nil means it does
}

// errOver means that the run has ended as it should.
var errOver = errors.New("the run is over")

// newCoordinator makes a Coordinator that is not yet announced.
func newCoordinator(o Options) *Coordinator {
	c := &Coordinator{opt: o}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// Open makes a Coordinator: from now on workers can join. Close must be called.
func Open(o Options) (*Coordinator, error) {
	c := newCoordinator(o)
	if err := c.claim(); err != nil {
		c.end()
		return nil, err
	}
	if err := c.listen(); err != nil {
		return nil, errors.Join(err, c.Close(err))
	}
	go c.announce()
	go c.watch()
	return c, nil
}

// claimFor is how long the coordinator of another run of the same ID may take to answer.
const claimFor = 500 * time.Millisecond

// claim makes sure that no other run has this ID.
func (c *Coordinator) claim() error {
	if !c.opt.Chosen {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.life, claimFor)
	defer cancel()
	_, err := bus.Request[none](ctx, c.opt.Bus, onRenew, from{})
	var no *bus.RemoteError
	if errors.As(err, &no) {
		return fmt.Errorf("a run of the ID %s is in progress on this NATS: choose another ID", c.opt.Bus.Run())
	}
	return nil
}

func (c *Coordinator) listen() error {
	b := c.opt.Bus
	var errs []error
	add := func(stop func(), err error) {
		if errs = append(errs, err); err == nil {
			c.stops = append(c.stops, stop)
		}
	}
	add(bus.Handle(b, onJoin, c.join))
	add(bus.Handle(b, onPlan, c.assign))
	add(bus.Handle(b, onRenew, c.renew))
	add(bus.Handle(b, onClock, c.clock))
	add(bus.Handle(b, onReady, c.ready))
	add(bus.Handle(b, onMark, c.mark))
	add(bus.Handle(b, onLeave, c.leave))
	add(bus.Handle(b, onBye, c.bye))
	add(bus.Subscribe(b, onStatus, c.status))
	return errors.Join(errs...)
}

// finds reports whether a condition holds, which it looks at under the lock.
func (c *Coordinator) finds(condition func() bool) bool {
	c.state.Lock()
	defer c.state.Unlock()
	return condition()
}

func (c *Coordinator) all() []*member {
	c.state.Lock()
	defer c.state.Unlock()
	return slices.Clone(c.members)
}

// change changes what is known of a worker, by its key. Messages of others change nothing.
func (c *Coordinator) change(key string, f func(m *member) error) (err error) {
	c.state.Update(func() {
		i := slices.IndexFunc(c.members, func(m *member) bool { return m.key == key })
		switch {
		case i < 0:
			err = errors.New("not a worker of this run")
		case c.members[i].lost:
			err = errors.New("this worker was not heard in time and was given up")
		default:
			err = f(c.members[i])
		}
	})
	return err
}

// join gives a worker its place, or says why it gets none.
func (c *Coordinator) join(j joinRequest) (p joinResponse, err error) {
	c.state.Update(func() {
		p = joinResponse{Index: len(c.members), Of: c.opt.Workers, Run: c.opt.Bus.Run()}
		known := slices.IndexFunc(c.members, func(m *member) bool { return m.key == j.Key })
		switch {
		case j.Key == "":
			err = errors.New("a worker without a key")
		case j.Version != c.opt.Version:
			err = fmt.Errorf("worker %s: %w", j.Name, differs(c.opt.Version, j.Version))
		case c.ending != nil:
			err = fmt.Errorf("the run takes no more workers: %w", c.ending)
		case known >= 0:
			p.Index = known
		case slices.ContainsFunc(c.members, func(m *member) bool { return m.name == j.Name }):
			err = fmt.Errorf("a worker of the name %s has joined already: one that was lost cannot come back, and each needs a name of its own", j.Name)
		case len(c.members) == c.opt.Workers:
			p.Full = true
		default:
			c.members = append(c.members, &member{index: p.Index, key: j.Key, name: j.Name, host: j.Host, heard: time.Now()})
			fmt.Fprintf(c.opt.Log, "Worker %d of %d has joined: %s.\n", p.Index+1, p.Of, j.Name)
		}
	})
	return p, err
}

// assign gives a worker the plan once there is one.
func (c *Coordinator) assign(f from) (a assignment, err error) {
	if err := c.change(f.Key, func(*member) error { return nil }); err != nil {
		return a, err
	}
	err = c.state.Wait(c.life, func() bool { return c.plan != nil || c.ending != nil })
	c.state.Lock()
	defer c.state.Unlock()
	return assignment{Plan: c.plan}, cmp.Or(c.ending, err)
}

func (c *Coordinator) renew(f from) (none, error) {
	return none{}, c.change(f.Key, func(m *member) error {
		m.heard = time.Now()
		return nil
	})
}

// clock tells what time it is in the run.
func (c *Coordinator) clock(none) (time.Duration, error) {
	c.state.Lock()
	defer c.state.Unlock()
	if c.intake == nil {
		return 0, errors.New("the run's clock does not go yet")
	}
	return c.intake.Now(), nil
}

func (c *Coordinator) ready(r readiness) (none, error) {
	return none{}, c.change(r.Key, func(m *member) error {
		if r.Fault != "" {
			m.fault = fmt.Errorf("worker %s: %s", m.name, r.Fault)
		} else {
			m.ready, m.warnings = true, r.Warnings
			m.heed(r.Clock)
		}
		return nil
	})
}

// leave gives a worker no more to do. What it has in flight it may end.
func (c *Coordinator) leave(l leaving) (none, error) {
	return none{}, c.change(l.Key, func(m *member) error {
		if m.leaving != nil || c.intake == nil {
			return nil
		}
		m.leaving, m.gone = &l, min(max(l.At, 0), c.intake.Now())
		m.heed(l.Clock)
		why := "was told to stop"
		if l.Cut {
			why = fmt.Sprintf("did not hear the coordinator for %s", leaseFor)
		}
		fmt.Fprintf(c.opt.Log, "warning: worker %s %s and leaves: the run goes on without it.\n", m.name, why)
		return nil
	})
}

// bye lets a worker go.
func (c *Coordinator) bye(f from) (none, error) {
	return none{}, c.change(f.Key, func(m *member) error {
		if m.left = true; m.inbox != nil {
			go m.inbox.Close(c.life) // its stream is gone
		}
		return nil
	})
}

// Prepare implements executor.Workers.
func (c *Coordinator) Prepare(ctx context.Context, p *plan.Plan, in *executor.WorkerRecords) error {
	if err := c.opt.Bus.RemoveRecords(ctx); err != nil {
		return fmt.Errorf("removing what an earlier run of the same ID has left in NATS: %w", err)
	}
	c.state.Update(func() { c.plan, c.intake = p, in })
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
		return fmt.Errorf("waiting for workers: %w: %s%s", err, c.missing(), c.cut())
	}
	c.warn()
	c.roster = c.list()
	c.intake.Workers(c.roster)
	for _, m := range c.all() {
		if err := m.open(ctx, c); err != nil {
			return err
		}
	}
	c.state.Lock()
	defer c.state.Unlock()
	return c.fault() // of one that was lost meanwhile
}

func (c *Coordinator) complete() bool {
	return len(c.members) == c.opt.Workers && !slices.ContainsFunc(c.members, func(m *member) bool { return !m.ready })
}

// fault is the first that a worker has met.
func (c *Coordinator) fault() error {
	for _, m := range c.members {
		if m.fault != nil {
			return m.fault
		}
		if m.leaving != nil {
			return fmt.Errorf("worker %s left before the start", m.name)
		}
	}
	return nil
}

func (c *Coordinator) missing() string {
	c.state.Lock()
	defer c.state.Unlock()
	var preparing []string
	for _, m := range c.members {
		if !m.ready {
			preparing = append(preparing, m.name)
		}
	}
	text := fmt.Sprintf("%d of %d have joined", len(c.members), c.opt.Workers)
	if len(preparing) > 0 {
		text += ", still preparing: " + strings.Join(preparing, ", ")
	}
	return text
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

// Close ends the workers; why is what ended the run before its time, or nil. It takes as long as the workers' last records do, and
// not longer than stalledAfter where those do not come.
func (c *Coordinator) Close(why error) error {
	defer c.end()
	c.state.Update(func() { c.ending = cmp.Or(why, errOver) })
	ctx, cancel := c.reachable()
	defer cancel()
	var last ending
	if why != nil {
		last.Reason = why.Error()
	}
	var each sync.WaitGroup
	for _, m := range c.all() {
		each.Go(func() { c.dismiss(ctx, m, last) })
	}
	each.Wait()
	for _, stop := range slices.Backward(c.stops) {
		stop()
	}
	if c.opt.Bus.Away() > 0 {
		return nil // NATS keeps the records in memory alone, and the workers have them
	}
	removing, stop := context.WithTimeout(ctx, askFor)
	defer stop()
	return c.opt.Bus.RemoveRecords(removing)
}

// reachable is a context for the end of the run: it is over when NATS is gone, too.
func (c *Coordinator) reachable() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.life)
	go func() {
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for ctx.Err() == nil && c.opt.Bus.Away() < leaseFor {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		cancel()
	}()
	return ctx, cancel
}

// dismiss has a worker end, and takes what is left of its records.
func (c *Coordinator) dismiss(ctx context.Context, m *member, why ending) {
	why.Unread = m.inbox == nil
	if c.finds(func() bool { return !m.idle() }) { // one that leaves ends by itself, and may not answer any more
		limit := askFor
		if why.Unread { // it may end before it has answered
			limit = tellFor
		}
		asking, cancel := context.WithTimeout(ctx, limit)
		_, _ = bus.Request[none](asking, c.opt.Bus, to(onEnd, m.key), why) // who is not reached has a lease that runs out
		cancel()
	}
	if m.inbox == nil {
		return
	}
	for c.finds(func() bool { return !m.over() && !m.stuck }) && ctx.Err() == nil {
		var before uint64
		c.state.Update(func() { before = m.read })
		moving, cancel := context.WithTimeout(ctx, stalledAfter)
		err := c.state.Wait(moving, func() bool { return m.over() || m.stuck || m.read > before })
		cancel()
		if err != nil {
			break
		}
	}
	m.inbox.Close(ctx)
	m.stop()
	<-m.done
}
