//go:build linux && !386 && !s390x

package clock

import (
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
)

// On one core, who sends without a break looks for those that have something to read.
func TestSendersLook(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	const conns = 20
	asked, answer, answered := make(chan struct{}, conns), make(chan struct{}), make(chan struct{}, conns)
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		asked <- struct{}{}
		<-answer
		_, _ = io.WriteString(c, "yes.")
		answered <- struct{}{}
		hold(c)
	})
	d := NewDialer(NewClock(), addr, DialOptions{Timeout: patience})
	t.Cleanup(d.Close)
	var read atomic.Int32
	ended := make(chan error, conns)
	var p *poller
	for range conns {
		c, polled := polledConn(t, d, 0)
		t.Cleanup(func() { c.Close() })
		p = polled.poller
		go func() {
			_, _, err := c.Exchange(t.Context(), []byte("?\n"), Limits{}, func([]byte, Stamp) bool {
				read.Add(1)
				return false
			})
			ended <- err
		}()
	}
	for range conns {
		<-asked
	}
	p.mu.Lock() // nobody looks meanwhile
	close(answer)
	for range conns {
		<-answered
	}
	p.mu.Unlock()
	if n := read.Load(); n != 0 {
		t.Fatalf("%d connections have read, and nobody has looked", n)
	}
	// This goroutine has the core: nobody else looks, and whoever is woken has to wait.
	p.lookFirst(d.clock.Now() + often)
	if n := p.turns.waiting.Load() + read.Load(); n != conns {
		t.Errorf("%d of %d connections were woken", n, conns)
	}
	for range conns {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if n := p.turns.waiting.Load(); n != 0 {
		t.Errorf("%d are said to wait still", n)
	}
}
