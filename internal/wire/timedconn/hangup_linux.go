//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hangups tells connections that their peer has hung up.
//
// A connection waits for its poller without a last look at the socket (see each). It
// would miss a reset that came together with data, and an end that came between two
// requests: neither gives a second signal. So hang-ups, and nothing else, have a
// poller of their own here, which costs nothing while data flows.
type hangups struct {
	file *os.File // an epoll instance, itself watched by the runtime's poller
	raw  syscall.RawConn
	done sync.WaitGroup

	mu    sync.Mutex
	last  int32
	conns map[int32]*Conn
}

// newHangups starts watching; nil where the system does not let it.
func newHangups() *hangups {
	file, raw := newEpoll("hang-ups")
	if file == nil {
		return nil
	}
	h := &hangups{file: file, raw: raw, conns: map[int32]*Conn{}}
	h.done.Go(h.watch)
	return h
}

func (h *hangups) close() {
	if h != nil {
		_ = h.file.Close()
		h.done.Wait()
	}
}

// add watches a connection; false: it cannot.
func (h *hangups) add(c *Conn) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	h.last++
	id := h.last
	h.conns[id] = c
	h.mu.Unlock()
	c.watchID = id
	failed := error(unix.EBADF)
	_ = h.raw.Control(func(ep uintptr) {
		_ = c.sock.raw.Control(func(fd uintptr) {
			failed = unix.EpollCtl(int(ep), unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLET, Fd: id})
		})
	})
	if failed != nil {
		h.forget(c)
	}
	return failed == nil
}

// forget drops a connection that is about to be closed; the kernel does the same.
func (h *hangups) forget(c *Conn) {
	if h != nil {
		h.mu.Lock()
		delete(h.conns, c.watchID)
		h.mu.Unlock()
	}
}

// watch waits for hang-ups until the file is closed.
func (h *hangups) watch() {
	var events [64]unix.EpollEvent
	_ = h.raw.Read(func(ep uintptr) bool {
		for {
			n, err := unix.EpollWait(int(ep), events[:], 0)
			if err == unix.EINTR {
				continue
			}
			for _, e := range events[:max(n, 0)] {
				h.notify(e.Fd)
			}
			if n < len(events) {
				return false
			}
		}
	})
}

func (h *hangups) notify(id int32) {
	h.mu.Lock()
	c := h.conns[id]
	h.mu.Unlock()
	if c != nil {
		c.sock.hangUp()
		c.limit.nudge()
	}
}
