package h2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// conn is a connection with its streams. One goroutine reads it, one writes to it; neither waits
// for the other: a server that stops reading cannot stop us from reading.
type conn struct {
	client *Client
	net    *timedconn.Conn
	ready  chan struct{} // closed when the server's settings are known, or never will be

	mu     sync.Mutex
	work   sync.Cond // the writer has something to do
	live   []*stream
	ids    []uint32               // of the live streams; 0: not on the wire yet
	err    error                  // why the connection is over; nil means it is not
	broken error                  // what writing ended with
	ending *timedconn.CloseReason // how the server ended the connection; nil means it did not
	used   bool                   // has carried a request
	heard  time.Duration          // when something came last
	follow []follower
	alarm  timedconn.Alarm
	pings  pings

	// what the server said
	settled bool  // its settings have come
	most    int   // streams at once, ours included
	frame   int   // payload of a frame
	initial int64 // window of a new stream
	window  int64 // bytes that it takes on the connection
	leaving bool  // it wants no further streams here
	named   bool  // it has named the streams that it has seen, and what is left is among them
	why     string

	// about writing
	queue   []*stream // not yet completely in frames, in order
	control []byte    // frames that belong to no request
	next    uint32    // id of the next stream
	writing bool
	encoder *hpack.Encoder
	block   bytes.Buffer
	out     []byte // what is being written
	parts   []part // whose it is
	reader  reader
}

// part is a stream's part in a write.
type part struct {
	id          uint32
	first, last bool   // it holds the first, the last byte of the request or piece
	by          Sender // of a piece; nil means it is a request's
}

// follower is a context whose end ends streams.
type follower struct {
	ctx     context.Context
	stop    func() bool
	streams int
}

// windows are how much a server may send unasked. What is used up is given back
// by quarters.
type windows struct{ stream, conn int64 }

// wide is as much as it takes for flow control never to hold up a server that is
// being measured.
var wide = windows{stream: 64 << 20, conn: 1 << 30}

// usual is how many streams a server takes that has not said yet.
const usual = 100

// newConn begins to speak HTTP/2 on a connection.
func newConn(client *Client, nc *timedconn.Conn) *conn {
	c := &conn{
		client: client, net: nc, ready: make(chan struct{}),
		most: min(client.streams, usual), frame: maxFrame, initial: startWindow, window: startWindow,
		next: 1,
	}
	c.work.L = &c.mu
	c.alarm = timedconn.NewAlarm(client.clock, c.expire)
	c.encoder = hpack.NewEncoder(&c.block)
	c.reader.init(c)
	b := append(c.control, preface...)
	b = appendFrame(b, 18, frameSettings, 0, 0)
	b = appendSetting(b, settingPush, 0)
	b = appendSetting(b, settingWindow, uint32(client.windows.stream))
	b = appendSetting(b, settingHeaderList, uint32(c.client.mostHeaders()))
	c.control = appendWindow(b, 0, client.windows.conn-startWindow)
	c.startPings()
	nc.Share()
	client.exited.Go(c.write)
	client.exited.Go(c.read)
	return c
}

// read takes in what comes until the connection ends.
func (c *conn) read() {
	err := c.net.ReadEach(c.reader.addRead)
	c.mu.Lock()
	defer c.mu.Unlock()
	ending, ended := c.net.Ending(err)
	if !ended {
		ending, ended = c.net.Ending(c.broken)
	}
	if ended {
		c.ending = &ending
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = errClosed
		if c.broken != nil {
			err = c.broken
		}
	}
	c.fail(err)
}

// errClosed: the server closed the connection, in order.
var errClosed = errors.New("the server closed the connection")

// start gives a request a stream; nil means the connection takes no more.
func (c *conn) start(ctx context.Context, o *order) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open() || len(c.live) >= c.most {
		return nil
	}
	opened := record.Conn{Reused: true}
	if !c.used {
		opened = c.net.Opened()
	}
	var st *stream
	if o.open != nil {
		st = &stream{open: o.open, shared: o.shared, latest: record.Never}
		o.open.conn, o.open.st, o.open.opened = c, st, opened
	} else {
		st = c.client.pool.Get().(*stream)
		st.reset(ctx, o)
		st.begun, st.held = c.client.clock.Now(), c.reader.at.Held
		st.reused = c.used
		o.rec.Conn = opened
		c.watch(ctx)
		c.alarm.Set(c.client.limits.Due(st.begun, record.Never))
	}
	c.used = true
	c.live, c.ids = append(c.live, st), append(c.ids, 0)
	st.queued = true
	c.queue = append(c.queue, st)
	c.work.Signal()
	return st
}

// open reports whether new streams may be started at all.
func (c *conn) open() bool { return c.err == nil && !c.leaving && c.next < maxWindow }

// watch makes the end of ctx end its streams. Requests of one stage share a
// context, so that this happens once per connection and stage.
func (c *conn) watch(ctx context.Context) {
	for i := range c.follow {
		if c.follow[i].ctx == ctx {
			c.follow[i].streams++
			return
		}
	}
	c.follow = slices.DeleteFunc(c.follow, func(f follower) bool {
		if f.streams == 0 {
			f.stop()
		}
		return f.streams == 0
	})
	stop := context.AfterFunc(ctx, func() { c.cancel(ctx) })
	c.follow = append(c.follow, follower{ctx, stop, 1})
}

func (c *conn) cancel(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.live) - 1; i >= 0; i-- {
		if c.live[i].ctx == ctx {
			c.drop(i, timedconn.ErrAborted, codeCancel)
		}
	}
	// A context that ended gives no second sign: whoever comes with it anew has to be told anew.
	c.follow = slices.DeleteFunc(c.follow, func(f follower) bool { return f.ctx == ctx })
}

// expire ends the streams that ran into a limit.
func (c *conn) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarm.Reset()
	now, limits := c.client.clock.Now(), c.client.limits
	var next time.Duration
	for i := len(c.live) - 1; i >= 0; i-- {
		st := c.live[i]
		if st.open != nil {
			continue // those who speak on it have limits, it has none
		}
		limits.Cancel = st.rec.CancelAfter
		limits := limits.Wrote(st.from(), st.rec.Written)
		class, due := limits.Over(st.from(), st.latest, now), limits.Due(st.from(), st.latest)
		if st.endBy != 0 && (due == 0 || st.endBy < due) {
			due = st.endBy
		}
		switch {
		case st.endBy != 0 && (class != "" || now >= st.endBy):
			st.rec.Unterminated, st.rec.End = true, st.said
			c.drop(i, nil, codeCancel)
		case class != "":
			if class != record.UserCancelled && c.heard < st.from() && !c.leaving {
				// Nothing at all has come since: the connection may be dead.
				c.leaving = true
				c.client.forget(c, false)
			}
			c.drop(i, &timedconn.Expired{Class: class}, codeCancel)
		case due != 0 && (next == 0 || due < next):
			next = due
		}
	}
	if c.err == nil {
		c.alarm.Set(next)
	}
}

// find gives the index of a live stream; -1: there is none with that id.
func (c *conn) find(id uint32) int { return slices.Index(c.ids, id) }

// drop ends a stream from our side and tells the server.
func (c *conn) drop(i int, err error, why code) {
	if id := c.ids[i]; id != 0 {
		c.sendControl(appendReset(c.control, id, why))
	}
	c.end(i, err)
}

// end takes a stream off the connection and gives it back to its request.
func (c *conn) end(i int, err error) {
	st := c.live[i]
	if st.answered {
		err = nil // only the stamps of its sending were still missing
	}
	if st.queued {
		c.queue = slices.DeleteFunc(c.queue, func(q *stream) bool { return q == st })
	}
	last := len(c.live) - 1
	c.live[i], c.ids[i] = c.live[last], c.ids[last]
	c.live[last] = nil
	c.live, c.ids = c.live[:last], c.ids[:last]
	for k := range c.follow {
		if c.follow[k].ctx == st.ctx {
			c.follow[k].streams--
		}
	}
	if last == 0 && c.leaving && c.err == nil {
		c.fail(errClosed)
	}
	if st.open != nil {
		st.open.end(err)
		return
	}
	if rec := st.rec; st.onWire && rec.Written == record.Never && len(rec.Marks) > 0 {
		rec.Written = rec.Marks[0].Time() // it has gone, or there were no response
	}
	st.err = err
	st.done <- struct{}{}
}

// unprocessed is the error of a stream that the server has not looked at: its request may go again.
type unprocessed struct{ text string }

func (e *unprocessed) Error() string { return e.text }

// fail ends the connection and all that is on it. Only the first reason counts.
func (c *conn) fail(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	c.client.forget(c, true)
	if !c.settled {
		close(c.ready)
	}
	var bad *fault
	if errors.As(err, &bad) {
		c.control = appendGoAway(c.control, bad.code)
	}
	for i := len(c.live) - 1; i >= 0; i-- {
		c.end(i, c.cause(c.live[i], err))
	}
	for _, f := range c.follow {
		f.stop()
	}
	c.alarm.Stop()
	c.pings.stop()
	if c.writing {
		c.net.Interrupt() // what the writer waits for may never come
	}
	c.work.Signal()
}

// cause says what the end of the connection means for one stream.
func (c *conn) cause(st *stream, err error) error {
	var bad *fault
	if errors.As(err, &bad) {
		return http1.BadFraming(fmt.Errorf("the server violated HTTP/2: %w", err))
	}
	if c.why != "" {
		err = fmt.Errorf("%w (%s)", err, c.why)
	}
	closed := errors.Is(err, errClosed)
	switch {
	case closed && st.headed:
		err = fmt.Errorf("%w inside a response", err)
	case closed:
		err = fmt.Errorf("%w without a response", err)
	}
	if c.ending != nil && (!st.headed || st.open != nil) {
		// On an open-ended stream others may have had their responses.
		d := &http1.Dropped{Err: err, CloseReason: *c.ending}
		if c.named && st.open == nil {
			d.Orderly, d.Known, d.Lacks = true, true, false
		}
		err = d
	}
	if closed && st.headed {
		err = http1.Truncated(err)
	}
	return err
}

// sendControl hands control frames to the writer. They are appended to c.control by the caller.
func (c *conn) sendControl(control []byte) {
	c.control = control
	c.work.Signal()
}

func (c *conn) close() {
	c.mu.Lock()
	if c.err == nil {
		c.control = appendGoAway(c.control, codeNone)
		c.fail(errors.New("the client was closed"))
	}
	c.mu.Unlock()
}
