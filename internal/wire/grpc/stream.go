package grpc

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/h2"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// sharedStream is a place for a stream: the slots that use it share its stream.
type sharedStream struct {
	number int
	flow   atomic.Pointer[flow]
	gate   chan struct{} // holds one value while a stream is being opened
}

// maxTries is how often a request is sent that the server says it did not look at.
const maxTries = 5

// Stream sends a message on the stream of rec's slot and takes every message that
// sort says is for id, up to the last. It fills in rec from Sent to End: the body is
// those messages with their prefixes, uncompressed, and there is a mark at the read
// that completed each of them. All requests of a method have the same sort, and
// each has an id of its own.
//
// A request that ends early leaves the stream to the others on it; where there are
// none, the stream is given up. A request whose response is an error fails with class
// StreamError and an empty message: what it says is in the body.
func (c *Client) Stream(ctx context.Context, method, id string, m Message, rec *record.Exchange, sort Sorter) {
	rec.Failure = nil
	l := c.lane(rec.Slot)
	first := record.Never
	for try, dropped := 1, false; ; {
		untaken, err := c.once(ctx, l, method, id, m, rec, sort)
		last := rec.Sent
		if first == record.Never {
			first = last
		} else if last != record.Never {
			rec.LastTry = last
		}
		rec.Sent = first
		switch {
		case err == nil:
			http1.Finish(rec, c.clock.Now())
			return
		case errors.Is(err, errFailed):
			http1.Finish(rec, c.clock.Now())
			rec.Failure = &record.Failure{Class: record.StreamError, Status: rec.Status, At: rec.End}
			return
		case ctx.Err() != nil:
			c.fail(ctx, rec, err)
			return
		case h2.Unprocessed(err) && try < maxTries:
			try++
		case untaken && !dropped:
			dropped = true
		default:
			c.fail(ctx, rec, err)
			return
		}
		if rec.Barred() {
			c.fail(ctx, rec, err)
			return
		}
		if last != record.Never {
			rec.Resent++
		}
	}
}

// once carries out a request on the lane's stream. Untaken: that ended before the server took it.
func (c *Client) once(ctx context.Context, l *sharedStream, method, id string, m Message, rec *record.Exchange,
	sort Sorter) (untaken bool, err error) {
	rec.Marks, rec.Body = rec.Marks[:0], rec.Body[:0]
	rec.Sent, rec.Written = record.Never, record.Never
	rec.Status, rec.ContentType, rec.RetryAfter = 0, "", ""
	if err := ctx.Err(); err != nil {
		return false, err // an open stream would take it, and answer it before anybody looks at ctx
	}
	q := c.pending.Get().(*request)
	*q = request{rec: rec, id: id, done: q.done, latest: record.Never}
	f, err := c.board(ctx, l, method, q, m, sort)
	if err != nil {
		return false, err
	}
	select {
	case <-q.done:
	case <-ctx.Done():
		f.abandon(q)
		<-q.done
	}
	var expired *timedconn.Expired
	switch err := q.err; {
	case err == nil:
		failed := q.failed
		c.pending.Put(q)
		f.release()
		if failed {
			return false, errFailed
		}
		return false, nil
	case errors.As(err, &expired) || timedconn.Classify(err) == record.TooLarge:
		f.abandon(q)
		return false, err
	default:
		// The writer may still hold the request: it is not used again.
		var dropped *http1.Dropped
		return rec.Conn.Reused && q.latest == record.Never && errors.As(err, &dropped) && dropped.SafeToResend(rec.Sent, c.soon, false), err
	}
}

// release closes a stream that takes no more requests once the last of them is done.
func (f *flow) release() {
	f.mu.Lock()
	last := f.closing && len(f.waiting) == 0
	f.mu.Unlock()
	if last {
		f.stream.Close()
	}
}

// board puts a request on the lane's stream, which is opened where there is none.
func (c *Client) board(ctx context.Context, l *sharedStream, method string, q *request, m Message, sort Sorter) (*flow, error) {
	for try := 1; ; try++ {
		if q.rec.Barred() {
			return nil, timedconn.ErrBarred
		}
		if f := l.flow.Load(); f != nil {
			q.flow, q.rec.Conn = f, record.Conn{Reused: true}
			if f.add(q) {
				if q.order == 1 {
					q.rec.Conn = f.stream.Opened()
				}
				if f.stream.Send(m.wire, q) {
					return f, nil
				}
				if err := f.refuse(q); err != nil && try > maxTries {
					return nil, err
				}
			}
		}
		if err := c.reopen(ctx, l, method, sort); err != nil {
			return nil, err
		}
	}
}

// refuse takes back a request that the stream did not take, and says why, where
// the stream is over.
func (f *flow) refuse(q *request) error {
	f.mu.Lock()
	f.closing = true
	f.finish(q, nil)
	f.mu.Unlock()
	<-q.done
	err := q.err
	q.over, q.err = false, nil
	f.release()
	return err
}

// reopen gives the lane a new stream, where its old one takes no more.
func (c *Client) reopen(ctx context.Context, l *sharedStream, method string, sort Sorter) error {
	select {
	case l.gate <- struct{}{}:
	case <-ctx.Done():
		return timedconn.ErrAborted
	}
	defer func() { <-l.gate }()
	if f := l.flow.Load(); f != nil && f.takes() {
		return nil
	}
	f := &flow{client: c, sort: sort, ended: make(chan struct{}), waiting: make(map[string]*request)}
	f.alarm = timedconn.NewAlarm(c.clock, f.expire)
	f.split.most, f.split.largest = c.options.MaxMessage, c.options.Largest
	var err error
	if f.stream, err = c.work.Open(ctx, l.number, c.head(method).fields, f); err != nil {
		return err
	}
	l.flow.Store(f)
	return nil
}

func (f *flow) takes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closing
}

// Open opens the streams of the first n slots ahead of their first requests.
func (c *Client) Open(ctx context.Context, method string, sort Sorter, n int) error {
	if err := c.Warm(ctx, n); err != nil {
		return err
	}
	for slot := range n {
		l := c.lane(slot)
		if l.flow.Load() == nil {
			if err := c.reopen(ctx, l, method, sort); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Client) lane(slot int) *sharedStream {
	if c.options.Streams > 0 {
		slot %= c.options.Streams
	}
	if lanes := *c.lanes.Load(); slot < len(lanes) {
		return lanes[slot]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	lanes := *c.lanes.Load()
	for len(lanes) <= slot {
		lanes = append(lanes[:len(lanes):len(lanes)], &sharedStream{number: len(lanes), gate: make(chan struct{}, 1)})
	}
	c.lanes.Store(&lanes)
	return lanes[slot]
}
