//go:build linux && !386 && !s390x

package clock

import (
	"io"
	"math/rand/v2"
	"net"
	"runtime"
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
	if came[0] < at.At()-at.Blur || came[n-1] > at.At() || at.At()-at.Blur < 0 {
		w.t.Errorf("bytes of %v to %v are said to have come from %v to %v", came[0], came[n-1], at.At()-at.Blur, at.At())
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
			if c.last.At()-c.last.Blur < begin-3 {
				t.Fatalf("what came from %v on is said to have come after %v", begin, c.last.At()-c.last.Blur)
			}
		}
		pass(2, func() { w.read(c) }) // which finds nothing
	}
}

// A connection whose poller is kept from its work reads late: what it reads came after the last look,
// not at any moment of the silence before.
func TestBlurOfALateRead(t *testing.T) {
	awaitStamps(t)
	proceed, sent := make(chan struct{}), make(chan time.Time)
	addr := serve(t, func(c *net.TCPConn) {
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
	d := NewDialer(NewClock(), addr, DialOptions{Timeout: patience})
	t.Cleanup(d.Close)
	c, p := polledConn(t, d, 0)
	defer c.Close()
	for range 20 {
		first := make(chan struct{}, 1)
		type result struct {
			reads []read
			err   error
		}
		ended := make(chan result)
		go func() {
			var reads []read
			_, _, err := c.Exchange(t.Context(), []byte("?\n"), Limits{}, func(b []byte, at Stamp) bool {
				if reads = append(reads, read{string(b), at.Narrow(false, true, c.Single)}); string(b) == "first" {
					first <- struct{}{}
				}
				return b[len(b)-1] != '.'
			})
			ended <- result{reads, err}
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
		got := <-ended
		if got.err != nil || len(got.reads) < 2 {
			t.Fatalf("reads %v, error %v", got.reads, got.err)
		}
		at := got.reads[1].at
		if from := at.At() - at.Blur; len(got.reads) == 2 && (from > began || from < quiet) {
			t.Errorf("what was sent from %v on is said to have come after %v; the silence began at %v", began, from, quiet)
		}
	}
}
