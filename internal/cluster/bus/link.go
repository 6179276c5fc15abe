package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Conn is what a Link needs of a connection to NATS.
type Conn interface {
	// Publish sends a message to all that listen. While the connection is cut it may keep it for later.
	Publish(m *nats.Msg) error
	// Subscribe calls a function for every message on a subject, one after another. When it returns, messages are heard.
	Subscribe(subject string, f nats.MsgHandler) (unsubscribe func() error, err error)
	// Close sends what was published and ends the connection.
	Close()
}

// Link is a connection, which the buses of several runs may share.
type Link struct {
	conn       Conn
	js         jetstream.JetStream
	maxPayload int
	log        func(string)
	self       string // what answers are addressed to
	answers    answers

	mu     sync.Mutex
	cut    time.Time       // when the connection was lost; zero: it is there
	closed bool            // for good
	alive  context.Context // until it is lost
	dead   context.CancelCauseFunc
}

// NewLink makes a link without a connection. log takes what goes wrong in the background; nil means it is dropped.
func NewLink(log func(string)) *Link {
	if log == nil {
		log = func(string) {}
	}
	l := &Link{log: log, self: rand.Text()}
	l.Restored()
	return l
}

// Join gives the link its connection.
func (l *Link) Join(c Conn, js jetstream.JetStream, maxPayload int) {
	l.conn, l.js, l.maxPayload = c, js, maxPayload
}

// Bus is the link within the subjects of a run.
func (l *Link) Bus(run string) *Bus { return &Bus{Link: l, run: run} }

// Lost is called when the connection is cut.
func (l *Link) Lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut.IsZero() {
		l.cut = time.Now()
	}
	l.dead(nats.ErrDisconnected)
}

// Restored is called when it is back.
func (l *Link) Restored() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = time.Time{}
	l.alive, l.dead = context.WithCancelCause(context.Background())
}

// Away is how long the connection has been cut; 0: it is there.
func (l *Link) Away() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut.IsZero() {
		return 0
	}
	return max(time.Since(l.cut), 1)
}

func (l *Link) connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut.IsZero() && !l.closed
}

// isClosed reports whether the connection was ended for good.
func (l *Link) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Close sends what was told and ends the connection, for all buses that share it.
func (l *Link) Close() {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if !again {
		l.conn.Close()
	}
}

// handlers keep the state of a connection to NATS.
func (l *Link) handlers(changed func(bool, error)) []nats.Option {
	if changed == nil {
		changed = func(bool, error) {}
	}
	return []nats.Option{
		nats.DisconnectErrHandler(func(c *nats.Conn, err error) {
			l.Lost()
			if !c.IsClosed() {
				changed(false, err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			l.Restored()
			changed(true, nil)
		}),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			if s != nil {
				err = fmt.Errorf("subject %s: %w", s.Subject, err)
			}
			l.log(err.Error())
		}),
	}
}

// whileConnected is a context that ends with the connection, too: what was asked of the server before has no response after it.
func (l *Link) whileConnected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	alive := l.alive
	stop := context.AfterFunc(alive, func() { cancel(context.Cause(alive)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (l *Link) call(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, over := l.whileConnected(ctx)
	ctx, cancel := context.WithTimeout(ctx, apiLimit)
	return ctx, func() {
		cancel()
		over()
	}
}

// complain logs what will be tried again, unless it said so last. That the connection is cut is told by others.
func (l *Link) complain(said *string, doing string, err error) {
	if err == nil || errors.Is(err, context.Canceled) || !l.connected() || *said == err.Error() {
		return
	}
	*said = err.Error()
	l.log(doing + ": " + *said + "; trying again")
}

// natsConn is a connection to a real NATS.
type natsConn struct{ nats *nats.Conn }

// Publish implements Conn.
func (c natsConn) Publish(m *nats.Msg) error { return c.nats.PublishMsg(m) }

// Subscribe implements Conn.
func (c natsConn) Subscribe(subject string, f nats.MsgHandler) (func() error, error) {
	s, err := c.nats.Subscribe(subject, f)
	if err != nil {
		return nil, err
	}
	return s.Unsubscribe, c.nats.FlushTimeout(apiLimit) // the server knows of it then
}

// Close implements Conn.
func (c natsConn) Close() {
	if c.nats.IsConnected() {
		_ = c.nats.FlushTimeout(time.Second) // without a connection there is no receiver
	}
	c.nats.Close()
}
