//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// twoCores has the test run as on a machine with at least two cores.
func twoCores(t *testing.T) {
	t.Helper()
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(before, 2))
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// What holds for connections that the runtime wakes holds for those that a poller of ours does.
func TestPolled(t *testing.T) {
	twoCores(t)
	for name, test := range map[string]func(t *testing.T){
		"stamps in order": TestStampsAreInOrder, "first byte": TestFirstByteLimit, "stall": TestStallLimit, "request": TestRequestLimit,
		"flood": TestLimitsUnderAFlood, "first byte ends": TestFirstByteLimitEndsWithTheFirstByte,
		"earlier deadline": TestDeadlineOfAnEarlierRequestDoesNoHarm, "abort": TestAbortFromAnotherGoroutine,
		"abort while writing": TestAbortAndLimitsWhileWriting, "early answer": TestAnswerBeforeTheRequestIsRead,
		"hang-up": TestServerThatHangsUp, "steps": TestOpenedTellsTheSteps, "late read": TestKernelStampOfALateRead,
		"segments": TestReadsOfOneSegment, "peek": TestPeekSeesWhatCameWhileIdle, "leftover": TestLeftoverEndsAConnection,
		"end between requests": TestEndBetweenTwoRequestsIsNoticed, "reset behind data": TestResetRightBehindData,
	} {
		t.Run(name, test)
	}
}

// polledConn opens a connection and makes sure that a poller of ours wakes it.
func polledConn(t *testing.T, d *Dialer, slot int) (*Conn, *polled) {
	t.Helper()
	c, err := d.DialFor(t.Context(), slot)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := c.sock.Conn.(*polled)
	if !ok {
		t.Fatalf("the connection is a %T", c.sock.Conn)
	}
	return c, p
}

// Many connections of a few pollers, while others that nobody waits for are hung up on: each gets
// its responses, and in the end nothing is left open.
func TestPollersServeMany(t *testing.T) {
	twoCores(t)
	const conns, rounds = 40, 60
	leave := make(chan struct{})
	addr := serve(t, func(c *net.TCPConn) {
		for askLine(c) {
			_, _ = io.WriteString(c, "yes.")
		}
	})
	idle := serve(t, func(c *net.TCPConn) {
		<-leave
		_, _ = io.WriteString(c, "bye") // which nobody has asked for
	})
	before := openFiles(t)
	clock := NewClock()
	d, other := NewDialer(clock, addr, DialOptions{Timeout: patience}), NewDialer(clock, idle, DialOptions{Timeout: patience})
	var left []*Conn
	for i := range conns {
		c, _ := polledConn(t, other, i)
		left = append(left, c)
	}
	if &d.clock.pollers != &other.clock.pollers || other.clock.pollers.users != 1 {
		t.Errorf("%d users of the pollers", other.clock.pollers.users)
	}
	var all sync.WaitGroup
	for i := range conns {
		c, _ := polledConn(t, d, i)
		all.Go(func() {
			defer c.Close()
			for round := range rounds {
				if i == 0 && round == rounds/2 {
					close(leave)
				}
				if reads, _, _, err := ask(t.Context(), c, Timeouts{}); err != nil || len(reads) == 0 {
					t.Errorf("connection %d, round %d: %v, %v", i, round, reads, err)
					return
				}
			}
		})
	}
	all.Wait()
	for _, c := range left {
		for begin := time.Now(); !c.sock.hungUp.Load(); runtime.Gosched() {
			if time.Since(begin) > patience {
				t.Fatal("a hang-up of an idle connection was never told of")
			}
		}
		if c.Usable() {
			t.Error("a connection that was hung up on passes for usable")
		}
		c.Close()
	}
	d.Close()
	other.Close()
	for begin := time.Now(); openFiles(t) > before; runtime.Gosched() { // those of the servers take a moment
		if time.Since(begin) > patience {
			t.Fatalf("%d files were open before, %d are after", before, openFiles(t))
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not tell which files are open:", err)
	}
	n := 0
	for _, entry := range list {
		if to, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && to != "anon_inode:[eventpoll]" && to != "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}

// A request that waits when its poller ends does not wait for ever.
func TestPollerThatEnds(t *testing.T) {
	twoCores(t)
	asked := make(chan struct{})
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		close(asked)
		hold(c)
	})
	d := NewDialer(NewClock(), addr, DialOptions{Timeout: patience})
	c, _ := polledConn(t, d, 1)
	ended := make(chan error)
	go func() {
		_, _, _, err := ask(t.Context(), c, Timeouts{})
		ended <- err
	}()
	<-asked
	d.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the request ends with %v, want %v", err, net.ErrClosed)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.sock.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := c.sock.Conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("reading a closed connection: %v", err)
	}
}

// What was told of a connection that is closed by now is not taken for word of the one that has its
// number.
func TestPollerTellsConnectionsApart(t *testing.T) {
	twoCores(t)
	addr := serve(t, func(c *net.TCPConn) { hold(c) })
	d := NewDialer(NewClock(), addr, DialOptions{Timeout: patience})
	t.Cleanup(d.Close)
	old, was := polledConn(t, d, 0)
	late := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: was.number, Pad: was.era}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	c, is := polledConn(t, d, 0)
	defer c.Close()
	if is.number != was.number {
		t.Fatalf("numbers %d and %d: want one after the other", was.number, is.number)
	}
	arrived := func(e unix.EpollEvent) {
		is.poller.mu.Lock()
		defer is.poller.mu.Unlock()
		is.poller.arrived([]unix.EpollEvent{e}, 0, nil)
	}
	arrived(late)
	if c.sock.hungUp.Load() {
		t.Error("a connection was hung up on in place of another")
	}
	late.Pad = is.era
	arrived(late)
	if !c.sock.hungUp.Load() {
		t.Error("a hang-up was not told of")
	}
}

// As a net.Conn it does what one does.
func TestPolledIsAConnection(t *testing.T) {
	twoCores(t)
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "yes.")
	})
	d := NewDialer(NewClock(), addr, DialOptions{Timeout: patience})
	t.Cleanup(d.Close)
	c, p := polledConn(t, d, 0)
	defer c.Close()
	if p.RemoteAddr().String() != addr || p.LocalAddr().String() == addr {
		t.Errorf("from %s to %s, want to %s", p.LocalAddr(), p.RemoteAddr(), addr)
	}
	if err := p.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(make([]byte, 8)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read behind its deadline: %v", err)
	}
	if err := p.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p, "?\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(p); err != nil || string(text) != "yes." {
		t.Errorf("read %q, %v", text, err)
	}
}
