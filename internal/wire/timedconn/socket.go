package timedconn

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Stamp is when the data of a read came.
type Stamp struct {
	Kernel time.Duration // record.Never where the kernel gave none
	User   time.Duration
	Blur   time.Duration // how long before At the first byte can have come
	Loose  bool          // the last byte, too
	// Held is how long in all, since the request was sent or else since the connection was opened,
	// data may have waited here while the server could not send.
	Held time.Duration
}

// Time is the best stamp there is: the kernel's, else this program's.
func (s Stamp) Time() time.Duration { return record.Read{Kernel: s.Kernel, User: s.User}.Time() }

// socket is a TCP connection with stamped reads and writes. It is a net.Conn, so
// that TLS can run on top of it.
type socket struct {
	net.Conn
	clock *Clock
	raw   syscall.RawConn
	rx    receiver // platform part: how bytes and stamps leave the kernel

	last Stamp // of the latest read
	// firstWrite is record.Never until a write happens. It is atomic because TLS
	// may also write while it reads.
	firstWrite atomic.Int64
	handed     atomic.Int64 // bytes that the kernel took to send, over the connection's life
	leftover   bool         // bytes or an end of stream stood behind the last response

	blur     blur
	segments segments
	records  *records // of TLS; nil means plain
	several  bool     // reads are handed over together

	watched bool         // hang-ups are told of
	hungUp  atomic.Bool  // the peer has closed or reset the connection
	hungAt  atomic.Int64 // when that was told; 0: it was not

	coalescer *coalescer // of a core's share of a dialer's connections
}

func newSocket(tcp *net.TCPConn, clock *Clock, m *coalescer) (*socket, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: tcp, clock: clock, raw: raw, coalescer: m, segments: newSegments()}
	s.rearm()
	s.rx.enable(raw)
	return s, nil
}

// move has a poller of ours wake the connection, which is tcp. Where it cannot, the runtime's does.
func (s *socket) move(p *poller, tcp *net.TCPConn) {
	if conn, raw, err := p.adopt(tcp, s.hangUp); err == nil {
		s.Conn, s.raw, s.watched = conn, raw, true
		s.rx.follow(conn)
	}
}

// hangUp notes that the peer has closed or reset the connection.
func (s *socket) hangUp() {
	s.hungAt.CompareAndSwap(0, int64(s.clock.Now()))
	s.hungUp.Store(true)
}

// Write notes the time right before the first write(2) since rearm.
func (s *socket) Write(p []byte) (int, error) {
	if s.firstWrite.Load() == int64(record.Never) {
		s.firstWrite.Store(int64(s.clock.Now()))
	}
	n, err := s.Conn.Write(p)
	s.handed.Add(int64(n))
	return n, err
}

func (s *socket) rearm() { s.firstWrite.Store(int64(record.Never)) }

// began is the time right before the first write(2) since rearm, or else that
// which is given.
func (s *socket) began(otherwise time.Duration) time.Duration {
	if at := time.Duration(s.firstWrite.Load()); at != record.Never {
		return at
	}
	return otherwise
}

// stamp notes a read that returned data. wall is the kernel's receive time, 0 where it gave none;
// after is when the read had not come yet, as far as its poller knows; left: there was more.
func (s *socket) stamp(wall int64, after time.Duration, left bool) {
	old, before := s.last, s.last.Kernel
	if before == record.Never {
		before = s.last.User
	}
	at := Stamp{Kernel: record.Never, User: s.clock.Now()}
	if wall != 0 {
		// A slewed wall clock can put the kernel's stamp a hair after ours. And a kernel
		// short of memory merges segments and forgets their stamp: what came behind such
		// a read may be stamped before that read returned.
		at.Kernel = min(max(s.clock.FromWall(wall), before), at.User)
	}
	s.several = s.blur.gathers
	s.last = s.blur.read(at, old, after, left)
}

const readSize = 64 << 10

// readBuffers are shared by all connections: a buffer is in use only from a read
// to the end of the callback that takes its bytes.
var readBuffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// deadline arms a connection's deadline lazily: a deadline that fires early is
// looked at again, so that most requests set none.
type deadline struct {
	conn    net.Conn
	clock   *Clock
	armed   time.Duration // when it fires; 0: not armed
	far     atomic.Int64  // a time too far away for a timer, left to the watchdog; 0: none
	aborted atomic.Bool
	nudged  atomic.Bool // fired so that the socket is looked at
}

// arm makes sure that a wait ends at the latest at the given time; 0: it need not.
func (d *deadline) arm(at, now time.Duration) {
	if at == 0 || (d.armed != 0 && d.armed <= at) {
		return
	}
	if at-now > near {
		d.far.Store(int64(at))
		return
	}
	d.set(at)
}

// renew replaces a deadline that has fired; 0: none.
func (d *deadline) renew(at, now time.Duration) {
	d.set(0)
	d.arm(at, now)
}

func (d *deadline) set(at time.Duration) {
	d.armed = at
	when := time.Time{}
	if at != 0 {
		when = d.clock.start.Add(at)
	}
	_ = d.conn.SetDeadline(when)
	if d.aborted.Load() {
		_ = d.conn.SetDeadline(time.Unix(1, 0))
	} else if d.nudged.Load() {
		_ = d.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// nudge makes whoever waits for the connection look at it. It may be called from any
// goroutine.
func (d *deadline) nudge() {
	d.nudged.Store(true)
	_ = d.conn.SetReadDeadline(time.Unix(1, 0))
}

// abort ends what waits on the connection now. It may be called from any goroutine.
func (d *deadline) abort() {
	d.aborted.Store(true)
	_ = d.conn.SetDeadline(time.Unix(1, 0))
}
