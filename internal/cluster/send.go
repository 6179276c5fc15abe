package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
)

// Send implements run.Fleet.
func (c *Coordinator) Send(ctx context.Context, t run.Task, stop <-chan record.StopReason, live *engine.Live) (record.StageMark, error) {
	work := t.Load(c.plan)
	st := &stage{index: t.Index, members: c.members[:work.Senders(len(c.members))], live: live, ended: map[int]ended{}, last: map[int]status{}}
	if n := len(st.members); n < len(c.members) {
		fmt.Fprintf(c.opt.Log, "Stage %d is sent by %d of %d workers: there are too few requests, slots or sessions for more, or what is sent depends on all answers.\n", t.Index+1, n, len(c.members))
	}
	c.state.Update(func() { c.stage, t.First = st, c.next })
	defer c.state.Update(func() { c.stage = nil })
	if err := c.order(ctx, st, t); err != nil {
		return record.StageMark{Stage: t.Index, Reason: record.StopInterrupted}, err
	}
	start := c.intake.Now() + lead
	live.Begun(t.Index, start)
	if err := bus.Tell(c.opt.Bus, onGo, begin{Stage: t.Index, At: start}); err != nil {
		return record.StageMark{Stage: t.Index, Begin: start, Reason: record.StopInterrupted}, err
	}
	over := make(chan struct{})
	var watched sync.WaitGroup
	watched.Go(func() { c.obey(ctx, t.Index, stop, over) })
	// A stage ends by itself, or is told to: it is worth waiting for as long as it takes.
	err := c.state.Wait(context.Background(), func() bool { return c.ended(st) })
	close(over)
	watched.Wait()
	c.intake.Clocks(c.list())
	mark, faults := c.joined(st, start)
	live.Measured(t.Index, mark.WarmupEnd)
	live.Halted(t.Index, mark.SendEnd)
	c.state.Update(func() { st.over = true })
	for _, m := range st.members {
		if c.finds(m.over) {
			<-m.done // what it had under way is known then
			continue
		}
		err = errors.Join(err, c.taken(context.WithoutCancel(ctx), m, st.ended[m.index].Frames))
	}
	return mark, errors.Join(err, faults)
}

// taken waits until so many frames of a worker were taken in, or there will be no more.
func (c *Coordinator) taken(ctx context.Context, m *member, frames uint64) error {
	return c.state.Wait(ctx, func() bool { return m.read >= frames || m.over() || m.stuck })
}

// order has all workers get ready for a stage.
func (c *Coordinator) order(ctx context.Context, st *stage, t run.Task) error {
	ctx, cancel := context.WithTimeout(ctx, c.opt.Wait)
	defer cancel()
	errs := make([]error, len(st.members))
	var all sync.WaitGroup
	for i, m := range st.members {
		all.Go(func() {
			asking, cancel := context.WithCancel(ctx)
			defer cancel()
			go func() { // one that is gone does not answer any more
				if c.state.Wait(asking, func() bool { return m.lost || m.told }) == nil {
					cancel()
				}
			}()
			_, err := bus.Ask[none](asking, c.opt.Bus, to(onOrder, m.index), order{t, c.roster})
			c.state.Lock()
			defer c.state.Unlock()
			if err != nil && !m.lost && !m.told {
				errs[i] = fmt.Errorf("worker %s does not get ready for stage %d: %w", m.name, t.Index+1, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// obey tells all workers to send no more where that is asked for.
func (c *Coordinator) obey(ctx context.Context, index int, stop <-chan record.StopReason, over <-chan struct{}) {
	tell := func(h halt) {
		if err := bus.Tell(c.opt.Bus, onHalt, h); err != nil {
			fmt.Fprintf(c.opt.Log, "warning: telling the workers to stop: %v\n", err)
		}
	}
	for {
		select {
		case reason, open := <-stop:
			if !open {
				stop, reason = nil, record.StopInterrupted
			}
			tell(halt{Stage: index, Reason: reason})
		case <-ctx.Done():
			tell(halt{Stage: index, Reason: record.StopInterrupted, Abort: true})
			<-over
			return
		case <-over:
			return
		}
	}
}

// ended reports whether a stage has ended for all workers that are left.
func (c *Coordinator) ended(st *stage) bool {
	for _, m := range st.members {
		if _, has := st.ended[m.index]; !has && !m.over() && m.fault == nil {
			return false
		}
	}
	return true
}

// mark takes how a stage went for a worker.
func (c *Coordinator) mark(e ended) (none, error) {
	c.state.Update(func() {
		if c.stage != nil && c.stage.index == e.Mark.Stage {
			c.stage.ended[e.Index] = e
			c.stage.last[e.Index] = status{At: e.Mark.DrainEnd, From: e.Mark.WarmupEnd, To: e.Mark.SendEnd}
			c.stage.window()
			c.next, c.members[e.Index].clock = max(c.next, e.Next), e.Clock
		}
	})
	return none{}, nil
}

// status takes how far a worker has come. The measured part begins when it does for all, and ends
// with the last request of any.
func (c *Coordinator) status(s status) {
	c.state.Update(func() {
		st := c.stage
		if st == nil || st.index != s.Stage {
			return
		}
		st.live.Follow(s.Index, s.Sent, s.InFlight)
		if _, over := st.ended[s.Index]; !over {
			st.last[s.Index] = s
		}
		st.window()
	})
}

// window works out the measured part of a stage, as far as it is known.
func (st *stage) window() {
	var from, to time.Duration
	sending := false
	for _, m := range st.members {
		s, heard := st.last[m.index]
		switch {
		case m.over() && !heard:
			continue
		case !heard || s.From == record.Never:
			return
		}
		from, to = max(from, s.From), max(to, s.To)
		sending = sending || s.To == record.Never && !m.over()
	}
	st.live.Measured(st.index, from)
	if !sending {
		st.live.Halted(st.index, to)
	}
}

// certain reports whether of requests that ended by a moment it is known if that was in the measured
// part of their stage: all workers have told how far they were at that moment.
func (c *Coordinator) certain(at time.Duration) bool {
	st := c.stage
	if st == nil || st.over || at == 0 {
		return true
	}
	for _, m := range st.members {
		if s, heard := st.last[m.index]; !m.over() && (!heard || s.At < at && s.To == record.Never) {
			return false
		}
	}
	return true
}

// joined is the mark of a stage as a whole: from the first that began to the last that ended.
func (c *Coordinator) joined(st *stage, start time.Duration) (record.StageMark, error) {
	c.state.Lock()
	defer c.state.Unlock()
	all := record.StageMark{Stage: st.index, Begin: start, WarmupEnd: start, SendEnd: start, DrainEnd: start}
	var errs []error
	for _, m := range st.members {
		e, has := st.ended[m.index]
		if m.fault != nil {
			errs = append(errs, m.fault)
		}
		if !has || e.Left {
			all.Gone = append(all.Gone, record.Gone{Worker: m.index + 1, At: m.gone, Told: m.told && !m.lost})
		}
		if !has {
			all.DrainEnd = max(all.DrainEnd, c.intake.Now())
			continue
		}
		if e.Fault != "" {
			errs = append(errs, fmt.Errorf("worker %s: %s", m.name, e.Fault))
		}
		k := e.Mark
		if k.Begin = start; e.Left {
			k.Reason = "" // that of the others is why the stage ended
		}
		all.Join(k)
	}
	if all.Reason == "" {
		all.Reason = record.StopInterrupted // nobody is left
		errs = append(errs, errors.New("all workers are gone"))
	}
	return all, errors.Join(errs...)
}

// Settle implements run.Fleet.
func (c *Coordinator) Settle(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range c.members {
		if c.finds(func() bool { return m.lost || m.told }) {
			continue // what there is of it is here
		}
		all.Go(func() {
			asking, cancel := context.WithTimeout(ctx, askFor)
			defer cancel()
			if f, err := bus.Ask[flushed](asking, c.opt.Bus, to(onFlush, m.index), none{}); err == nil {
				c.status(f.Status)
				_ = c.taken(asking, m, f.Frames)
			}
		})
	}
	all.Wait()
}
