package cluster

import (
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// natsClient is a process with a connection. It implements bus.Conn.
type natsClient struct {
	net  *natsNet
	name string
	gate gate
	// lost and restored are told of the connection, as bus.Link wants it.
	lost, restored func()

	mu      sync.Mutex
	hole    bool // its packets vanish
	cut     bool // and it knows
	dead    bool // the process was killed
	closed  bool
	subs    []*subscription
	arrival time.Time // of the last publish to a stream: TCP keeps their order
}

// Connect makes a client. lost and restored are called when the connection is cut and when it is back.
func (n *natsNet) Connect(name string, lost, restored func()) *natsClient {
	c := &natsClient{net: n, name: name, lost: lost, restored: restored}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clients = append(n.clients, c)
	return c
}

// reconnect is how long it takes to connect again.
func (c *natsClient) reconnect() time.Duration {
	return 100*time.Millisecond + time.Duration(unit(c.net.weather.Seed, 9, 0, c.name)*float64(200*time.Millisecond))
}

// Freeze has the process stand still for a time: nothing comes and nothing goes.
func (c *natsClient) Freeze(d time.Duration) { c.gate.freeze(d) }

// Thawed waits until the process does not stand still, and reports whether it is alive.
func (c *natsClient) Thawed() bool {
	c.gate.wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.dead
}

// Kill kills the process: nothing of it is heard any more.
func (c *natsClient) Kill() {
	c.mu.Lock()
	c.dead = true
	c.mu.Unlock()
}

// Cut cuts the process off for a time; it notices after a while, or at once where its connection is reset.
func (c *natsClient) Cut(d, notice time.Duration) {
	c.mu.Lock()
	c.hole = true
	c.mu.Unlock()
	time.AfterFunc(notice, func() {
		c.mu.Lock()
		hole := c.hole
		c.mu.Unlock()
		if hole {
			c.lose()
		}
	})
	time.AfterFunc(d, func() {
		c.mu.Lock()
		c.hole = false
		c.mu.Unlock()
		time.AfterFunc(c.reconnect(), c.restore)
	})
}

// lose has the client know that its connection is cut.
func (c *natsClient) lose() {
	c.mu.Lock()
	first := !c.cut && !c.closed
	c.cut = true
	c.mu.Unlock()
	if first {
		c.lost()
	}
}

// restore gives the client its connection back where there is nothing in the way.
func (c *natsClient) restore() {
	up, _ := c.net.state()
	c.mu.Lock()
	back := c.cut && !c.hole && !c.closed && up && !c.net.gate.frozen()
	if back {
		c.cut = false
	}
	c.mu.Unlock()
	if back {
		c.restored()
	}
}

// reaches reports whether the client and the server can exchange packets.
func (c *natsClient) reaches() bool {
	up, _ := c.net.state()
	c.mu.Lock()
	defer c.mu.Unlock()
	return up && !c.hole && !c.cut && !c.dead && !c.closed
}

// Publish implements bus.Conn.
func (c *natsClient) Publish(m *nats.Msg) error {
	c.gate.wait()
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return nats.ErrConnectionClosed
	}
	f := c.net.fate(c.name, m.Subject)
	if f.lost || !c.reaches() {
		return nil
	}
	sent := *m
	sent.Data = slices.Clone(m.Data)
	_, epoch := c.net.state()
	time.AfterFunc(f.delay, func() { c.net.route(&sent, epoch) })
	return nil
}

// Subscribe implements bus.Conn.
func (c *natsClient) Subscribe(subject string, f nats.MsgHandler) (func() error, error) {
	s := &subscription{client: c, subject: subject, handle: f, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nats.ErrConnectionClosed
	}
	c.subs = append(c.subs, s)
	go s.run()
	return func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.subs = slices.DeleteFunc(c.subs, func(o *subscription) bool { return o == s })
		s.end()
		return nil
	}, nil
}

// Close implements bus.Conn.
func (c *natsClient) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, s := range c.subs {
		s.end()
	}
	c.subs = nil
}

// subscribed are the subscriptions to a subject.
func (c *natsClient) subscribed(subject string) (list []*subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.subs {
		if s.subject == subject {
			list = append(list, s)
		}
	}
	return list
}

// subscription hands messages to a function, one after another.
type subscription struct {
	client  *natsClient
	subject string
	handle  nats.MsgHandler
	wake    chan struct{}
	ended   chan struct{}
	once    sync.Once

	mu    sync.Mutex
	queue []*nats.Msg
}

func (s *subscription) end() { s.once.Do(func() { close(s.ended) }) }

// deliver queues a message that has come.
func (s *subscription) deliver(m *nats.Msg) {
	s.client.gate.wait()
	if !s.client.reaches() {
		return
	}
	s.mu.Lock()
	s.queue = append(s.queue, m)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run handles what is queued.
func (s *subscription) run() {
	for {
		s.mu.Lock()
		var m *nats.Msg
		if len(s.queue) > 0 {
			m, s.queue = s.queue[0], s.queue[1:]
		}
		s.mu.Unlock()
		if m != nil {
			if s.client.Thawed() {
				own := *m
				s.handle(&own)
			}
			continue
		}
		select {
		case <-s.wake:
		case <-s.ended:
			return
		}
	}
}
