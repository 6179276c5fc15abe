package h2

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Stream is an open-ended stream: its body goes out in pieces as long as it lasts,
// and what comes back is handed over as it comes. It has no limits of its own.
type Stream struct {
	to     Receiver
	conn   *conn
	st     *stream
	opened record.Conn

	// The connection's lock guards the rest.
	pieces []piece
	head   int  // of pieces, those before it have gone
	close  bool // no more pieces will come
	closed bool // the server has been told so
	over   bool
}

// Receiver takes what comes on an open-ended stream. Its methods are called by the
// goroutine that reads the connection, one at a time and with the connection
// locked: they must be quick and must not call methods of the stream, but for
// Single. What they are handed is theirs only until they return; the texts of
// fields they may keep.
type Receiver interface {
	// Head takes the headers of the response. An error ends the stream.
	Head(status int, fields []http1.Field, at timedconn.Stamp) error
	// Data takes the next bytes; behind: the read has more. An error ends the stream.
	Data(p []byte, at timedconn.Stamp, behind bool) error
	// End comes last. Without an error the server ended the stream in order, and
	// trailer are the fields that it ended with, where it sent any.
	End(trailer []http1.Field, err error)
}

// GoAwayHandler is a Receiver that wants to know when the server is about to leave: what
// is in flight will still be answered, but Send refuses to send more.
type GoAwayHandler interface {
	// Leaving is called at each GOAWAY of the server, under the same rules. True: nothing is in flight, and
	// the stream may be closed at once.
	Leaving() (idle bool)
}

// Sender is told when its piece went out.
type Sender interface {
	// Wrote comes with the connection locked, once for each write that carried the first or last
	// byte. Sent is the time before the first byte, written that after the last; record.Never: not
	// part of it. A piece about to go comes with the time of that look.
	Wrote(sent, written time.Duration)
}

// piece is part of a body that waits to be sent.
type piece struct {
	rest  []byte
	by    Sender
	begun bool
}

// Open starts an open-ended stream for a slot. Ctx bounds the opening, not the stream's life.
func (c *Client) Open(ctx context.Context, slot int, fields []http1.Field, to Receiver) (*Stream, error) {
	s := &Stream{to: to}
	if _, err := c.start(ctx, &order{shared: fields, open: s, slot: slot}); err != nil {
		return nil, err
	}
	return s, nil
}

// Opened tells how the stream's connection came about.
func (s *Stream) Opened() record.Conn { return s.opened }

// Send hands over a piece of the body, which must not change any more. False: the
// stream takes no more, and nothing of the piece will go.
func (s *Stream) Send(p []byte, by Sender) bool {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.over || s.close || c.leaving {
		return false
	}
	if s.head > len(s.pieces)/2 {
		s.pieces, s.head = append(s.pieces[:0], s.pieces[s.head:]...), 0
	}
	s.pieces = append(s.pieces, piece{rest: p, by: by})
	c.enqueue(s.st)
	return true
}

func (c *conn) enqueue(st *stream) {
	if !st.queued {
		st.queued = true
		c.queue = append(c.queue, st)
	}
	c.work.Signal()
}

// Withdraw takes back a piece of which nothing has been sent yet.
func (s *Stream) Withdraw(by Sender) {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if i := slices.IndexFunc(s.pieces[s.head:], func(p piece) bool { return p.by == by && !p.begun }); i >= 0 {
		s.pieces = slices.Delete(s.pieces, s.head+i, s.head+i+1)
	}
}

// Close tells the server that no more will be sent. What it has to say, it may
// still say.
func (s *Stream) Close() {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	s.finish()
}

// finish is Close under the connection's lock.
func (s *Stream) finish() {
	if !s.over && !s.close {
		s.close = true
		s.conn.enqueue(s.st)
	}
}

// Reset ends the stream at once, on both sides. The receiver hears of no end. A
// connection that has brought nothing at all since the given time counts as dead
// and gets no further streams; record.Never: it does not. False: it was over.
func (s *Stream) Reset(since time.Duration) bool {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.over {
		return false
	}
	s.over = true
	if c.heard < since && !c.leaving {
		c.leaving = true
		c.client.forget(c, false)
	}
	if i := slices.Index(c.live, s.st); i >= 0 {
		c.drop(i, timedconn.ErrAborted, codeCancel)
	}
	return true
}

// Single reports whether the read that is being handed over came in one segment. Only a Receiver
// may ask, while it is being called.
func (s *Stream) Single() bool { return s.conn.net.Single() }

// end tells the receiver that the connection let go of the stream.
func (s *Stream) end(err error) {
	if !s.over {
		s.over = true
		s.to.End(nil, err)
	}
	s.pieces, s.head = nil, 0
}

// endOpen ends an open-ended stream that the server ended in order.
func (r *reader) endOpen(i int, trailer []http1.Field) {
	c := r.c
	s := c.live[i].open
	s.over = true
	if !s.closed {
		c.sendControl(appendReset(c.control, c.ids[i], codeCancel))
	}
	s.to.End(trailer, nil)
	c.end(i, nil)
}

// leaveOpen tells the open-ended streams that the server is about to leave.
func (c *conn) leaveOpen() {
	for _, st := range c.live {
		if st.open == nil {
			continue
		}
		if l, ok := st.open.to.(GoAwayHandler); ok && l.Leaving() {
			st.open.finish()
		}
	}
}

// Unprocessed reports whether an error means that the server has not looked at
// what was sent on a stream, so that it may go again without harm.
func Unprocessed(err error) bool {
	var not *unprocessed
	return errors.As(err, &not) || errors.Is(err, errNoRoom)
}

// sendPieces puts as much of an open-ended stream into frames as the server takes.
func (c *conn) sendPieces(st *stream, id uint32) {
	s := st.open
	for s.head < len(s.pieces) && len(c.out) < maxWrite {
		p := &s.pieces[s.head]
		now := part{id: id, by: p.by}
		before := len(p.rest)
		for len(p.rest) > 0 && len(c.out) < maxWrite {
			n := int(min(int64(len(p.rest)), int64(c.frame), st.window, c.window))
			if n <= 0 {
				break
			}
			c.out = append(appendFrame(c.out, n, frameData, 0, id), p.rest[:n]...)
			p.rest = p.rest[n:]
			st.window -= int64(n)
			c.window -= int64(n)
		}
		if len(p.rest) == before && before > 0 {
			break // the server takes no more
		}
		now.first, now.last = !p.begun, len(p.rest) == 0
		if p.begun = true; now.by != nil && (now.first || now.last) {
			if now.first {
				now.by.Wrote(c.client.clock.Now(), record.Never)
			}
			c.parts = append(c.parts, now)
		}
		if !now.last {
			break
		}
		*p = piece{}
		s.head++
	}
	if st.onWire = s.head == len(s.pieces); !st.onWire {
		return
	}
	s.pieces, s.head = s.pieces[:0], 0
	if s.close && !s.closed {
		s.closed = true
		c.out = appendFrame(c.out, 0, frameData, flagEndStream, id)
	}
}

// noted tells a piece's sender of a write.
func (p part) noted(sent, written time.Duration, whole bool) {
	if !p.first {
		sent = record.Never
	}
	if !p.last || !whole {
		written = record.Never
	}
	p.by.Wrote(sent, written)
}
