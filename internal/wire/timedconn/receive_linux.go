//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"cmp"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receiver takes bytes and their receive time from a socket with recvmsg(2).
type receiver struct {
	// drained: the last receive left nothing behind, not even an end of stream;
	// more: it did leave something. Neither: the kernel did not say.
	drained, more bool
	left          int     // bytes that it left behind, where the kernel said
	polled        *polled // the connection; nil means the runtime's poller wakes it
	reads         reads
	info          unix.TCPInfo
	control       [64]byte
	iov           unix.Iovec
	msg           unix.Msghdr
}

// tcpInq asks recvmsg to say how much is left in the queue after it; the kernel
// says 1 when only the end of the stream is. (TCP_INQ, TCP_CM_INQ of linux/tcp.h)
const tcpInq = 36

// enable asks the kernel for receive times. A kernel that refuses leaves reads
// without them, and the report says so.
func (r *receiver) enable(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, tcpInq, 1)
	})
}

// follow has the reads of a connection of ours know what its poller does.
func (r *receiver) follow(c net.Conn) { r.polled, _ = c.(*polled) }

// lookFirst comes before a request is sent, and looks for what others have to read; true: that took its time.
func (r *receiver) lookFirst(now time.Duration) bool {
	return r.polled != nil && r.polled.poller.lookFirst(now)
}

// receive reads once, without waiting. wall is the kernel's receive time of the
// last segment in wall-clock nanoseconds, 0 where it gave none.
func (r *receiver) receive(fd uintptr, p []byte) (n int, wall int64, err error) {
	r.iov.Base = &p[0]
	r.iov.SetLen(len(p))
	r.msg.Iov = &r.iov
	r.msg.Iovlen = 1
	r.msg.Control = &r.control[0]
	r.msg.SetControllen(len(r.control))
	r.drained, r.more, r.left = false, false, 0
	for {
		// The socket does not block, so the scheduler need not be told of the call.
		got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.msg)), 0)
		if errno == unix.EINTR {
			continue
		}
		r.iov.Base = nil
		if errno != 0 {
			return 0, 0, syscall.Errno(errno)
		}
		return int(got), r.ancillary(), nil
	}
}

// ancillary reads the control messages of the last receive.
func (r *receiver) ancillary() (wall int64) {
	rest := r.control[:r.msg.Controllen]
	for len(rest) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&rest[0]))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || size > len(rest) {
			return wall
		}
		data := rest[unix.CmsgLen(0):size]
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(data) >= 16:
			ts := (*unix.Timespec)(unsafe.Pointer(&data[0]))
			wall = ts.Nano()
		case h.Level == unix.IPPROTO_TCP && h.Type == tcpInq && len(data) >= 4:
			r.left = int(*(*int32)(unsafe.Pointer(&data[0])))
			r.drained, r.more = r.left == 0, r.left != 0
		}
		rest = rest[min(unix.CmsgSpace(size-unix.CmsgLen(0)), len(rest)):]
	}
	return wall
}

// Read is one stamped read, for TLS.
func (s *socket) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	rerr := s.raw.Read(func(fd uintptr) bool {
		var again bool
		n, again, err = s.receive(fd, p)
		return !again
	})
	if rerr != nil {
		return 0, rerr
	}
	s.blur.gathers = true
	return n, err
}

// receive takes what the kernel has for this socket. again: nothing is there yet.
func (s *socket) receive(fd uintptr, p []byte) (n int, again bool, err error) {
	after := time.Duration(0)
	if s.rx.polled != nil {
		after = s.rx.polled.receiving()
	}
	n, wall, err := s.rx.receive(fd, p)
	//lint:ignore errorlint it comes from the system call itself, and a read must not wait for more
	if err == syscall.EAGAIN {
		s.blur.found()
		return 0, true, nil
	}
	if err != nil {
		return 0, false, os.NewSyscallError("recvmsg", err)
	}
	if n == 0 {
		return 0, false, io.EOF
	}
	s.segments.read(n, !s.blur.left)
	if s.records != nil {
		s.records.read(p[:n])
	}
	before := s.last
	if s.stamp(wall, after, !s.rx.drained); n+s.rx.left >= muchWaits {
		s.blur.full(s.last, before)
	}
	if n >= stalls*leastEvent && s.last.User-s.blur.since >= stallsAfter && s.rx.inform(fd) {
		segments, bytes := int64(s.rx.info.Data_segs_in), int64(s.rx.info.Bytes_received)
		if s.segments.among(n, segments, bytes) >= stalls {
			s.last = s.blur.stall(s.last, time.Duration(s.rx.info.Min_rtt)*time.Microsecond)
		}
		s.segments.told(segments, bytes)
	}
	return n, false, nil
}

// trusts reports whether waiting for the poller misses nothing, though the socket has
// not been found empty: hang-ups are told of, and there was none.
func (s *socket) trusts() bool { return s.watched && !s.hungUp.Load() }

// reads is a call of each in flight. It is kept with its socket, as a function that is waited with
// would otherwise be made anew for each request, with all that it changes.
type reads struct {
	send func() error // nil means it has been called
	f    func(p []byte, at Stamp) bool
	err  error
	step func(fd uintptr) bool // socket.step
}

// each calls send, then reads until f wants no more, all inside one wait of the
// poller. That saves the reads that only learn that nothing is there yet: between
// two arrivals there is one recvmsg(2), where a loop over Read would make two. It is
// safe because the poller's readiness is reset before send, because the kernel says
// with each read whether it left anything, and because of hangups.
func (s *socket) each(send func() error, f func(p []byte, at Stamp) bool) error {
	r := &s.rx.reads
	if r.step == nil {
		r.step = s.step
	}
	r.send, r.f, r.err = send, f, nil
	err := s.raw.Read(r.step)
	r.send, r.f = nil, nil
	return cmp.Or(err, r.err)
}

// step goes on with each; false: it waits for the poller.
func (s *socket) step(fd uintptr) (done bool) {
	r := &s.rx.reads
	if send := r.send; send != nil {
		r.send = nil
		if r.err = send(); r.err != nil || s.trusts() {
			return r.err != nil
		}
	}
	buf := readBuffers.Get().(*[readSize]byte)
	defer readBuffers.Put(buf)
	for {
		n, again, err := s.receive(fd, buf[:])
		if again {
			return false
		}
		if err != nil {
			r.err = err
			return true
		}
		if !r.f(buf[:n], s.last) {
			s.leftover = s.rx.more
			return true
		}
		s.coalescer.after(n, s.last.User)
		if s.rx.drained && s.trusts() {
			return false
		}
	}
}

// received is how many segments with data, and how many bytes, the connection has received.
func (r *receiver) received(raw syscall.RawConn) (segments, bytes int64, ok bool) {
	if r.polled != nil { // whose descriptor is in use while a read of it is handed over
		ok = r.inform(uintptr(r.polled.fd))
	} else {
		_ = raw.Control(func(fd uintptr) { ok = r.inform(fd) })
	}
	return int64(r.info.Data_segs_in), int64(r.info.Bytes_received), ok
}

// inform asks the kernel about a connection. It is done often, and so without a new place for the
// answer, and without telling the scheduler of a call that does not wait.
func (r *receiver) inform(fd uintptr) bool {
	size := uint32(unsafe.Offsetof(r.info.Data_segs_in) + unsafe.Sizeof(r.info.Data_segs_in))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_INFO, uintptr(unsafe.Pointer(&r.info)),
		uintptr(unsafe.Pointer(&size)), 0)
	return errno == 0 && uintptr(size) >= unsafe.Offsetof(r.info.Data_segs_in)+unsafe.Sizeof(r.info.Data_segs_in)
}

// transit is what the kernel knows of a connection's sending.
func (r *receiver) transit(raw syscall.RawConn) (t transit, ok bool) {
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil || info.Bytes_acked == 0 { // the opening of the connection counts as one
			return
		}
		t, ok = transit{acked: int64(info.Bytes_acked) - 1, rtt: time.Duration(info.Min_rtt) * time.Microsecond}, true
	})
	return t, ok
}

// primeStamps turns the kernel's receive stamps on and keeps them on until the
// returned socket is closed: the first user's packets may otherwise come before
// the kernel has switched them on.
func primeStamps() (close func(), ok bool) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return func() {}, false
	}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	return func() { _ = unix.Close(fd) }, err == nil
}

// peek reports whether an idle connection is still open and silent.
func peek(raw syscall.RawConn) (alive bool) {
	_ = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		alive = err == unix.EAGAIN
	})
	return alive
}
