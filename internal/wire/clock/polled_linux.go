//go:build linux && !386 && !s390x

package clock

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// polled is a TCP connection that waits for a poller of ours, not for the runtime's. It is a
// net.Conn and a syscall.RawConn, for one goroutine at a time; deadlines are for any.
type polled struct {
	fd            int
	local, remote net.Addr
	poller        *poller
	number, era   int32  // by which the poller knows it
	hungUp        func() // is called when the peer has closed or reset it

	state atomic.Int32
	wake  chan struct{} // has room for the one that waits
	tells bool          // the poller waits until it goes on

	closed, lost atomic.Bool // by this side; with its poller

	mu      sync.Mutex
	timer   *time.Timer // fires at the deadline; nil: there is none, or it has fired
	expired atomic.Bool
}

// What a polled connection is at.
const (
	atWork  int32 = iota // nothing has come since it last looked
	alerted              // something has
	waiting              // somebody sleeps until something does
)

// adopt takes a connection over from the runtime's poller.
func (p *poller) adopt(tcp *net.TCPConn, hungUp func()) (net.Conn, syscall.RawConn, error) {
	old, err := tcp.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	c := &polled{local: tcp.LocalAddr(), remote: tcp.RemoteAddr(), poller: p, hungUp: hungUp, wake: make(chan struct{}, 1)}
	// The runtime knows the connection by its descriptor, and forgets it when it closes that. Few
	// connections have two at a time: a process may be near the most that it may have.
	p.mu.Lock()
	defer p.mu.Unlock()
	if rerr := old.Control(func(fd uintptr) { c.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); rerr != nil {
		err = rerr
	}
	if err != nil {
		return nil, nil, err
	}
	if err = p.add(c); err != nil {
		_ = unix.Close(c.fd)
		return nil, nil, err
	}
	_ = tcp.Close()
	return c, raw{c}, nil
}

// notify says that something has come; true: somebody sleeps, whom the caller is to wake.
func (c *polled) notify() bool {
	for {
		switch c.state.Load() {
		case alerted:
			return false
		case atWork:
			if c.state.CompareAndSwap(atWork, alerted) {
				return false
			}
		case waiting:
			if c.state.CompareAndSwap(waiting, atWork) {
				return true
			}
		}
	}
}

// rouse has whoever waits look again.
func (c *polled) rouse() {
	if c.notify() {
		c.wake <- struct{}{}
	}
}

// await waits until something has come since it last looked.
func (c *polled) await() error {
	for {
		if err := c.over(); err != nil {
			return err
		}
		if c.state.CompareAndSwap(alerted, atWork) {
			return nil
		}
		if !c.state.CompareAndSwap(atWork, waiting) {
			continue
		}
		<-c.wake
		if c.tells {
			c.tells = false
			c.poller.resume()
		}
		return c.over()
	}
}

// over says why nobody may wait any more.
func (c *polled) over() error {
	switch {
	case c.closed.Load() || c.lost.Load():
		return net.ErrClosed
	case c.expired.Load():
		return os.ErrDeadlineExceeded
	}
	return nil
}

// Control implements syscall.RawConn.
func (c *polled) Control(f func(fd uintptr)) error {
	if c.closed.Load() {
		return net.ErrClosed
	}
	f(uintptr(c.fd))
	return nil
}

// attempt calls f until it is content, and waits in between. What came before is not waited for.
func (c *polled) attempt(f func(fd uintptr) bool) error {
	if err := c.over(); err != nil {
		return err
	}
	c.state.CompareAndSwap(alerted, atWork)
	for !f(uintptr(c.fd)) {
		if err := c.await(); err != nil {
			return err
		}
	}
	return nil
}

// raw is a polled connection as a syscall.RawConn.
type raw struct{ *polled }

// Read implements syscall.RawConn.
func (r raw) Read(f func(fd uintptr) bool) error { return r.attempt(f) }

// Write implements syscall.RawConn.
func (r raw) Write(f func(fd uintptr) bool) error { return r.attempt(f) }

// Read implements net.Conn.
func (c *polled) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	failed := c.attempt(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), p)
		return err != syscall.EAGAIN && err != syscall.EINTR
	})
	switch {
	case failed != nil:
		return 0, c.fault("read", failed)
	case err != nil:
		return 0, c.fault("read", os.NewSyscallError("read", err))
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write implements net.Conn. It may be called in the middle of a read.
func (c *polled) Write(p []byte) (n int, err error) {
	waited := false
	defer func() {
		if waited { // for the answer, perhaps, which a read must not wait for again
			c.state.CompareAndSwap(atWork, alerted)
		}
	}()
	for n < len(p) {
		if err := c.over(); err != nil {
			return n, c.fault("write", err)
		}
		m, err := syscall.Write(c.fd, p[n:])
		switch err {
		case nil:
			n += m
		case syscall.EINTR:
		case syscall.EAGAIN:
			waited = true
			if err := c.await(); err != nil {
				return n, c.fault("write", err)
			}
		default:
			return n, c.fault("write", os.NewSyscallError("write", err))
		}
	}
	return n, nil
}

// fault is an error as package net words it.
func (c *polled) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: c.remote.Network(), Source: c.local, Addr: c.remote, Err: err}
}

// SetDeadline implements net.Conn.
func (c *polled) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return net.ErrClosed
	}
	c.stopTimer()
	c.expired.Store(false)
	if t.IsZero() {
		return nil
	}
	left := time.Until(t)
	if left <= 0 {
		c.expire()
		return nil
	}
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.timer == timer { // else there is another deadline by now, or none
			c.timer = nil
			c.expire()
		}
	})
	c.timer = timer
	return nil
}

func (c *polled) stopTimer() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

func (c *polled) expire() {
	c.expired.Store(true)
	c.rouse()
}

// SetReadDeadline implements net.Conn. Who reads does not write at the same time.
func (c *polled) SetReadDeadline(t time.Time) error { return c.SetDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (c *polled) SetWriteDeadline(t time.Time) error { return c.SetDeadline(t) }

// LocalAddr implements net.Conn.
func (c *polled) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *polled) RemoteAddr() net.Addr { return c.remote }

// Close implements net.Conn.
func (c *polled) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	c.stopTimer()
	c.poller.forget(c)
	return os.NewSyscallError("close", unix.Close(c.fd))
}
