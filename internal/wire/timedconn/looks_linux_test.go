//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// world is a kernel with sockets and an epoll instance, and those who use it, one step at a time.
// Each step takes a nanosecond, and anybody may be the next to make one.
type world struct {
	t     *testing.T
	rnd   *rand.Rand
	now   time.Duration
	looks looks
	conns []*modelled
	poll  pollerAt
	tick  tickAt
}

// modelled is a connection: what came, and how far its reader is.
type modelled struct {
	arrivals
	blur
	queue   []time.Duration // when each unread byte came
	pending bool            // epoll has it to report
	last    Stamp
	after   time.Duration // what the reader was told
	ready   bool          // the reader is about to receive
}

type pollerAt struct {
	step        int
	before, now time.Duration
	reports     []*modelled
	whole       bool
}

type tickAt struct {
	step int
	now  time.Duration
}

// arrive has bytes come for a connection.
func (w *world) arrive(c *modelled) {
	for range 1 + w.rnd.IntN(3) {
		c.queue = append(c.queue, w.now)
	}
	c.pending = true
}

// look makes the poller's next step.
func (w *world) look() {
	p := &w.poll
	switch p.step {
	case 0:
		p.before, p.now, p.step = w.looks.last(), w.now, 1
	case 1:
		p.reports, p.whole = p.reports[:0], true
		room := 1 + w.rnd.IntN(len(w.conns)+1)
		for _, i := range w.rnd.Perm(len(w.conns)) {
			c := w.conns[i]
			if !c.pending {
				continue
			}
			if c.pending = false; len(c.queue) == 0 && w.rnd.IntN(2) == 0 {
				continue // it was read meanwhile
			}
			if p.reports = append(p.reports, c); len(p.reports) == room {
				p.whole = false
				break
			}
		}
		p.step = 2
	default:
		if len(p.reports) > 0 {
			c := p.reports[0]
			p.reports = p.reports[1:]
			c.reported(p.before)
			return
		}
		if p.whole {
			w.looks.found(p.now)
		}
		p.step = 0
	}
}

// glance makes the next step of the ticks.
func (w *world) glance() {
	switch k := &w.tick; k.step {
	case 0:
		k.now, k.step = w.now, 1
	case 1:
		k.step = 2
		for _, c := range w.conns {
			if c.pending {
				k.step = 0
			}
		}
	default:
		w.looks.found(k.now)
		k.step = 0
	}
}

// read makes the next step of a reader, which may look without having been told of anything.
func (w *world) read(c *modelled) {
	if !c.ready {
		c.after, c.ready = c.receiving(), true
		return
	}
	c.ready = false
	if len(c.queue) == 0 {
		c.found()
		return
	}
	n := len(c.queue)
	if w.rnd.IntN(3) == 0 {
		n = 1 + w.rnd.IntN(n)
	}
	came := c.queue[:n]
	at := Stamp{Kernel: came[n-1], User: w.now}
	if w.rnd.IntN(2) == 0 { // the kernel has put segments together, and some are left
		at.Kernel = c.queue[w.rnd.IntN(len(c.queue)-n+1)+n-1]
	}
	if w.rnd.IntN(20) == 0 {
		at.Kernel = record.Never
	}
	c.queue = append([]time.Duration(nil), c.queue[n:]...)
	at = c.blur.read(at, c.last, c.after, len(c.queue) > 0 || w.rnd.IntN(10) == 0)
	if came[0] < at.Time()-at.Blur || came[n-1] > at.Time() || at.Time()-at.Blur < 0 {
		w.t.Errorf("bytes of %v to %v are said to have come from %v to %v", came[0], came[n-1], at.Time()-at.Blur, at.Time())
	}
	c.last = at
}

// Whatever the order in which data comes, pollers look and connections read: each byte came in the
// time that its read says.
func TestEveryByteCameWithinItsBlur(t *testing.T) {
	for seed := range uint64(3000) {
		w := &world{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), now: 1}
		for range 1 + w.rnd.IntN(4) {
			w.conns = append(w.conns, &modelled{})
		}
		arrives, looks, reads := 1+w.rnd.IntN(10), 1+w.rnd.IntN(10), 1+w.rnd.IntN(10)
		for range 300 {
			w.now++
			switch c, n := w.conns[w.rnd.IntN(len(w.conns))], w.rnd.IntN(arrives+looks+reads+1); {
			case n < arrives:
				w.arrive(c)
			case n < arrives+looks:
				w.look()
			case n < arrives+looks+reads:
				w.read(c)
			default:
				w.glance()
			}
		}
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// Where one reads as soon as it is told, nothing is known to be older than the look before.
func TestBlurIsNoWiderThanALook(t *testing.T) {
	w := &world{t: t, rnd: rand.New(rand.NewPCG(1, 2)), now: 1}
	c := &modelled{}
	w.conns = []*modelled{c}
	c.receiving() // the first epoch tells nothing
	c.found()
	pass := func(steps int, step func()) {
		for range steps {
			w.now++
			step()
		}
	}
	for range 100 {
		pass(1000, func() {}) // silence, and then a glance
		pass(3, w.glance)
		begin := w.now
		pass(5, func() { w.arrive(c) })
		for c.pending || w.poll.step != 0 {
			pass(1, w.look)
		}
		for len(c.queue) > 0 {
			w.now++
			if w.read(c); c.ready {
				continue
			}
			if c.last.Time()-c.last.Blur < begin-3 {
				t.Fatalf("what came from %v on is said to have come after %v", begin, c.last.Time()-c.last.Blur)
			}
		}
		pass(2, func() { w.read(c) }) // which finds nothing
	}
}

// A connection whose poller is kept from its work reads late: what it reads came after the last look,
// not at any moment of the silence before.
func TestBlurOfALateRead(t *testing.T) {
	awaitStamps(t)
	t.Run("plain", func(t *testing.T) { lateRead(t, nil, nil) })
	t.Run("tls", func(t *testing.T) {
		s := httptest.NewTLSServer(nil)
		defer s.Close()
		pool := x509.NewCertPool()
		pool.AddCert(s.Certificate())
		lateRead(t, s.TLS, &tls.Config{RootCAs: pool, ServerName: "example.com"})
	})
}

func lateRead(t *testing.T, server, client *tls.Config) {
	proceed, sent := make(chan struct{}), make(chan time.Time)
	addr := serve(t, func(tcp *net.TCPConn) {
		c := net.Conn(tcp)
		if server != nil {
			c = tls.Server(tcp, server)
		}
		for askLine(c) {
			_, _ = io.WriteString(c, "first")
			<-proceed
			began := time.Now()
			for _, s := range []string{"a", "b", "c", "."} {
				_, _ = io.WriteString(c, s)
			}
			sent <- began
		}
	})
	d := NewDialer(NewClock(), addr, DialOptions{TLS: client, Timeout: patience})
	t.Cleanup(d.Close)
	c, p := polledConn(t, d, 0)
	defer c.Close()
	for range 20 {
		first, ended := make(chan struct{}, 1), make(chan error)
		var reads []read
		go func() {
			_, _, err := c.Exchange(t.Context(), c.sock.clock.Now(), []byte("?\n"), Timeouts{}, func(b []byte, at Stamp) bool {
				if reads = append(reads, read{string(b), at.Narrow(false, true, c.Single)}); string(b) == "first" {
					first <- struct{}{}
				} else if len(b) == 1 && c.Complete() && !c.Single() {
					t.Errorf("%q is said to be all of its read, at %+v", b, at)
				}
				return b[len(b)-1] != '.'
			})
			ended <- err
		}()
		<-first
		quiet := d.clock.Now()
		for begin := time.Now(); p.poller.looks.last() <= quiet; runtime.Gosched() { // until somebody has looked
			if time.Since(begin) > patience {
				t.Fatal("nobody looks at a silent connection")
			}
		}
		p.poller.mu.Lock()
		proceed <- struct{}{}
		began := (<-sent).Sub(d.clock.start)
		p.poller.mu.Unlock()
		if err := <-ended; err != nil || len(reads) < 2 {
			t.Fatalf("reads %v, error %v", reads, err)
		}
		for _, r := range reads[1:] {
			// The kernel stamps by the wall clock, which may be off by a little.
			const off = 100 * time.Microsecond
			from := r.at.Time() - r.at.Blur
			if all := reads[1].at.User == reads[len(reads)-1].at.User; all && (from > began+off || from < quiet-off || r.at.Blur == 0) {
				t.Errorf("what was sent from %v on is said to have come after %v: %+v; the silence began at %v", began, from, r.at, quiet)
			}
		}
	}
}

// A server that has sent as many segments as it may before one is acknowledged waits with the next
// while nobody reads: those came in the end when they were let, and not when they were sent.
func TestServerThatWaitsForAcknowledgements(t *testing.T) {
	awaitStamps(t)
	const segments, size = 24, 80
	proceed, sent := make(chan struct{}), make(chan []time.Time)
	addr := serve(t, func(tcp *net.TCPConn) {
		for askLine(tcp) {
			_, _ = io.WriteString(tcp, "first")
			<-proceed
			var at []time.Time
			for i := range segments {
				at = append(at, time.Now())
				_, _ = tcp.Write(slices.Repeat([]byte{byte('a' + i)}, size))
			}
			sent <- at
		}
	})
	d := NewDialer(NewClock(), addr, DialOptions{Timeout: patience})
	t.Cleanup(d.Close)
	c, p := polledConn(t, d, 0)
	defer c.Close()
	for range 10 {
		first, ended := make(chan struct{}, 1), make(chan error)
		var reads []read
		go func() {
			_, _, err := c.Exchange(t.Context(), c.sock.clock.Now(), []byte("?\n"), Timeouts{}, func(b []byte, at Stamp) bool {
				if reads = append(reads, read{string(b), at.Narrow(true, true, c.Single)}); string(b) == "first" {
					first <- struct{}{}
				}
				return b[len(b)-1] != 'a'+segments-1
			})
			ended <- err
		}()
		<-first
		p.poller.mu.Lock() // nobody reads
		proceed <- struct{}{}
		at := <-sent
		time.Sleep(2 * stallsAfter)
		p.poller.mu.Unlock()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		for _, r := range reads[1:] {
			const off = 100 * time.Microsecond // of the wall clock
			last := at[r.text[len(r.text)-1]-'a'].Sub(d.clock.start)
			from := r.at.Time() - r.at.Blur
			if !r.at.Loose {
				from = r.at.Time()
			}
			if from > last+time.Millisecond+off {
				t.Errorf("what was sent at %v is said to have come after %v: %+v", last, from, r.at)
			}
		}
	}
}

// Records of TLS are followed through reads of any size.
func TestRecords(t *testing.T) {
	record := func(n int) []byte { return append([]byte{23, 3, 3, byte(n >> 8), byte(n)}, make([]byte, n)...) }
	stream := slices.Concat(record(3), record(0), record(300), record(1))
	var ends []int // of the records
	for at, n := range []int{3, 0, 300, 1} {
		last := 0
		if at > 0 {
			last = ends[at-1]
		}
		ends = append(ends, last+5+n)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var r records
		for at := 0; at < len(stream); {
			n := min(1+rnd.IntN(rnd.IntN(300)+1), len(stream)-at)
			r.read(stream[at : at+n])
			want, torn := 0, true
			for _, end := range ends {
				if end > at && end <= at+n {
					want++
				}
				torn = torn && end != at+n
			}
			if at += n; r.ends != want || r.torn != torn {
				t.Fatalf("%d bytes up to %d: %d records end, torn %v; want %d, %v", n, at, r.ends, r.torn, want, torn)
			}
		}
	}
}

// A server may have to wait while much lies unread: from then on nothing is known better than that.
func TestHeld(t *testing.T) {
	var b blur
	first := b.read(Stamp{Kernel: 100, User: 350}, Stamp{}, 0, false)
	b.full(first, Stamp{})
	second := b.read(Stamp{Kernel: 300, User: 400}, first, 299, false)
	b.full(second, first) // of its time 50 were counted already
	third := b.read(Stamp{Kernel: 410, User: 420}, second, 409, false)
	if first.Held != 0 || second.Held != 250 || third.Held != 300 {
		t.Errorf("held for %v, %v, %v; want 0, 250, 300", first.Held, second.Held, third.Held)
	}
	never := func() bool { return false }
	if got := third.Narrow(true, true, never); got.Blur != 300 || !got.Loose {
		t.Errorf("%+v: want it loose by 300", got)
	}
	unstamped := b.read(Stamp{Kernel: record.Never, User: 500}, third, 0, false)
	if got := unstamped.Narrow(true, true, never); got.Blur != 300 || !got.Loose {
		t.Errorf("%+v: want it loose by 300", got)
	}
	unstamped.Held = 0
	if got := unstamped.Narrow(true, true, never); got.Blur != 90 || !got.Loose {
		t.Errorf("%+v: want it loose since the read at 410", got)
	}
}
