package timedconn

import (
	"errors"
	"io"
	"runtime"
	"syscall"
	"time"
)

// transit is what the kernel knows of a connection's sending.
type transit struct {
	acked int64         // bytes that the peer's system has confirmed
	rtt   time.Duration // the shortest round trip
}

// CloseReason says how a peer ended a connection.
type CloseReason struct {
	At      time.Duration // when this side learnt of it
	Orderly bool          // the peer closed it; else it reset it
	RTT     time.Duration // the shortest round trip; 0: not known
	// Known: the kernel tells what the peer's system has received. Lacks: not all
	// that was written. What closes a connection in order confirms all that had come
	// until then; a reset confirms nothing, and its Lacks means nothing.
	Known, Lacks bool
}

// Ending tells how the peer ended the connection, given the error of a read or a
// write; false: it did not. The connection must not have been closed on this side.
func (c *Conn) Ending(err error) (CloseReason, bool) {
	reset, orderly := isReset(err), errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE)
	if !reset && !orderly {
		return CloseReason{}, false
	}
	e := CloseReason{At: c.sock.clock.Now(), Orderly: orderly}
	if at := c.sock.hungAt.Load(); at != 0 {
		e.At = min(e.At, time.Duration(at))
	}
	if t, ok := c.sock.rx.transit(c.sock.raw); ok {
		e.RTT, e.Known, e.Lacks = t.rtt, true, t.acked < c.sock.handed.Load()
	}
	return e, true
}

// Winsock has numbers of its own for a connection that the other side broke.
const (
	wsaAborted syscall.Errno = 10053
	wsaReset   syscall.Errno = 10054
)

func isReset(err error) bool {
	var number syscall.Errno
	if runtime.GOOS == "windows" && errors.As(err, &number) {
		return number == wsaAborted || number == wsaReset
	}
	return errors.Is(err, syscall.ECONNRESET)
}
