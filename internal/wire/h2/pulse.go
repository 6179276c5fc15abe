package h2

import (
	"fmt"
	"time"
)

// Beat says when a connection with streams on it is asked for a sign of life.
type Beat struct {
	// Every is how long nothing may have come before the server is pinged; 0: it
	// is never pinged.
	Every time.Duration
	// Patience is how long it then has to say anything at all; 0: 20 seconds. After
	// that the connection counts as broken.
	Patience time.Duration
}

// usualPatience is that of other gRPC clients.
const usualPatience = 20 * time.Second

// pulse looks after a connection's signs of life. The connection's lock guards it.
type pulse struct {
	timer  *time.Timer
	since  time.Duration // when looking began
	pinged time.Duration // when a ping went that nothing has come after; 0: none
}

func (p *pulse) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// startPulse begins to look, where it was asked for.
func (c *conn) startPulse() {
	if every := c.client.beat.Every; every > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pulse.since = c.client.clock.Now()
		c.pulse.timer = time.AfterFunc(every, c.feelPulse)
	}
}

// feelPulse pings a server that has been silent, and gives up on one that stays so.
func (c *conn) feelPulse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	beat, p, now := c.client.beat, &c.pulse, c.client.clock.Now()
	if beat.Patience == 0 {
		beat.Patience = usualPatience
	}
	if c.heard >= p.pinged {
		p.pinged = 0
	}
	quiet := now - max(c.heard, p.since)
	switch {
	case len(c.live) == 0:
		// A connection that nobody uses may go, and the server is left in peace.
		p.since, p.pinged = now, 0
		p.timer.Reset(beat.Every)
	case p.pinged != 0 && now-p.pinged >= beat.Patience:
		c.fail(fmt.Errorf("the server was silent for %v and did not answer a ping", quiet.Round(time.Millisecond)))
	case p.pinged != 0:
		p.timer.Reset(min(beat.Every, p.pinged+beat.Patience-now))
	case quiet >= beat.Every:
		p.pinged = now
		c.say(append(appendFrame(c.control, 8, framePing, 0, 0), "inferome"...))
		p.timer.Reset(min(beat.Every, beat.Patience))
	default:
		p.timer.Reset(beat.Every - quiet)
	}
}
