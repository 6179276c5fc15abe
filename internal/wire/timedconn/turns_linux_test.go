//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
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
	var all []*polled
	for range conns {
		c, polled := polledConn(t, d, 0)
		t.Cleanup(func() { c.Close() })
		all = append(all, polled)
		go func() {
			_, _, err := c.Exchange(t.Context(), c.sock.clock.Now(), []byte("?\n"), Timeouts{}, func([]byte, Stamp) bool {
				read.Add(1)
				return false
			})
			ended <- err
		}()
	}
	for range conns {
		<-asked
	}
	for _, c := range all { // one that does not sleep yet needs nobody to wake it
		for c.in.state.Load() != waiting {
			runtime.Gosched()
		}
	}
	p := all[0].poller
	p.mu.Lock() // nobody looks meanwhile
	close(answer)
	for range conns {
		<-answered
	}
	for _, c := range all { // a busy kernel delivers later, even on the loopback
		if n, err := unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}, int(patience.Milliseconds())); n != 1 {
			t.Fatalf("no data for descriptor %d: %v", c.fd, err)
		}
	}
	p.mu.Unlock()
	if n := read.Load(); n != 0 {
		t.Fatalf("%d connections have read, and nobody has looked", n)
	}
	// This goroutine has the core: nobody else looks.
	p.lookFirst(d.clock.Now() + often)
	for _, c := range all {
		if c.in.state.Load() == waiting {
			t.Errorf("descriptor %d was not woken", c.fd)
		}
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
