package h2

import (
	"fmt"
	"time"
)

// KeepAlive says when a connection with streams on it is pinged.
type KeepAlive struct {
	// Every is how long nothing may have come before the server is pinged; 0: it
	// is never pinged.
	Every time.Duration
	// Timeout is how long it then has to say anything, or the connection is broken; 0: 20 seconds.
	Timeout time.Duration
}

// usualTimeout is that of other gRPC clients.
const usualTimeout = 20 * time.Second

// pings keeps a connection alive. The connection's lock guards it.
type pings struct {
	timer  *time.Timer
	since  time.Duration // when looking began
	pinged time.Duration // when a ping went that nothing has come after; 0: none
}

func (p *pings) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// startPings begins to look, where it was asked for.
func (c *conn) startPings() {
	if every := c.client.keepAlive.Every; every > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pings.since = c.client.clock.Now()
		c.pings.timer = time.AfterFunc(every, c.checkPings)
	}
}

// checkPings pings a server that has been silent, and gives up on one that stays so.
func (c *conn) checkPings() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	alive, p, now := c.client.keepAlive, &c.pings, c.client.clock.Now()
	if alive.Timeout == 0 {
		alive.Timeout = usualTimeout
	}
	if c.heard >= p.pinged {
		p.pinged = 0
	}
	quiet := now - max(c.heard, p.since)
	switch {
	case len(c.live) == 0:
		// An unused connection may go: the server is not pinged.
		p.since, p.pinged = now, 0
		p.timer.Reset(alive.Every)
	case p.pinged != 0 && now-p.pinged >= alive.Timeout:
		c.fail(fmt.Errorf("the server was silent for %v and did not answer a PING", quiet.Round(time.Millisecond)))
	case p.pinged != 0:
		p.timer.Reset(min(alive.Every, p.pinged+alive.Timeout-now))
	case quiet >= alive.Every:
		p.pinged = now
		c.sendControl(append(appendFrame(c.control, 8, framePing, 0, 0), "inferome"...))
		p.timer.Reset(min(alive.Every, alive.Timeout))
	default:
		p.timer.Reset(alive.Every - quiet)
	}
}
