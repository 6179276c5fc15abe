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
	name     string
	host     record.Host
	joined   time.Time
	ready    bool
	clock    accuracy
	fault    error
	warnings []string
	lost     bool
	told     bool          // it was told to stop: it gets no more to do
	gone     time.Duration // it was told so, or was last heard
	left     bool          // it has ended, and its records are here
	stuck    bool          // its records cannot be taken in any more

	inbox *bus.Inbox
	read  uint64        // frames of its records that were taken in
	done  chan struct{} // closed when all of them were
}

// over reports whether there will be no more of its records.
func (m *member) over() bool { return m.lost || m.left }

// open begins to take in the records of a worker.
func (m *member) open(ctx context.Context, c *Coordinator) error {
	in, err := c.opt.Bus.Inbox(ctx, m.name)
	if err != nil {
		return fmt.Errorf("opening the records of worker %s: %w", m.name, err)
	}
	c.state.Update(func() { m.inbox, m.done = in, make(chan struct{}) })
	go func() {
		defer close(m.done)
		if err := errors.Join(m.receive(c), c.intake.End(m.index)); err != nil {
			m.fail(c, err)
		}
	}()
	return nil
}

// receive keeps the frames of a worker until there are no more, and takes their requests into
// account as soon as it is certain which of them are measured.
func (m *member) receive(c *Coordinator) error {
	ctx := context.Background()
	for {
		frame, err := m.inbox.Next(ctx)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		digest, records, err := record.SplitDigest(frame.Data)
		if err == nil {
			err = c.intake.Keep(records)
		}
		if err == nil {
			err = c.state.Wait(ctx, func() bool { return c.certain(digest.Latest) })
		}
		if err == nil {
			err = c.intake.Take(m.index, digest)
		}
		if err != nil {
			return err
		}
		m.inbox.Acknowledge(frame.Number)
		c.state.Update(func() { m.read = frame.Number })
	}
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
