//go:build linux && !386 && !s390x

package clock

import (
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// On one core, who sends without a break lets others read: it looks for them, and waits until
// they have had their turn.
func TestSendersGiveWay(t *testing.T) {
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
	// From here on this goroutine has the core, but for where it gives way. The runtime takes it
	// away only after twice the time of all rounds.
	const rounds = 100
	for round := 0; read.Load() < conns; round++ {
		if round == rounds {
			t.Fatalf("%d of %d connections have read", read.Load(), conns)
		}
		for spin := time.Now(); time.Since(spin) < turn/20; { // a request is being sent
		}
		p.giveWay(d.clock.Now())
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
