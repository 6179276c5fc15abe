package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/record"
)

// member is a worker, as the coordinator sees it.
type member struct {
	index    int
	key      string
	name     string
	host     record.Host
	heard    time.Time // its lease was renewed last
	ready    bool
	clock    accuracy
	fault    error
	warnings []string
	lost     bool          // it was given up
	leaving  *leaving      // it ends before the run, and gets no more to do; nil means it does not
	gone     time.Duration // it was last heard, or sends nothing since
	left     bool          // it has ended, and its records are here
	stuck    bool          // its records cannot be taken in any more

	inbox *bus.Inbox
	stop  context.CancelFunc // ends taking its records in
	read  uint64             // frames of its records that were taken in
	done  chan struct{}      // closed when no more are
}

// over reports whether there will be no more of its records.
func (m *member) over() bool { return m.lost || m.left }

// heed takes what a worker says of its clock, where that can be: it was never off by more than at the worst time.
func (m *member) heed(a accuracy) {
	m.clock.Bound = max(m.clock.Bound, min(a.Bound, time.Hour))
	m.clock.Jumped = m.clock.Jumped || a.Jumped
}

// idle reports whether it gets no more to do.
func (m *member) idle() bool { return m.lost || m.left || m.leaving != nil }

// open begins to take in the records of a worker.
func (m *member) open(ctx context.Context, c *Coordinator) error {
	in, err := c.opt.Bus.Inbox(ctx, m.name)
	if err != nil {
		return fmt.Errorf("opening the records of worker %s: %w", m.name, err)
	}
	taking, stop := context.WithCancel(c.life)
	c.state.Update(func() { m.inbox, m.done, m.stop = in, make(chan struct{}), stop })
	go func() {
		defer close(m.done)
		if err := errors.Join(m.receive(taking, c), c.intake.End(m.index)); err != nil {
			m.fail(c, err)
		}
	}()
	return nil
}

// numbered is what a frame says, and the frame's number.
type numbered struct {
	record.FrameSummary
	frame uint64
}

// ahead is how many frames of a worker may be kept that are not taken into account yet.
const ahead = 64

// receive keeps the frames of a worker until there are no more, and has their requests taken into account.
func (m *member) receive(ctx context.Context, c *Coordinator) error {
	kept, taken := make(chan numbered, ahead), make(chan error, 1)
	go func() { taken <- m.account(ctx, c, kept) }()
	err := m.keep(ctx, c, kept)
	close(kept)
	return errors.Join(err, <-taken)
}

// keep writes the frames of a worker to the record file.
func (m *member) keep(ctx context.Context, c *Coordinator, kept chan<- numbered) error {
	for {
		frame, err := m.inbox.Next(ctx)
		if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		digest, records, err := record.SplitDigest(frame.Data)
		if err != nil {
			return err
		}
		c.intake.WriteFrame(records)
		m.inbox.Acknowledge(frame.Number)
		kept <- numbered{digest, frame.Number}
	}
}

// account takes requests into account as soon as it is certain which of them are measured. What is kept is taken into account also
// when it is no longer awaited: what was left out would count as in flight.
func (m *member) account(ctx context.Context, c *Coordinator, kept <-chan numbered) (err error) {
	for d := range kept {
		_ = c.state.Wait(ctx, func() bool { return c.certain(d.Latest) })
		if err == nil {
			err = c.intake.AddSummary(m.index, d.FrameSummary)
		}
		if err == nil {
			c.state.Update(func() { m.read = d.frame })
		} else {
			c.state.Update(func() { m.stuck = true })
		}
	}
	return err
}

// fail notes that the records of a worker cannot be taken in.
func (m *member) fail(c *Coordinator, err error) {
	fmt.Fprintf(c.opt.Log, "warning: the records of worker %s: %v\n", m.name, err)
	c.state.Update(func() {
		m.stuck = true
		if m.fault == nil {
			m.fault = fmt.Errorf("the records of worker %s: %w", m.name, err)
		}
	})
}

// taken waits until so many frames of a worker were taken in, or there will be no more of it. Where they do not move any more, or
// the context is over, it waits no longer.
func (m *member) taken(ctx context.Context, c *Coordinator, frames uint64) {
	for {
		var before uint64
		c.state.Update(func() { before = m.read })
		moving, cancel := context.WithTimeout(ctx, stalledAfter)
		err := c.state.Wait(moving, func() bool { return m.read >= frames || m.over() || m.stuck || m.read > before })
		cancel()
		if err == nil && c.finds(func() bool { return m.read < frames && !m.over() && !m.stuck }) {
			continue
		}
		return
	}
}

// complete makes sure that so many frames of a worker were taken in.
func (m *member) complete(c *Coordinator, frames uint64) {
	var read uint64
	c.state.Update(func() { read = m.read })
	if read < frames && c.finds(func() bool { return m.fault == nil }) {
		m.fail(c, fmt.Errorf("%d of %d frames came: it has all of them in its own directory", read, frames))
	}
}

// drained waits until all that has come of a worker that is over was taken in, or the context is over. NATS need not have all of
// what it said it has.
func (m *member) drained(ctx context.Context) {
	select {
	case <-m.done:
		return
	case <-ctx.Done():
	case <-time.After(stalledAfter):
	}
	m.stop()
	<-m.done
}
