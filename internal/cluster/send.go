package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

type sharedStage struct {
	index     int
	order     uint64
	members   []*member // that send it
	live      *engine.Counters
	ended     map[*member]ended
	last      map[*member]status // what each has reported last
	over      bool               // it has ended for all, and is marked so
	abandoned bool               // no longer awaited
}

// Send implements executor.Workers.
func (c *Coordinator) Send(ctx context.Context, t load.Spec, stop <-chan record.StopReason,
	live *engine.Counters) (record.StageSummary, error) {
	st := c.begin(&t, live)
	defer c.state.Update(func() { c.stage = nil })
	over, finish := context.WithCancel(c.life)
	ordering, halted := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { c.obey(ctx, over, st, stop, halted) })
	err := c.order(ordering, st, t)
	if errors.Is(context.Cause(ordering), errHalted) {
		err = nil
	}
	start := c.intake.Now() + c.lead(st)
	live.Begun(t.Index, start)
	if err != nil {
		c.halt(over, st, halt{Order: st.order, Reason: record.StopInterrupted, Abort: true})
	} else if ordering.Err() == nil {
		for _, m := range st.members {
			beside.Go(func() { c.notify(over, m, onGo, begin{Order: st.order, At: start}) })
		}
	}
	// Each worker reports, or its lease runs out.
	_ = c.state.Wait(c.life, func() bool { return c.ended(st) })
	finish()
	halted(nil)
	beside.Wait()
	c.intake.Clocks(c.list())
	mark, gone := c.joined(st, start)
	live.Measured(t.Index, mark.WarmupEnd)
	live.Halted(t.Index, mark.SendEnd)
	c.state.Update(func() { st.over = true })
	c.collect(ctx, st)
	return mark, errors.Join(err, c.faults(st), gone)
}

func (c *Coordinator) begin(t *load.Spec, live *engine.Counters) *sharedStage {
	work := t.Compile(nil)
	all := c.all()
	st := &sharedStage{index: t.Index, members: all[:work.Senders(len(all))], live: live, ended: map[*member]ended{},
		last: map[*member]status{}}
	if n := len(st.members); n < len(all) {
		fmt.Fprintf(c.opt.Log, "Stage %d is sent by %d of %d workers: there are too few requests, slots or sessions for more, or what is sent depends on all answers.\n", t.Index+1, n, len(all))
	}
	c.state.Update(func() {
		c.orders++
		st.order, c.stage, t.First = c.orders, st, c.next
	})
	return st
}

// lead is how long before a stage begins its time must be told, so that all hear of it.
func (c *Coordinator) lead(st *sharedStage) time.Duration {
	c.state.Lock()
	defer c.state.Unlock()
	var slowest time.Duration // half a round trip
	for _, m := range st.members {
		slowest = max(slowest, m.clock.Bound)
	}
	return lead + 4*min(slowest, leaseFor)
}

// order has all workers get ready for a stage.
func (c *Coordinator) order(ctx context.Context, st *sharedStage, t load.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, c.opt.Wait)
	defer cancel()
	errs := make([]error, len(st.members))
	var each sync.WaitGroup
	for i, m := range st.members {
		each.Go(func() {
			_, err := ask[none](ctx, c, m, onOrder, prepareStage{st.order, t, c.roster})
			c.state.Lock()
			defer c.state.Unlock()
			if err != nil && !m.idle() {
				errs[i] = fmt.Errorf("worker %s does not get ready for stage %d: %w", m.name, t.Index+1, err)
			}
		})
	}
	each.Wait()
	return errors.Join(errs...)
}

// ask asks a worker for something, unless it is given up or leaves before it answers.
func ask[A any](ctx context.Context, c *Coordinator, m *member, subject string, question any) (A, error) {
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if c.finds(m.idle) {
		cancel(errGone)
	}
	go func() {
		if c.state.Wait(asking, m.idle) == nil {
			cancel(errGone)
		}
	}()
	return bus.Request[A](asking, c.opt.Bus, to(subject, m.key), question)
}

// errGone means that a worker is given up, or leaves.
var errGone = errors.New("the worker is gone")

// notify has a worker know of something; one that cannot be reached has a lease that runs out.
func (c *Coordinator) notify(ctx context.Context, m *member, subject string, what any) {
	_, _ = ask[none](ctx, c, m, subject, what)
}

// errHalted means that a stage is ended while workers get ready for it.
var errHalted = errors.New("the stage was stopped")

// halt tells all workers of a stage to send no more. For those that have not heard of the stage it has ended.
func (c *Coordinator) halt(ctx context.Context, st *sharedStage, h halt) {
	for _, m := range st.members {
		go func() {
			answer, err := ask[halted](ctx, c, m, onHalt, h)
			if err != nil || !answer.Unknown {
				return
			}
			c.state.Update(func() {
				if _, has := st.ended[m]; !has && !st.over {
					now := c.intake.Now()
					st.ended[m] = ended{Mark: record.StageSummary{Stage: st.index,
						StageTimes: record.StageTimes{Begin: now, WarmupEnd: now, SendEnd: now, DrainEnd: now}, Reason: h.Reason}}
				}
			})
		}()
	}
}

// obey ends a stage where that is asked for, until it is over: orderly when stop yields, and at once when ctx ends.
func (c *Coordinator) obey(ctx, over context.Context, st *sharedStage, stop <-chan record.StopReason, halted context.CancelCauseFunc) {
	for {
		select {
		case reason, open := <-stop:
			if !open {
				stop, reason = nil, record.StopInterrupted
			}
			halted(errHalted)
			c.halt(over, st, halt{Order: st.order, Reason: reason})
		case <-ctx.Done():
			c.halt(over, st, halt{Order: st.order, Reason: record.StopInterrupted, Abort: true})
			select {
			case <-over.Done():
			case <-time.After(abortFor):
				c.state.Update(func() { st.abandoned = true })
			}
			return
		case <-over.Done():
			return
		}
	}
}

// ended reports whether a stage has ended for all workers that are left.
func (c *Coordinator) ended(st *sharedStage) bool {
	for _, m := range st.members {
		if _, has := st.ended[m]; !has && !m.over() && m.fault == nil && !st.abandoned {
			return false
		}
	}
	return true
}

// collect takes in what the workers have recorded of a stage. After the user has asked for the end for the second time it does not
// wait for long.
func (c *Coordinator) collect(ctx context.Context, st *sharedStage) {
	waiting, cancel := context.WithCancel(c.life)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(abortFor, cancel) })()
	var each sync.WaitGroup
	for _, m := range st.members {
		each.Go(func() {
			var frames uint64
			c.state.Update(func() { frames = st.ended[m].Frames })
			m.taken(waiting, c, frames)
			if c.finds(m.over) {
				m.drained(waiting) // what it had in flight is known then
			}
			m.complete(c, frames)
		})
	}
	each.Wait()
}

// mark takes how a stage went for a worker.
func (c *Coordinator) mark(e ended) (none, error) {
	return none{}, c.change(e.Key, func(m *member) error {
		st := c.stage
		if st == nil || st.order != e.Order || st.over {
			return nil
		}
		e.Mark = e.checked(c.intake.Now())
		e.Mark.Stage = st.index
		st.ended[m] = e
		st.last[m] = status{At: e.Mark.DrainEnd, WarmupEnd: e.Mark.WarmupEnd, SendEnd: e.Mark.SendEnd}
		st.window()
		c.next = max(c.next, e.Next)
		m.heed(e.Clock)
		return nil
	})
}

// status takes how far a worker has come. The measured part begins when it does for all, and ends
// with the last request of any.
func (c *Coordinator) status(s status) {
	_ = c.change(s.Key, func(m *member) error {
		if s.Fault != "" && m.fault == nil && c.intake != nil {
			c.intake.Fail(fmt.Errorf("worker %s: %s", m.name, s.Fault))
		}
		m.heed(s.Clock)
		st := c.stage
		if st == nil || st.order != s.Order {
			return nil
		}
		st.live.Follow(m.index, max(s.Sent, 0), max(s.InFlight, 0))
		if _, over := st.ended[m]; !over && s.At >= st.last[m].At {
			st.last[m] = s
		}
		st.window()
		return nil
	})
}

// window works out the measured part of a stage, as far as it is known.
func (st *sharedStage) window() {
	var from, to time.Duration
	sending := false
	for _, m := range st.members {
		s, heard := st.last[m]
		switch {
		case m.idle() && !heard:
			continue
		case !heard || s.WarmupEnd == record.Never:
			return
		}
		from, to = max(from, s.WarmupEnd), max(to, s.SendEnd)
		sending = sending || s.SendEnd == record.Never && !m.over()
	}
	st.live.Measured(st.index, from)
	if !sending {
		st.live.Halted(st.index, to)
	}
}

// certain reports whether of requests that ended by a time it is known if that was in the measured
// part of their stage: all workers have told how far they were then.
func (c *Coordinator) certain(at time.Duration) bool {
	st := c.stage
	if st == nil || st.over || at == 0 {
		return true
	}
	for _, m := range st.members {
		s, heard := st.last[m]
		switch {
		case m.over(), m.idle() && !heard: // it does not send the stage
		case !heard, s.At < at && s.SendEnd == record.Never:
			return false
		}
	}
	return true
}

// joined is the mark of a stage as a whole: from the first that began to the last that ended.
func (c *Coordinator) joined(st *sharedStage, start time.Duration) (record.StageSummary, error) {
	c.state.Lock()
	defer c.state.Unlock()
	now := c.intake.Now()
	all := record.StageSummary{Stage: st.index, StageTimes: record.StageTimes{Begin: start, WarmupEnd: start, SendEnd: start, DrainEnd: start}}
	for _, m := range st.members {
		e, has := st.ended[m]
		if !has || e.Left {
			gone := record.LostWorker{Worker: m.index + 1, At: m.gone, Told: m.leaving != nil && !m.lost}
			if gone.Cut = gone.Told && m.leaving.Cut; !m.idle() {
				gone.At = now
			}
			all.Gone = append(all.Gone, gone)
		}
		if !has {
			all.DrainEnd = max(all.DrainEnd, now)
			continue
		}
		k := e.Mark
		if k.Begin = start; e.Left {
			k.Reason = "" // that of the others is why the stage ended
		}
		all.Join(k)
	}
	if all.Reason == "" {
		all.Reason = record.StopInterrupted // no worker is left
		return all, fmt.Errorf("all workers are gone%s", c.cut())
	}
	return all, nil
}

// faults are what the workers of a stage could not do.
func (c *Coordinator) faults(st *sharedStage) error {
	c.state.Lock()
	defer c.state.Unlock()
	var errs []error
	for _, m := range st.members {
		errs = append(errs, m.fault)
		if e := st.ended[m]; e.Fault != "" {
			errs = append(errs, fmt.Errorf("worker %s: %s", m.name, e.Fault))
		}
	}
	return errors.Join(errs...)
}

// Sync implements executor.Workers.
func (c *Coordinator) Sync(ctx context.Context) {
	var each sync.WaitGroup
	for _, m := range c.all() {
		if c.finds(m.idle) {
			continue // what there is of it is here
		}
		each.Go(func() {
			asking, cancel := context.WithTimeout(ctx, askFor)
			defer cancel()
			if f, err := ask[flushed](asking, c, m, onFlush, none{}); err == nil {
				f.Status.Key = m.key
				c.status(f.Status)
				_ = c.state.Wait(asking, func() bool { return m.read >= f.Frames || m.over() || m.stuck })
			}
		})
	}
	each.Wait()
}
