package timedconn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"os"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Conn is an open connection to a server, plain or TLS. One request uses it at a
// time.
type Conn struct {
	sock   *socket
	tls    *tls.Conn // nil means plain
	limit  deadline
	opened record.Conn

	idleSince time.Duration
	idle      time.Duration // what Idle gives

	spent   bool // cannot carry another request
	hangups *hangups
	dog     *watchdog
	watchID int32 // in hangups; 0: not watched

	endBy time.Duration // when an Exchange ends for want of an end; 0: it waits

	ctx  context.Context // whose end aborts this connection
	stop func() bool

	x exchange // the current one, or the last
}

// Opened tells how long the steps of opening took.
func (c *Conn) Opened() record.Conn { return c.opened }

// Protocol is what TLS agreed on, such as "h2"; empty without TLS.
func (c *Conn) Protocol() string {
	if c.tls == nil {
		return ""
	}
	return c.tls.ConnectionState().NegotiatedProtocol
}

// ErrAborted is what an exchange ends with when its context ended.
var ErrAborted = errors.New("aborted")

// ErrBarred is what a request ends with that was not sent, because it may not be any more.
var ErrBarred = errors.New("not sent: nothing may be sent any more")

// ErrUnended is what an Exchange ends with whose time to end is over.
var ErrUnended = errors.New("the response does not end")

// EndBy makes the Exchange in flight end at the given time, unless it ends before;
// 0: it waits as long as its limits allow. Only the function that is handed its reads may
// call it.
func (c *Conn) EndBy(at time.Duration) { c.endBy = at }

// Exchange writes a request and hands each read of the response to f until f
// returns false. now is the time. sent and written are the times right before the first and right
// after the last write(2).
func (c *Conn) Exchange(ctx context.Context, now time.Duration, request []byte, lim Timeouts,
	f func(p []byte, at Stamp) bool) (sent, written time.Duration, err error) {
	c.follow(ctx)
	c.watch()
	c.endBy = 0
	x := &c.x
	if x.begin == nil {
		x.begin, x.take = x.sendFirst, x.handOver
	}
	*x = exchange{c: c, begin: x.begin, take: x.take, now: now, request: request, lim: lim, f: f, sent: record.Never, written: record.Never,
		latest: record.Never}
	err = x.run()
	x.request, x.f = nil, nil
	return x.sent, x.written, err
}

// follow makes the end of ctx abort the connection. Requests of one stage share
// a context, so this happens once per connection and stage.
func (c *Conn) follow(ctx context.Context) {
	if c.ctx == ctx {
		return
	}
	if c.stop != nil {
		c.stop()
	}
	c.ctx, c.stop = ctx, context.AfterFunc(ctx, c.limit.abort)
}

// watch makes sure that a hang-up of the peer is told of. TLS reads in a way that
// misses none.
func (c *Conn) watch() {
	if c.tls == nil && c.watchID == 0 && !c.sock.watched {
		c.sock.watched = c.hangups.add(c)
	}
}

// exchange is one Exchange in flight. A connection has one, so that a request makes none anew.
type exchange struct {
	c             *Conn
	begin         func() error                  // sendFirst
	take          func(p []byte, at Stamp) bool // handOver
	now           time.Duration                 // when it began
	request       []byte
	lim           Timeouts
	f             func(p []byte, at Stamp) bool
	sent, written time.Duration
	latest        time.Duration // last moment at which something came; record.Never before the first
	broken        error         // what writing ended with
	ended         error         // why this side wanted no more, though the response goes on
}

// sendFirst sends the request before anything is read.
func (x *exchange) sendFirst() error {
	err := x.send()
	if err != nil && !x.over(err) {
		// The server may have answered before it hung up.
		x.broken = err
		return nil
	}
	return err
}

func (x *exchange) run() error {
	send := x.begin
	for {
		called := send == nil
		err := x.read(send)
		called = called || x.sent != record.Never
		switch {
		case err == nil && x.ended != nil:
			return x.ended
		case err == nil && x.broken != nil:
			x.c.spent = true
			return nil
		case err == nil:
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded) && x.broken != nil && !x.over(err):
			return x.broken
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case !called:
			// A deadline of an earlier request fired while the connection was idle.
			if x.c.limit.aborted.Load() {
				return ErrAborted
			}
			x.c.limit.nudged.Store(false)
			x.c.limit.set(0)
			continue
		}
		send = nil
		if err := x.expired(); err != nil {
			return err
		}
	}
}

// over reports whether err is this side's own decision to end the exchange.
func (x *exchange) over(err error) bool {
	var expired *Expired
	return errors.As(err, &expired) || errors.Is(err, ErrAborted)
}

func (x *exchange) send() error {
	c := x.c
	if c.tls != nil {
		c.limit.far.Store(0)
		c.limit.set(0) // TLS does not survive a write that a deadline broke off
	}
	c.sock.rearm()
	x.sent = x.now
	// Who sends because a response has come has had to wait for its turn to read already.
	if x.now-c.sock.last.User > justRead && c.sock.rx.lookFirst(x.now) {
		x.sent = c.sock.clock.Now()
	}
	c.limit.arm(x.lim.Due(x.sent, x.latest), x.sent)
	err := x.writeAll(x.request)
	x.sent = c.sock.began(x.sent)
	x.written = c.sock.clock.Now()
	c.sock.blur.asked, c.sock.blur.held = x.sent, 0
	if x.lim.Cancel > 0 && err == nil {
		x.lim = x.lim.Wrote(x.sent, x.written)
		c.limit.arm(x.lim.Due(x.sent, x.latest), x.written)
	}
	return err
}

// justRead is how long ago a connection was read from whose next request follows from that.
const justRead = time.Millisecond

func (x *exchange) writeAll(p []byte) error {
	if x.c.tls != nil {
		_, err := x.c.tls.Write(p)
		return err
	}
	for {
		n, err := x.c.sock.Write(p)
		p = p[n:]
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := x.expired(); err != nil {
			return err
		}
	}
}

// handOver hands a read to f; false: it was the last.
func (x *exchange) handOver(p []byte, at Stamp) bool {
	first := x.latest == record.Never
	x.latest = at.User
	if first { // from here on another limit counts, which may be nearer
		x.c.limit.arm(x.lim.Due(x.sent, x.latest), at.User)
	}
	if !x.f(p, at) {
		return false
	}
	if x.c.endBy != 0 {
		x.c.limit.arm(x.c.endBy, at.User)
	}
	// A deadline fires only where a read has to wait, which it never does where the
	// server sends faster than f takes.
	if x.pastLimit(at.User) {
		x.ended = x.expired()
	}
	return x.ended == nil
}

// read hands reads to f until it wants no more.
func (x *exchange) read(send func() error) error {
	if x.c.tls == nil {
		return x.c.sock.each(send, x.take)
	}
	if send != nil {
		if err := send(); err != nil {
			return err
		}
	}
	return readEach(x.c.tls, x.c.sock, x.take)
}

// pastLimit reports whether the exchange was to be over by a time at which something
// still came.
func (x *exchange) pastLimit(now time.Duration) bool {
	over := func(limit time.Duration) bool { return limit != 0 && now >= x.sent+limit }
	return over(x.lim.Request) || over(x.lim.left) || x.c.endBy != 0 && now >= x.c.endBy || x.c.limit.aborted.Load()
}

// readEach reads from r, which sits on top of s, until f wants no more.
func readEach(r io.Reader, s *socket, f func(p []byte, at Stamp) bool) error {
	buf := readBuffers.Get().(*[readSize]byte)
	defer readBuffers.Put(buf)
	for {
		s.blur.gathers = false
		n, err := r.Read(buf[:])
		if n > 0 && !f(buf[:n], s.last) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// expired looks at why a deadline fired. nil means it fired early, and is set anew.
func (x *exchange) expired() error {
	if x.c.limit.aborted.Load() {
		return ErrAborted
	}
	now, due := x.c.sock.clock.Now(), x.lim.Due(x.sent, x.latest)
	class := x.lim.Over(x.sent, x.latest, now)
	switch end := x.c.endBy; {
	case end != 0 && (class != "" || now >= end):
		x.c.spent = true
		return ErrUnended
	case class != "":
		return &Expired{class}
	case end != 0 && (due == 0 || end < due):
		due = end
	}
	x.c.limit.nudged.Store(false)
	x.c.limit.renew(due, now)
	return nil
}

// Single reports whether the read that is being handed over is known to have come in one segment,
// so that all of it came at its stamp. Only the function that is handed the read may ask.
func (c *Conn) Single() bool { return c.sock.single() }

// Complete reports whether the read that is being handed over is all that came with it. Else TLS
// hands over more of the same read later, or has the beginning of a record that it cannot.
func (c *Conn) Complete() bool {
	r := c.sock.records
	return r == nil || r.ends == 1 && !r.torn
}

// Torn reports whether what came with the read that is being handed over ended inside a record of
// TLS, of which nothing can be handed over yet.
func (c *Conn) Torn() bool { return c.sock.records != nil && c.sock.records.torn }

// Park notes that the connection has had no request since the given time.
func (c *Conn) Park(since time.Duration) { c.idleSince = since }

// Idle is how long the connection had no request when Usable was asked last.
func (c *Conn) Idle() time.Duration { return c.idle }

// Usable reports whether a parked connection can carry another request. One that
// was in use a moment ago is trusted; an older one is looked at, since servers close
// idle connections, and some send on them: that would pass for the next response.
func (c *Conn) Usable() bool {
	c.idle = c.sock.clock.Now() - c.idleSince
	if c.spent || c.sock.leftover || c.sock.hungUp.Load() || c.limit.aborted.Load() {
		return false
	}
	trusted := trustFor
	if c.tls != nil {
		trusted = trustTLSFor
	}
	return c.idle < trusted || peek(c.sock.raw)
}

// trustFor is what a busy connection is idle for between two requests. A look costs about a
// microsecond, which matters to those alone.
const trustFor = time.Millisecond

// trustTLSFor is longer, because on a new connection tickets of the session may lie unread,
// which are no fault. It is far below any server's keep-alive time.
const trustTLSFor = 100 * time.Millisecond

// Close closes the connection.
func (c *Conn) Close() error {
	if c.stop != nil {
		c.stop()
	}
	if c.watchID != 0 {
		c.hangups.forget(c)
	}
	c.dog.forget(c)
	return c.sock.Close()
}
