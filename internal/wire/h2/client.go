// Package h2 carries out requests over HTTP/2, many at a time on one connection,
// and stamps what each of them gets with the network read that brought it.
//
// It speaks the protocol itself, on the connections of clock. A stamp belongs
// to a read of a connection and a read holds frames of many streams; so the frames
// are taken apart where the stamp is at hand, and each stream gets a mark for every
// read that brought something of it. A request's own goroutine sleeps until its
// answer is complete.
package h2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Client keeps connections to one server.
type Client struct {
	clock     *timedconn.Clock
	dialer    *timedconn.Dialer
	limits    timedconn.Timeouts
	soon      time.Duration // http1.Soon, but for tests
	grace     time.Duration // http1.Grace, but for tests
	streams   int           // most at once on a connection
	secure    bool
	keepAlive KeepAlive
	windows   windows
	pool      sync.Pool

	conns atomic.Pointer[[]*conn] // a new slice with each change
	most  atomic.Int64            // streams at once on a connection, as the server said last

	mu      sync.Mutex
	opening *opening
	alive   map[*conn]struct{} // those of conns, and those that only finish what they have
	closed  bool
	exited  sync.WaitGroup // of all connections' goroutines
}

// opening is a connection being opened; requests that come meanwhile wait for it.
type opening struct {
	done   chan struct{}
	places int // requests that it still has room for
	err    error
}

// Options are what a Client takes besides its dialer.
type Options struct {
	Limits timedconn.Timeouts
	// Streams is how many requests share a connection at most; a server may
	// allow fewer.
	Streams int
	// Secure: the dialer speaks TLS, and the server must have agreed on h2.
	Secure bool
	// KeepAlive pings servers that are silent.
	KeepAlive KeepAlive
}

// NewClient makes a Client that opens connections with d.
func NewClient(clock *timedconn.Clock, d *timedconn.Dialer, o Options) *Client {
	c := &Client{
		clock: clock, dialer: d, limits: o.Limits, soon: http1.Soon, grace: http1.Grace, streams: max(o.Streams, 1), secure: o.Secure,
		keepAlive: o.KeepAlive,
		windows:   wide, alive: make(map[*conn]struct{}),
	}
	c.pool.New = func() any { return &stream{done: make(chan struct{}, 1)} }
	c.conns.Store(new([]*conn))
	c.most.Store(int64(c.streams))
	return c
}

// maxTries is how often a request is sent that the server says it did not look at.
const maxTries = 5

// Do sends req and fills in rec from Sent to End.
func (c *Client) Do(ctx context.Context, req *http1.Request, rec *record.Exchange) {
	o := order{shared: req.Head.HTTP2(), own: req.Fields(), body: req.Body(), sized: true, rec: rec}
	if req.Want != "" {
		o.answer = new(Response)
	}
	err := c.perform(ctx, &o)
	if o.answer != nil {
		for _, f := range o.answer.Head {
			if strings.EqualFold(f.Name, req.Want) {
				req.Got = f.Value
			}
		}
	}
	if err != nil {
		http1.Fail(ctx, rec, err, c.clock.Now())
		return
	}
	http1.Finish(rec, c.clock.Now())
}

// Response is what Post hands over besides the record.
type Response struct {
	Head    []http1.Field // all fields of the response's headers
	Trailer []http1.Field // those that came after the body
}

// Post sends a body under the given fields, pseudo-fields first and names in lower
// case, and fills in rec as far as the response goes. What it means for the record
// that the response is complete, or the error, is up to the caller.
func (c *Client) Post(ctx context.Context, fields []http1.Field, body []byte, rec *record.Exchange, answer *Response) error {
	return c.perform(ctx, &order{shared: fields, body: body, rec: rec, answer: answer})
}

type order struct {
	shared []http1.Field // fields that other requests have as well
	own    []http1.Field // fields that only this one has
	body   []byte
	sized  bool // say how long the body is
	rec    *record.Exchange
	answer *Response // nil means only the record matters
	open   *Stream   // not nil means an open-ended stream, which has no record
	slot   int       // of an open-ended stream
}

// barred reports whether the request may not go any more.
func (o *order) barred() bool { return o.rec != nil && o.rec.Barred() }

// perform carries out a request and, where the server cannot have taken it, carries
// it out again.
func (c *Client) perform(ctx context.Context, o *order) error {
	o.slot = o.rec.Slot
	first := record.Never
	defer func() {
		if first != record.Never {
			if o.rec.Resent > 0 && o.rec.Sent != record.Never {
				o.rec.LastTry = o.rec.Sent
			}
			o.rec.Sent = first
		}
	}()
	for try, dropped := 1, false; ; {
		st, err := c.start(ctx, o)
		if err != nil {
			return err
		}
		<-st.done
		err = st.err
		if first == record.Never {
			first = o.rec.Sent
		}
		untaken := !dropped && c.untaken(st)
		c.pool.Put(st)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return err
		case errors.Is(err, errNoRoom):
			continue
		case Unprocessed(err) && try < maxTries:
			try++
		case untaken:
			dropped = true
		default:
			return err
		}
		if o.rec.Barred() {
			return err
		}
		if o.rec.Sent != record.Never {
			o.rec.Resent++
		}
	}
}

// untaken reports whether a stream ended with its connection, before the server took its request.
func (c *Client) untaken(st *stream) bool {
	var dropped *http1.Dropped
	return st.reused && st.latest == record.Never && errors.As(st.err, &dropped) && dropped.SafeToResend(st.rec.Sent, c.soon, false)
}

// start finds a connection with room for a request, or opens one.
func (c *Client) start(ctx context.Context, o *order) (*stream, error) {
	for waited := false; ; waited = true {
		if waited && o.barred() {
			return nil, timedconn.ErrBarred
		}
		conns := *c.conns.Load()
		if n := len(conns); n > 0 {
			// Neighbouring slots share a connection; slots on different cores do not meet.
			from := o.slot / c.streams
			for i := range n {
				if st := conns[(from+i)%n].start(ctx, o); st != nil {
					return st, nil
				}
			}
		}
		if st, err := c.open(ctx, o); st != nil || err != nil {
			return st, err
		}
	}
}

// open opens a connection for a request, or waits for one. Neither stream nor error: look again.
func (c *Client) open(ctx context.Context, o *order) (*stream, error) {
	c.mu.Lock()
	if other := c.opening; other != nil && other.places > 0 {
		other.places--
		c.mu.Unlock()
		select {
		case <-other.done:
			if errors.Is(other.err, context.Canceled) {
				return nil, nil // the one who opened it was cancelled, not this one
			}
			return nil, other.err
		case <-ctx.Done():
			return nil, timedconn.ErrAborted
		}
	}
	mine := &opening{done: make(chan struct{}), places: int(c.most.Load()) - 1}
	c.opening = mine
	c.mu.Unlock()
	cn, err := c.connect(ctx)
	var st *stream
	switch {
	case err != nil:
	case o.barred():
		err = timedconn.ErrBarred
	default:
		// Ahead of those who wait.
		if st = cn.start(ctx, o); st == nil {
			err = cn.refusal()
		}
	}
	c.mu.Lock()
	if c.opening == mine {
		c.opening = nil
	}
	c.mu.Unlock()
	mine.err = err
	close(mine.done)
	return st, err
}

// refusal says why a new connection has no room; nil means others took it.
func (c *conn) refusal() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.cause(&stream{}, c.err)
	case c.most == 0:
		return &timedconn.Error{Class: record.ConnectFailed, Err: errors.New("the server allows no HTTP/2 streams")}
	}
	return nil
}

// connect opens a connection and adds it to the others.
func (c *Client) connect(ctx context.Context) (*conn, error) {
	nc, err := c.dialer.Dial(ctx)
	if err != nil {
		return nil, err
	}
	if got := nc.Protocol(); c.secure && got != "h2" {
		nc.Close()
		return nil, &timedconn.Error{Class: record.TLSFailed, Err: fmt.Errorf("the server negotiated %s instead of HTTP/2", cmp.Or(got, "nothing"))}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		nc.Close()
		return nil, timedconn.ErrAborted
	}
	cn := newConn(c, nc)
	c.alive[cn] = struct{}{}
	conns := append(slices.Clone(*c.conns.Load()), cn)
	c.conns.Store(&conns)
	return cn, nil
}

// forget takes a connection out of use; dead: nothing is on it any more either.
func (c *Client) forget(cn *conn, dead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if dead {
		delete(c.alive, cn)
	}
	old := *c.conns.Load()
	if i := slices.Index(old, cn); i >= 0 {
		conns := slices.Delete(slices.Clone(old), i, i+1)
		c.conns.Store(&conns)
	}
}

// settleTime bounds the wait for a server's settings ahead of the first requests.
const settleTime = 10 * time.Second

// Warm opens connections for n requests at once ahead of the first of them.
func (c *Client) Warm(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for {
		missing := n - c.room()
		if missing <= 0 {
			return nil
		}
		most := int(c.most.Load())
		if most == 0 {
			return errors.New("the server allows no HTTP/2 streams")
		}
		errs := make([]error, (missing+most-1)/most)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = c.warmOne(ctx) })
		}
		wg.Wait()
		if err := cmp.Or(errs...); err != nil {
			return err
		}
	}
}

// warmOne opens a connection and waits until the server has said how many streams
// it takes.
func (c *Client) warmOne(ctx context.Context) error {
	cn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	select {
	case <-cn.ready:
		return cn.refusal()
	case <-ctx.Done():
		return errors.New("the server accepted the connection but did not start HTTP/2")
	}
}

// room is how many requests the open connections can carry at once.
func (c *Client) room() int {
	n := 0
	for _, cn := range *c.conns.Load() {
		cn.mu.Lock()
		if cn.open() {
			n += cn.most
		}
		cn.mu.Unlock()
	}
	return n
}

// Close closes all connections; what is in flight on them fails.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	alive := slices.Collect(maps.Keys(c.alive))
	c.mu.Unlock()
	for _, cn := range alive {
		cn.close()
	}
	c.exited.Wait()
	c.dialer.Close()
	return nil
}

// mostHeaders is how many bytes a block of headers may hold.
func (c *Client) mostHeaders() int {
	if most := c.limits.Header; most > 0 {
		return min(most, 1<<30)
	}
	return maxBlock
}
