//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// polled is a TCP connection that waits for a poller of ours, not for the runtime's. It is a
// net.Conn and a syscall.RawConn. One goroutine may read while another writes; deadlines and Close
// are for any.
type polled struct {
	fd            int
	local, remote net.Addr
	poller        *poller
	number, era   int32  // by which the poller knows it
	hungUp        func() // is called when the peer has closed or reset it

	in, out waiter // who waits to read, and who to write
	arrivals

	users  atomic.Int32 // goroutines that use the descriptor, and one while it is not closed
	closed atomic.Bool  // by this side
	lost   atomic.Bool  // with its poller
}

// waiter is who waits for one direction of a connection.
type waiter struct {
	state   atomic.Int32
	wake    chan struct{} // has room for the one that waits
	tells   bool          // the poller waits until it goes on
	counted bool          // the poller has woken it, and counts those that have not gone on yet
	expired atomic.Bool   // its deadline is over

	mu    sync.Mutex
	timer *time.Timer // fires at the deadline; nil means there is none, or it has fired
}

// What a waiter is at.
const (
	atWork  int32 = iota // nothing has come since it last looked
	alerted              // something has
	waiting              // it sleeps until something does
)

// adopt takes a connection over from the runtime's poller.
func (p *poller) adopt(tcp *net.TCPConn, hungUp func()) (net.Conn, syscall.RawConn, error) {
	old, err := tcp.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	c := &polled{local: tcp.LocalAddr(), remote: tcp.RemoteAddr(), poller: p, hungUp: hungUp}
	c.in.wake, c.out.wake = make(chan struct{}, 1), make(chan struct{}, 1)
	c.users.Store(1)
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

// notify says that something has come; true: it sleeps, and the caller is to wake it.
func (w *waiter) notify() bool {
	for {
		switch w.state.Load() {
		case alerted:
			return false
		case atWork:
			if w.state.CompareAndSwap(atWork, alerted) {
				return false
			}
		case waiting:
			if w.state.CompareAndSwap(waiting, atWork) {
				return true
			}
		}
	}
}

func (w *waiter) rouse() {
	if w.notify() {
		w.wake <- struct{}{}
	}
}

// await waits until something has come since w last looked.
func (c *polled) await(w *waiter) error {
	for {
		if err := c.over(w); err != nil {
			return err
		}
		if w.state.CompareAndSwap(alerted, atWork) {
			return nil
		}
		if !w.state.CompareAndSwap(atWork, waiting) {
			continue
		}
		<-w.wake
		if w.counted {
			w.counted = false
			c.poller.turns.waiting.Add(-1)
		}
		if w.tells {
			w.tells = false
			c.poller.resume()
		}
		return c.over(w)
	}
}

// over says why waiting has ended.
func (c *polled) over(w *waiter) error {
	switch {
	case c.closed.Load() || c.lost.Load():
		return net.ErrClosed
	case w.expired.Load():
		return os.ErrDeadlineExceeded
	}
	return nil
}

// use keeps the descriptor open until done; false: it is closed.
func (c *polled) use() bool {
	for {
		n := c.users.Load()
		if n == 0 || c.closed.Load() {
			return false
		}
		if c.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// done closes the descriptor with its last user.
func (c *polled) done() error {
	if c.users.Add(-1) > 0 {
		return nil
	}
	return os.NewSyscallError("close", unix.Close(c.fd))
}

// Control implements syscall.RawConn.
func (c *polled) Control(f func(fd uintptr)) error {
	if !c.use() {
		return net.ErrClosed
	}
	f(uintptr(c.fd))
	return c.done()
}

// attempt calls f until it is content, and waits in between. What came before is not waited for.
func (c *polled) attempt(w *waiter, f func(fd uintptr) bool) (err error) {
	if !c.use() {
		return net.ErrClosed
	}
	if err = c.over(w); err == nil {
		w.state.CompareAndSwap(alerted, atWork)
		for !f(uintptr(c.fd)) {
			if err = c.await(w); err != nil {
				break
			}
		}
	}
	_ = c.done()
	return err
}

// raw is a polled connection as a syscall.RawConn.
type raw struct{ *polled }

// Read implements syscall.RawConn.
func (r raw) Read(f func(fd uintptr) bool) error { return r.attempt(&r.in, f) }

// Write implements syscall.RawConn.
func (r raw) Write(f func(fd uintptr) bool) error { return r.attempt(&r.out, f) }

// Read implements net.Conn.
func (c *polled) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	failed := c.attempt(&c.in, func(fd uintptr) bool {
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
	failed := c.attempt(&c.out, func(fd uintptr) bool {
		for n < len(p) {
			m, errno := writeNow(fd, p[n:])
			switch errno {
			case 0:
				n += m
			case syscall.EINTR:
			case syscall.EAGAIN:
				return false
			default:
				err = errno
				return true
			}
		}
		return true
	})
	switch {
	case failed != nil:
		return n, c.fault("write", failed)
	case err != nil:
		return n, c.fault("write", os.NewSyscallError("write", err))
	}
	return n, nil
}

// writeNow writes what it can without waiting. A short write is over before the scheduler could make
// use of being told of it.
func writeNow(fd uintptr, p []byte) (n int, errno syscall.Errno) {
	const short = 64 << 10
	var m uintptr
	if len(p) <= short {
		m, _, errno = syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	} else {
		m, _, errno = syscall.Syscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	}
	return int(m), errno
}

// fault is an error as package net words it.
func (c *polled) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: c.remote.Network(), Source: c.local, Addr: c.remote, Err: err}
}

// SetDeadline implements net.Conn.
func (c *polled) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *polled) SetReadDeadline(t time.Time) error { return c.limit(&c.in, t) }

// SetWriteDeadline implements net.Conn.
func (c *polled) SetWriteDeadline(t time.Time) error { return c.limit(&c.out, t) }

// limit sets the deadline of one direction.
func (c *polled) limit(w *waiter, t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.closed.Load() {
		return net.ErrClosed
	}
	w.stopTimer()
	w.expired.Store(false)
	if t.IsZero() {
		return nil
	}
	left := time.Until(t)
	if left <= 0 {
		w.expire()
		return nil
	}
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer == timer { // else there is another deadline by now, or none
			w.timer = nil
			w.expire()
		}
	})
	w.timer = timer
	return nil
}

func (w *waiter) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

func (w *waiter) expire() {
	w.expired.Store(true)
	w.rouse()
}

// LocalAddr implements net.Conn.
func (c *polled) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *polled) RemoteAddr() net.Addr { return c.remote }

// Close implements net.Conn. Whoever waits is told.
func (c *polled) Close() error {
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	for _, w := range []*waiter{&c.in, &c.out} {
		w.mu.Lock()
		w.stopTimer()
		w.mu.Unlock()
		w.rouse()
	}
	c.poller.forget(c)
	return c.done()
}
