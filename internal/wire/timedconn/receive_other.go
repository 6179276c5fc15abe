//go:build !linux || 386 || s390x || nostamps

package timedconn

import (
	"net"
	"syscall"
	"time"
)

// receiver has nothing to do where the kernel gives no receive times.
type receiver struct{}

func (r *receiver) enable(syscall.RawConn) {}

func (r *receiver) follow(net.Conn) {}

func (r *receiver) lookFirst(time.Duration) bool { return false }

func (r *receiver) received(syscall.RawConn) (segments, bytes int64, ok bool) { return 0, 0, false }

func (r *receiver) transit(syscall.RawConn) (t transit, ok bool) { return transit{}, false }

// Read is one read, stamped when it returns.
func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.stamp(0, max(s.last.User, time.Duration(s.clock.beat.Load())), false)
		s.blur.gathers = true
	}
	return n, err
}

// each calls send, then reads until f wants no more.
func (s *socket) each(send func() error, f func(p []byte, at Stamp) bool) error {
	if send != nil {
		if err := send(); err != nil {
			return err
		}
	}
	return readEach(s, s, f)
}

// hangups has nothing to do where each read looks at the socket before it waits.
type hangups struct{}

func newHangups() *hangups { return nil }

func (*hangups) add(*Conn) bool { return false }
func (*hangups) forget(*Conn)   {}
func (*hangups) close()         {}

func primeStamps() (close func(), ok bool) { return func() {}, false }

// peek cannot look into the queue without taking from it, so it trusts.
func peek(syscall.RawConn) (alive bool) { return true }
