//go:build linux

// Package canned is a server whose responses are made once: it is never the limit of what is measured.
package canned

import (
	"context"
	"flag"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/inferometer/inferometer/bench/host"
)

// Server is a server that is not the limit: every core has an epoll loop with a
// listener of its own, and all responses are bytes made once. It reads only as much of a
// request as shows where it ends and whether it wants a stream.
type Server struct {
	Addr  netip.AddrPort
	loops []*loop
	done  sync.WaitGroup
}

// Spec is what a canned server sends.
type Spec struct {
	Events int // output tokens; of a stream, one per event
	Writes int // in which a stream goes out
	Prompt int // tokens that it says every prompt has
}

// Main serves until ctx is done, by the flags in args.
func Main(ctx context.Context, args []string) error {
	var spec Spec
	fs := flag.NewFlagSet("bench canned", flag.ContinueOnError)
	listen := fs.String("listen", "127.0.0.1:0", "IPv4 `address` to listen on")
	cores := fs.Int("cores", runtime.GOMAXPROCS(0), "epoll loops, each on a core of its own")
	fs.IntVar(&spec.Events, "events", 16, "output tokens; in a stream, one per event")
	fs.IntVar(&spec.Writes, "writes", 1, "writes that a stream is sent in")
	fs.IntVar(&spec.Prompt, "prompt", 0, "prompt tokens to report")
	if err := fs.Parse(args); err != nil {
		return err
	}
	addr, err := netip.ParseAddrPort(*listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	c, err := Start(ctx, addr, *cores, spec)
	if err != nil {
		return err
	}
	fmt.Println("canned responses at", c.Addr)
	c.done.Wait()
	return nil
}

// Start listens and serves until ctx is done.
func Start(ctx context.Context, addr netip.AddrPort, cores int, spec Spec) (*Server, error) {
	if !addr.Addr().Is4() || cores < 1 || spec.Events < 1 || spec.Writes < 1 {
		return nil, fmt.Errorf("canned server at %s with %d core(s), %d event(s), %d write(s): it needs an IPv4 address and at least one of each",
			addr, cores, spec.Events, spec.Writes)
	}
	own, err := host.AllowedCores()
	if err != nil {
		return nil, err
	}
	c := &Server{Addr: addr}
	made := makeResponses(spec)
	for i := range cores {
		l := &loop{all: c, responses: made, core: own[i%len(own)], in: make([]byte, 64<<10)}
		if err := l.listen(c.Addr); err != nil {
			for _, l := range c.loops {
				l.close()
			}
			return nil, fmt.Errorf("listening on %s: %w", c.Addr, err)
		}
		c.Addr = l.addr // the port, where any would do
		c.loops = append(c.loops, l)
	}
	for _, l := range c.loops {
		c.done.Go(func() { l.run(ctx) })
	}
	return c, nil
}

// served is how many requests have been answered in full.
func (c *Server) served() int64 {
	n := int64(0)
	for _, l := range c.loops {
		n += l.served.Load()
	}
	return n
}

// metrics is what the bench asks the server while a load runs.
func (c *Server) metrics() string {
	last := int64(0)
	for _, l := range c.loops {
		last = max(last, l.last.Load())
	}
	return fmt.Sprintf("vllm:num_requests_running 0\nvllm:request_success_total %d\n%s %d\n", c.served(), LastResponseMetric, last)
}

// LastResponseMetric is when the last response had been written, in nanoseconds since 1970.
const LastResponseMetric = "bench:last_answer_nanoseconds"

// listen opens the loop's own listener. Those of all loops share a port, and the
// kernel deals connections out among them.
func (l *loop) listen(addr netip.AddrPort) error {
	var err error
	if l.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		unix.Close(l.listener)
		return err
	}
	err = l.bind(addr)
	if err != nil {
		l.close()
	}
	return err
}

func (l *loop) bind(addr netip.AddrPort) error {
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(l.listener, unix.SOL_SOCKET, option, 1); err != nil {
			return err
		}
	}
	if err := unix.Bind(l.listener, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}); err != nil {
		return err
	}
	if err := unix.Listen(l.listener, 1<<14); err != nil {
		return err
	}
	name, err := unix.Getsockname(l.listener)
	if err != nil {
		return err
	}
	if in4, ok := name.(*unix.SockaddrInet4); ok {
		l.addr = netip.AddrPortFrom(netip.AddrFrom4(in4.Addr), uint16(in4.Port))
	}
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, l.listener, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(l.listener)})
}

func (l *loop) close() {
	for fd, c := range l.conns {
		if c != nil {
			unix.Close(fd)
		}
	}
	unix.Close(l.listener)
	unix.Close(l.epoll)
}

// run serves until ctx is done. The thread is pinned: two loops on one core would
// leave another idle.
func (l *loop) run(ctx context.Context) {
	runtime.LockOSThread() // for good: the thread ends with the loop
	defer l.close()
	set := host.CPUSet([]int{l.core})
	_ = unix.SchedSetaffinity(0, &set) // without it the loop is slower, no more
	events := make([]unix.EpollEvent, 512)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(l.epoll, events, 200) // ms, so that the end of ctx is seen
		if err != nil && err != unix.EINTR {
			return
		}
		before := l.served.Load()
		for _, e := range events[:max(n, 0)] {
			l.event(int(e.Fd))
		}
		if l.served.Load() != before {
			l.last.Store(time.Now().UnixNano())
		}
	}
}
