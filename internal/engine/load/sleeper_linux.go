package load

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fdSleeper waits for a timer of the kernel through Go's network poller.
//
// An idle Go program waits in epoll_wait, whose time-out counts in milliseconds, so
// Go's own timers come up to a millisecond late; a timerfd ends that wait when it is
// due. A busy Go program looks at its own timers between any two goroutines, but asks
// epoll only when it runs out of them; there the read deadline, which is a Go timer
// for the same time, comes first. The earlier of the two ends the wait.
type fdSleeper struct {
	file  *os.File
	fd    int
	conn  syscall.RawConn
	due   time.Time
	isDue func(uintptr) bool // made once, so that a Sleep allocates nothing

	interrupted atomic.Bool
}

func newPrecise() (Sleeper, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create a timerfd: %w", err)
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	if err := file.SetReadDeadline(time.Time{}); err != nil {
		file.Close()
		return nil, fmt.Errorf("wait for a timerfd in the poller: %w", err)
	}
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("wait for a timerfd in the poller: %w", err)
	}
	s := &fdSleeper{file: file, fd: fd, conn: conn}
	s.isDue = func(uintptr) bool { return s.interrupted.Load() || !time.Now().Before(s.due) }
	return s, nil
}

// Sleep implements Sleeper.
//
// The timerfd is never read. Setting it clears what it counted, and each expiry is
// an event of its own to an edge-triggered epoll. An event left over from an earlier
// sleep ends a wait too early and one that came before the wait began is lost; the
// clock is looked at in both cases, so neither matters.
func (s *fdSleeper) Sleep(d time.Duration) bool {
	s.due = time.Now().Add(d)
	for {
		if s.interrupted.CompareAndSwap(true, false) {
			return false
		}
		left := time.Until(s.due)
		if left <= 0 {
			return true
		}
		when := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(left))}
		if unix.TimerfdSettime(s.fd, 0, &when, nil) != nil || s.file.SetReadDeadline(s.due) != nil {
			time.Sleep(left) // closed: late is better than early
			return true
		}
		// An Interrupt up to here has set the flag, a later one the deadline.
		s.conn.Read(s.isDue)
	}
}

// Interrupt implements Sleeper.
func (s *fdSleeper) Interrupt() {
	s.interrupted.Store(true)
	s.file.SetReadDeadline(time.Unix(1, 0))
}

// Close implements Sleeper.
func (s *fdSleeper) Close() error { return s.file.Close() }
