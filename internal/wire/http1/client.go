// Package http1 carries out one HTTP request at a time per connection and
// stamps every read of its response. It is the client's whole path between a prepared
// request and the bytes of the response.
//
// It speaks HTTP/1.1 itself, on the connections of netclock: the reads, and so the
// stamps, are then those of the request's own bytes, with no goroutine in between.
// Package h2 does the same for HTTP/2, with many requests on a connection.
package http1

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Client keeps connections to one server.
type Client struct {
	clock  *timedconn.Clock
	dialer *timedconn.Dialer
	limits timedconn.Timeouts
	soon   time.Duration // Soon, but for tests
	grace  time.Duration // Grace, but for tests
	idle   []stack
	habit  habit // of the server

	// Chunks: a chunk of a response has a mark of its own.
	Chunks bool
}

// stacks gives what idle connections are dealt out to, by slot, so that cores do not meet at one
// lock: about 64, as many for each core, whose slots have its connections (timedconn.DialFor).
func stacks(cores int) []stack { return make([]stack, cores*max(1, 64/cores)) }

// stack holds idle connections; the one used last is taken first.
type stack struct {
	mu    sync.Mutex
	lanes []*pooledConn
	_     [96]byte // keeps the next one out of the same cache line
}

// pooledConn is a connection with the reader of its responses.
type pooledConn struct {
	conn *timedconn.Conn
	resp response
	used bool // has carried a request

	carried int64 // requests that were answered on it

	// Of the response that is being read. They are kept here, so that a request makes none anew.
	rec   *record.Exchange
	grace time.Duration
	said  time.Duration                           // when it said that it is done
	bad   error                                   // what is wrong with it
	add   func(p []byte, at timedconn.Stamp) bool // addRead
}

// NewClient makes a Client that opens connections with d.
func NewClient(clock *timedconn.Clock, d *timedconn.Dialer, limits timedconn.Timeouts) *Client {
	return &Client{clock: clock, dialer: d, limits: limits, soon: Soon, grace: Grace, idle: stacks(runtime.GOMAXPROCS(0))}
}

// Warm opens n connections ahead of the first requests.
func (c *Client) Warm(ctx context.Context, n int) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	gate := make(chan struct{}, dialAtOnce)
	for i := range n {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			conn, err := c.dialer.DialFor(ctx, i)
			if errs[i] = err; err == nil {
				c.put(i, &pooledConn{conn: conn}, c.clock.Now())
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...) // n failed connects fail for one reason
}

// dialAtOnce keeps a wave of connects within a server's usual backlog.
const dialAtOnce = 64

// Close closes the idle connections.
func (c *Client) Close() error {
	for i := range c.idle {
		s := &c.idle[i]
		s.mu.Lock()
		for _, l := range s.lanes {
			l.conn.Close()
		}
		s.lanes = nil
		s.mu.Unlock()
	}
	c.dialer.Close()
	return nil
}

// idleConn gives an idle connection that is still good, or nil.
func (c *Client) idleConn(slot int) *pooledConn {
	s := &c.idle[slot%len(c.idle)]
	for {
		s.mu.Lock()
		n := len(s.lanes)
		if n == 0 {
			s.mu.Unlock()
			return nil
		}
		l := s.lanes[n-1]
		s.lanes = s.lanes[:n-1]
		s.mu.Unlock()
		if l.conn.Usable() {
			return l
		}
		c.habit.closed(l.carried, l.conn.Idle())
		l.conn.Close()
	}
}

// put keeps a connection that has had no request since the given time.
func (c *Client) put(slot int, l *pooledConn, since time.Duration) {
	l.conn.Park(since)
	s := &c.idle[slot%len(c.idle)]
	s.mu.Lock()
	s.lanes = append(s.lanes, l)
	s.mu.Unlock()
}

// Do sends req and fills in rec from Sent to End.
func (c *Client) Do(ctx context.Context, req *Request, rec *record.Exchange) {
	l := c.idleConn(rec.Slot)
	if l == nil {
		l = c.dial(ctx, rec)
	}
	if l != nil {
		c.carry(ctx, l, req, rec)
	}
}

// carry sends req over a connection. Where the server cannot have taken it, it goes
// again once, on a connection of its own, and the record says so.
func (c *Client) carry(ctx context.Context, l *pooledConn, req *Request, rec *record.Exchange) {
	first := record.Never
	for again := false; l != nil; again = true {
		reused, idle := l.used, l.conn.Idle()
		err := c.exchange(ctx, l, req, rec)
		if first == record.Never {
			first = rec.Sent
		} else if rec.Sent != record.Never {
			rec.LastTry = rec.Sent
		}
		if err == nil {
			rec.Sent = first
			c.finish(l, rec)
			return
		}
		l.conn.Close()
		var dropped *Dropped
		if errors.As(err, &dropped) && dropped.early(rec.Sent, c.soon) {
			c.habit.closed(l.carried, idle)
		}
		if again || !reused || ctx.Err() != nil || dropped == nil || !dropped.SafeToResend(rec.Sent, c.soon, true) || rec.Barred() {
			rec.Sent = first
			c.fail(ctx, rec, err)
			return
		}
		rec.Resent++
		l = c.dial(ctx, rec)
	}
}

// dial opens a connection for a request; nil means it could not, and the request has failed.
func (c *Client) dial(ctx context.Context, rec *record.Exchange) *pooledConn {
	conn, err := c.dialer.DialFor(ctx, rec.Slot)
	if err != nil {
		c.fail(ctx, rec, err)
		return nil
	}
	return &pooledConn{conn: conn}
}

func (c *Client) exchange(ctx context.Context, l *pooledConn, req *Request, rec *record.Exchange) error {
	rec.Conn = l.conn.Opened()
	if l.used {
		rec.Conn = record.Conn{Reused: true}
	} else if rec.Barred() { // connecting took its time
		return timedconn.ErrBarred
	}
	l.used = true
	now := c.clock.Now()
	if rec.Flight != nil {
		rec.Flight.SetSent(now)
	}
	r := l.expect(c, req, rec)
	limits := c.limits
	limits.Cancel = rec.CancelAfter
	var err error
	rec.Sent, rec.Written, err = l.conn.Exchange(ctx, now, req.wire, limits, l.add)
	l.rec, rec.Body, r.body = nil, r.body, nil
	if c.Chunks && rec.Folded == 0 { // of a response too long to keep, reads are enough
		rec.Marks = perChunk(rec.Marks, r.ends)
	}
	rec.Status, rec.RetryAfter = r.status, r.retryAfter
	req.Got = r.got
	rec.ContentType = r.contentType
	if l.bad != nil {
		return BadFraming(l.bad)
	}
	if errors.Is(err, timedconn.ErrUnended) {
		rec.Unterminated, rec.End, r.keepAlive = true, l.said, false
		return nil
	}
	ending, ended := l.conn.Ending(err)
	if errors.Is(err, io.EOF) {
		if err = r.closed(); err != nil && !errors.Is(err, errNoAnswer) {
			err = Truncated(err)
		}
	}
	if err != nil && ended && len(rec.Marks) == 0 {
		if err = errNoAnswer; !ending.Orderly {
			err = errResetUnanswered
		}
		err = &Dropped{err, ending}
	}
	return err
}

// expect makes the connection ready for the response to a request.
func (l *pooledConn) expect(c *Client, req *Request, rec *record.Exchange) *response {
	rec.Marks = rec.Marks[:0]
	r := &l.resp
	r.reset(rec.Body[:0])
	r.want, r.most, r.chunks = req.Want, c.limits.Header, c.Chunks
	if l.add == nil {
		l.add = l.addRead
	}
	l.rec, l.grace, l.said, l.bad = rec, c.grace, 0, nil
	return r
}

// addRead takes in a read of the response; false: there is no more to come.
func (l *pooledConn) addRead(p []byte, at timedconn.Stamp) bool {
	r, rec := &l.resp, l.rec
	var done bool
	before := len(r.body)
	done, l.bad = r.feed(p)
	more := rec.Streamed && len(r.body) > before
	says := more && SaysDone(r.body, before)
	if says && l.said == 0 && !done {
		l.said = at.Time()
		l.conn.EndBy(at.User + l.grace)
	}
	// What comes behind the word that it is done does not matter to it.
	behind := l.conn.Torn() || r.behind && more && !says
	Arrived(rec, r.body, r.contentType, at, behind, l.conn.Single)
	if l.bad == nil {
		l.bad = r.hold(rec)
	}
	return !done && l.bad == nil
}

// finish notes the end of a response and keeps the connection if it can be used again.
func (c *Client) finish(l *pooledConn, rec *record.Exchange) {
	var over time.Duration
	if n := len(rec.Marks); n > 0 {
		over = rec.Marks[n-1].User
	} else {
		over = c.clock.Now()
	}
	Finish(rec, over)
	l.carried++
	c.habit.answered(l.carried)
	if l.resp.keepAlive && !c.habit.spent(l.carried) {
		c.put(rec.Slot, l, over)
		return
	}
	l.conn.Close()
}

func (c *Client) fail(ctx context.Context, rec *record.Exchange, err error) {
	Fail(ctx, rec, err, c.clock.Now())
}
