//go:build linux

package canned

import (
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// loop is one core's part of a canned server.
type loop struct {
	all       *Server
	responses *responses
	addr      netip.AddrPort
	core      int
	epoll     int
	listener  int
	conns     []*conn // by descriptor
	in        []byte  // what a read fills

	_      [64]byte // the counters of two loops share no cache line
	served atomic.Int64
	last   atomic.Int64
	_      [64]byte
}

type conn struct {
	fd     int
	rest   []byte   // read, and not yet a whole request
	out    [][]byte // what is still to be written, which many connections share
	off    int      // of out[0], written
	chat   bool     // out is a response that counts
	closes bool     // when out is written
	full   bool     // waits to write, and does not read
}

// event goes on with what a descriptor is ready for.
func (l *loop) event(fd int) {
	if fd == l.listener {
		l.accept()
		return
	}
	c := l.conns[fd]
	if c == nil {
		return
	}
	if !l.serve(c) {
		unix.Close(fd) // which takes it out of epoll
		l.conns[fd] = nil
	}
}

func (l *loop) accept() {
	for {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // none is left, or one that has gone again
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20) // a long stream fits in one write
		if unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}) != nil {
			unix.Close(fd)
			continue
		}
		for fd >= len(l.conns) {
			l.conns = append(l.conns, make([]*conn, fd+64-len(l.conns))...)
		}
		l.conns[fd] = &conn{fd: fd}
	}
}

// serve writes what is left to write, or else reads and responds. False: the
// connection is done with.
func (l *loop) serve(c *conn) bool {
	if c.full {
		return l.respond(c, nil)
	}
	n, err := unix.Read(c.fd, l.in)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return true
	case err != nil || n == 0:
		return false
	}
	return l.respond(c, l.in[:n])
}

// respond handles all whole requests among what was left and what has come, and
// keeps the rest. Where the client does not read, it stops in between.
func (l *loop) respond(c *conn, came []byte) bool {
	text := came
	if len(c.rest) > 0 {
		c.rest = append(c.rest, came...)
		text = c.rest
	}
	for {
		done, err := c.flush()
		if err != nil || done && c.closes {
			return false
		}
		if done && c.chat {
			l.served.Add(1)
			c.chat = false
		}
		if !done || len(text) == 0 {
			c.keep(text)
			return l.wait(c, !done)
		}
		req, n := parseRequest(text)
		if n == 0 { // not whole
			c.keep(text)
			return l.wait(c, false)
		}
		text = text[n:]
		c.out, c.off, c.chat, c.closes = l.responses.to(req, l.all), 0, req.kind == askChat, req.kind == askNonsense
	}
}

// keep remembers what awaits its response.
func (c *conn) keep(text []byte) { c.rest = append(c.rest[:0], text...) }

// flush writes as much as the client takes.
func (c *conn) flush() (done bool, err error) {
	for len(c.out) > 0 {
		n, err := unix.Write(c.fd, c.out[0][c.off:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return false, nil
		case err != nil:
			return false, err
		}
		if c.off += n; c.off == len(c.out[0]) {
			c.out, c.off = c.out[1:], 0
		}
	}
	return true, nil
}

// wait has epoll wait for room to write, or for something to read.
func (l *loop) wait(c *conn, full bool) bool {
	if c.full == full {
		return true
	}
	c.full = full
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c.fd)}
	if full {
		e.Events = unix.EPOLLOUT
	}
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_MOD, c.fd, &e) == nil
}
