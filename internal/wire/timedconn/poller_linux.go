//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller wakes the connections of every n-th slot, on n cores.
//
// The runtime's poller gives what has come to whichever core asks first, so that a request is sent
// on one core and its response read on another, where nothing that it needs is at hand: on eight
// cores that takes a fifth of the time. This one is woken by a connection that it has woken itself,
// on the same core, as long as all cores have enough to do. docs/decisions/069 has the figures.
type poller struct {
	file    *os.File // an epoll instance, itself watched by the runtime's poller
	raw     syscall.RawConn
	done    sync.WaitGroup
	resumed chan struct{} // those that were woken have had their turn
	clock   *Clock
	looks   looks
	turns   turns

	// mu is held while somebody looks, so that what was reported first is told first.
	mu    sync.Mutex
	conns []*polled // by the number that epoll knows them by
	free  []int32   // numbers that are not in use
	era   int32     // tells connections apart that have a number one after the other
	ended bool
}

func newPollers(clock *Clock) []*poller {
	var all []*poller
	for n := runtime.GOMAXPROCS(0); len(all) < n; {
		p := newPoller(clock)
		if p == nil {
			break // those that there are have to do
		}
		all = append(all, p)
	}
	return all
}

// newEpoll opens an epoll instance that the runtime's poller waits for, so that it takes no thread;
// nil where the system does not let it.
func newEpoll(name string) (*os.File, syscall.RawConn) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, nil
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, nil
	}
	file := os.NewFile(uintptr(fd), name)
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, nil
	}
	return file, raw
}

// newPoller starts one; nil where the system does not let it.
func newPoller(clock *Clock) *poller {
	file, raw := newEpoll("arrivals")
	if file == nil {
		return nil
	}
	p := &poller{file: file, raw: raw, clock: clock, resumed: make(chan struct{}, 1)}
	p.done.Go(p.run)
	return p
}

// close ends it. Connections that are still open wait for nothing more.
func (p *poller) close() {
	_ = p.file.Close()
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, c := range p.conns {
		if c != nil {
			c.lost.Store(true)
			c.in.rouse()
			c.out.rouse()
		}
	}
}

// add watches a connection from now on. The caller holds the lock.
func (p *poller) add(c *polled) error {
	if p.ended {
		return os.ErrClosed
	}
	if n := len(p.free); n > 0 {
		c.number, p.free = p.free[n-1], p.free[:n-1]
	} else {
		c.number = int32(len(p.conns))
		p.conns = append(p.conns, nil)
	}
	p.era++
	c.era = p.era
	failed := error(unix.EBADF)
	_ = p.raw.Control(func(ep uintptr) {
		failed = unix.EpollCtl(int(ep), unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{
			Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: c.number, Pad: c.era,
		})
	})
	if failed != nil {
		p.free = append(p.free, c.number)
		return failed
	}
	p.conns[c.number] = c
	c.added = p.clock.Now()
	return nil
}

// forget drops a connection that is about to be closed; the kernel does the same.
func (p *poller) forget(c *polled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c.number] = nil
	p.free = append(p.free, c.number)
}

// run wakes connections until the file is closed. While it has none to wake the runtime's poller
// waits for it.
func (p *poller) run() {
	var l lookout
	_ = p.raw.Read(func(ep uintptr) bool {
		for {
			n := 1
			for more := true; more; more = n == len(l.events) {
				n = p.poll(ep, &l)
			}
			if n == 0 && len(l.woken) == 0 {
				return false
			}
			if some := min(batch, len(l.woken)); some > 0 {
				p.wake(l.woken[:some], true)
				l.woken = slices.Delete(l.woken, 0, some)
				<-p.resumed
			}
		}
	})
}

// batch is how many connections are woken at a time. A core has a queue of 256 goroutines that are
// ready. What finds no room goes to a queue that all cores share, and is all but forgotten there
// while this one is never empty.
const batch = 64

type lookout struct {
	events [128]unix.EpollEvent
	woken  []*waiter // those who have waited for what has come, and are to be woken
}

// poll takes in what has come, and gives how many connections it has come for.
func (p *poller) poll(ep uintptr, l *lookout) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		before, now := p.looks.last(), p.clock.Now()
		// It does not wait, so the scheduler need not be told of the call.
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, ep, uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), 0, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return 0
		}
		l.woken = p.arrived(l.events[:n], before, l.woken)
		if int(n) < len(l.events) {
			p.looks.found(now)
		}
		p.turns.looked(now)
		return int(n)
	}
}

// What an event says of each direction. Of an end or an error both have to know.
const (
	toRead  = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	toWrite = unix.EPOLLOUT | unix.EPOLLHUP | unix.EPOLLERR
)

// arrived adds those that have waited for one of the events. Nothing that they are about had come
// at the time before. The caller holds the lock.
func (p *poller) arrived(events []unix.EpollEvent, before time.Duration, woken []*waiter) []*waiter {
	for _, e := range events {
		c := p.conns[e.Fd]
		if c == nil || c.era != e.Pad { // closed meanwhile
			continue
		}
		if e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			c.hungUp()
		}
		if e.Events&toRead != 0 {
			c.reported(before)
			if c.in.notify() {
				woken = append(woken, &c.in)
			}
		}
		if e.Events&toWrite != 0 && c.out.notify() {
			woken = append(woken, &c.out)
		}
	}
	return woken
}

// wake lets connections go on. If asked for, the one that goes last tells the poller to look again:
// the scheduler has the goroutine that was made ready last go first, and the others in order.
func (p *poller) wake(woken []*waiter, tells bool) {
	woken[max(0, len(woken)-2)].tells = tells
	p.turns.woke(len(woken))
	for _, w := range woken {
		w.counted = true
		w.wake <- struct{}{}
	}
}

func (p *poller) resume() {
	select {
	case p.resumed <- struct{}{}:
	default:
	}
}
