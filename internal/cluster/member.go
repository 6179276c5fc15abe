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
	index  int
	name   string
	host   record.Host
	joined time.Time
	ready  bool
	bound  time.Duration // by how much its clock may differ
	fault  error
	lost   bool
	told   bool          // it was told to stop: it gets no more to do
	gone   time.Duration // it was told so, or was last heard
	left   bool          // it has ended, and its records are here

	inbox *bus.Inbox
	feed  *feed
	done  chan struct{} // closed when all of its records were taken in
}

// over reports whether there will be no more of its records.
func (m *member) over() bool { return m.lost || m.left }

// open begins to take in the records of a worker.
func (m *member) open(ctx context.Context, c *Coordinator) error {
	in, err := c.opt.Bus.Inbox(ctx, m.name)
	if err != nil {
		return fmt.Errorf("opening the records of worker %s: %w", m.name, err)
	}
	from, err := newFeed()
	if err != nil {
		return err
	}
	c.state.Update(func() { m.inbox, m.feed, m.done = in, from, make(chan struct{}) })
	go func() {
		defer close(m.done)
		if err := c.intake.Read(m.index, m.feed); err != nil {
			m.fail(c, err)
		}
	}()
	go func() {
		if err := m.receive(c); err != nil {
			m.fail(c, err)
		}
		m.feed.end()
	}()
	return nil
}

// receive keeps the frames of a worker until there are no more.
func (m *member) receive(c *Coordinator) error {
	ctx := context.Background()
	for {
		frame, err := m.inbox.Next(ctx)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err == nil {
			err = c.intake.Frame(frame.Data)
		}
		if err == nil {
			err = m.feed.put(ctx, frame.Number, frame.Data)
		}
		if err != nil {
			return err
		}
		m.inbox.Acknowledge(frame.Number)
	}
}

// fail notes that the records of a worker cannot be taken in.
func (m *member) fail(c *Coordinator, err error) {
	fmt.Fprintf(c.opt.Log, "warning: the records of worker %s: %v\n", m.name, err)
	c.state.Update(func() {
		if m.fault == nil {
			m.fault = fmt.Errorf("the records of worker %s: %w", m.name, err)
		}
	})
}
