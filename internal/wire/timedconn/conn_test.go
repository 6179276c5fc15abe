package timedconn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// serve answers each connection with handle and gives the address.
func serve(t *testing.T, handle func(c *net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				handle(c.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func dial(t *testing.T, addr string) *Conn {
	t.Helper()
	d := NewDialer(NewClock(), addr, DialOptions{Timeout: patience})
	t.Cleanup(d.Close)
	open := func(ctx context.Context) (*Conn, error) { return d.dial(ctx, 0, nil) } // as where there is no poller
	if strings.HasPrefix(t.Name(), "TestPolled/") {
		open = d.Dial
	}
	c, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// read is one read of a response.
type read struct {
	text string
	at   Stamp
}

// ask sends a line and reads until the response ends in a full stop.
func ask(ctx context.Context, c *Conn, lim Timeouts) (reads []read, sent, written time.Duration, err error) {
	sent, written, err = c.Exchange(ctx, c.sock.clock.Now(), []byte("?\n"), lim, func(p []byte, at Stamp) bool {
		reads = append(reads, read{string(p), at})
		return !bytes.HasSuffix(p, []byte("."))
	})
	return reads, sent, written, err
}

// askLine reads one request of ask.
func askLine(c net.Conn) bool {
	var b [2]byte
	_, err := io.ReadFull(c, b[:])
	return err == nil
}

// hold keeps a connection open and silent until its client leaves.
func hold(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func wantClass(t *testing.T, err error, class record.Class) {
	t.Helper()
	if err == nil || Classify(err) != class {
		t.Fatalf("ended with %v (%s), want class %s", err, Classify(err), class)
	}
}

func TestStampsAreInOrder(t *testing.T) {
	next := make(chan int64, 1) // when the server wrote, on the wall clock
	addr := serve(t, func(c *net.TCPConn) {
		for askLine(c) {
			for _, s := range []string{"one", "two", "three", "four", "."} {
				next <- time.Now().UnixNano()
				_, _ = io.WriteString(c, s)
			}
		}
	})
	awaitStamps(t)
	c := dial(t, addr)
	for range 3 {
		last := c.sock.clock.Now()
		var text strings.Builder
		sent, written, err := c.Exchange(t.Context(), c.sock.clock.Now(), []byte("?\n"), Timeouts{}, func(p []byte, at Stamp) bool {
			wrote := c.sock.clock.FromWall(<-next) // lets the server write its next piece
			text.Write(p)
			if at.User < last || at.User < wrote {
				t.Errorf("%q was read at %v, the one before at %v, written at %v", p, at.User, last, wrote)
			}
			last = at.User
			checkKernelStamp(t, wrote, at)
			return !strings.HasSuffix(string(p), ".")
		})
		if err != nil || text.String() != "onetwothreefour." {
			t.Fatalf("got %q, error %v", text.String(), err)
		}
		if sent == record.Never || written < sent || last < written {
			t.Errorf("sent %v, written %v, last read %v", sent, written, last)
		}
	}
}

func TestFirstByteLimit(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) { hold(c) })
	_, sent, written, err := ask(t.Context(), dial(t, addr), Timeouts{FirstByte: 30 * time.Millisecond, Stall: time.Minute})
	wantClass(t, err, record.NoFirstByte)
	if sent == record.Never || written == record.Never {
		t.Errorf("sent %v, written %v: it did go out", sent, written)
	}
}

func TestStallLimit(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "first")
		hold(c)
	})
	reads, _, _, err := ask(t.Context(), dial(t, addr), Timeouts{FirstByte: patience, Stall: 30 * time.Millisecond})
	wantClass(t, err, record.Stalled)
	if len(reads) != 1 || reads[0].text != "first" {
		t.Errorf("read %v before the stall", reads)
	}
}

func TestRequestLimit(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := io.WriteString(c, "drip"); err != nil {
				return
			}
		}
	})
	for limit := 50 * time.Millisecond; limit < patience; limit *= 2 { // until the machine gets something read within it
		reads, _, _, err := ask(t.Context(), dial(t, addr), Timeouts{FirstByte: patience, Stall: patience, Request: limit})
		wantClass(t, err, record.TimedOut)
		if len(reads) > 0 {
			return
		}
	}
	t.Error("nothing was read")
}

// A server that sends faster than its response is taken never lets a read wait, which is
// where deadlines fire: the limits count all the same, and so does an abort.
func TestLimitsUnderAFlood(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		for flood := make([]byte, 1<<20); ; {
			if _, err := c.Write(flood); err != nil {
				return
			}
		}
	})
	// flooded takes a response slowly, until the exchange is over or patience is.
	flooded := func(ctx context.Context, lim Timeouts, first func()) error {
		c := dial(t, addr)
		began := c.sock.clock.Now()
		_, _, err := c.Exchange(ctx, c.sock.clock.Now(), []byte("?\n"), lim, func(p []byte, at Stamp) bool {
			if first != nil {
				first()
				first = nil
			}
			for c.sock.clock.Now() < at.User+time.Millisecond {
			}
			return at.User-began < patience
		})
		return err
	}
	wantClass(t, flooded(t.Context(), Timeouts{Request: 50 * time.Millisecond}, nil), record.TimedOut)
	ctx, cancel := context.WithCancel(t.Context())
	if err := flooded(ctx, Timeouts{}, cancel); !errors.Is(err, ErrAborted) {
		t.Errorf("aborted: ended with %v", err)
	}
}

// A limit on the first byte is over with the first byte, however long the rest takes.
func TestFirstByteLimitEndsWithTheFirstByte(t *testing.T) {
	var limit atomic.Int64
	addr := serve(t, func(c *net.TCPConn) {
		for askLine(c) {
			_, _ = io.WriteString(c, "first")
			<-time.After(2 * time.Duration(limit.Load()))
			_, _ = io.WriteString(c, "last.")
		}
	})
	limit.Store(int64(30 * time.Millisecond))
	c := dial(t, addr)
	for right := 0; right < 2; {
		lim := time.Duration(limit.Load())
		switch reads, _, _, err := ask(t.Context(), c, Timeouts{FirstByte: lim}); {
		case err == nil && len(reads) == 2:
			right++
		case err != nil && len(reads) == 0 && lim < patience: // the machine was too slow even for the first
			wantClass(t, err, record.NoFirstByte)
			limit.Store(int64(2 * lim))
			c, right = dial(t, addr), 0
		default:
			t.Fatalf("reads %v, error %v", reads, err)
		}
	}
}

// Deadlines are set lazily, so one of an earlier request may fire while the
// connection is idle. The next request must not notice.
func TestDeadlineOfAnEarlierRequestDoesNoHarm(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		for askLine(c) {
			_, _ = io.WriteString(c, "answer.")
		}
	})
	c := dial(t, addr)
	limit := 20 * time.Millisecond
	for right := 0; right < 3; <-time.After(2 * limit) {
		begin := time.Now()
		reads, sent, written, err := ask(t.Context(), c, Timeouts{Request: limit})
		switch {
		case err == nil && len(reads) > 0 && sent != record.Never && written != record.Never:
			right++
		case err != nil && time.Since(begin) >= limit && limit < patience: // its own deadline: the machine was too slow
			wantClass(t, err, record.TimedOut)
			limit *= 2
			c, right = dial(t, addr), 0
		default:
			t.Fatalf("reads %v, sent %v, written %v, error %v after %v", reads, sent, written, err, time.Since(begin))
		}
	}
}

func TestAbortFromAnotherGoroutine(t *testing.T) {
	reached := make(chan struct{}, 1)
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "first")
		hold(c)
	})
	for _, lim := range []Timeouts{{}, {Stall: time.Minute, Request: time.Minute}} {
		c := dial(t, addr)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-reached
			cancel()
		}()
		_, _, err := c.Exchange(ctx, c.sock.clock.Now(), []byte("?\n"), lim, func([]byte, Stamp) bool {
			reached <- struct{}{}
			return true
		})
		if !errors.Is(err, ErrAborted) {
			t.Fatalf("ended with %v, want %v", err, ErrAborted)
		}
		if c.Usable() {
			t.Error("an aborted connection is said to be usable")
		}
		if _, sent, _, err := ask(ctx, c, lim); !errors.Is(err, ErrAborted) || sent != record.Never {
			t.Errorf("a request after the abort: sent %v, error %v", sent, err)
		}
	}
}

func TestAbortAndLimitsWhileWriting(t *testing.T) {
	release := make(chan struct{})
	addr := serve(t, func(*net.TCPConn) { <-release }) // never reads
	defer close(release)
	request := make([]byte, 32<<20)
	ctx, cancel := context.WithCancel(t.Context())
	c := dial(t, addr)
	go func() {
		<-time.After(20 * time.Millisecond)
		cancel()
	}()
	if _, _, err := c.Exchange(ctx, c.sock.clock.Now(), request, Timeouts{}, nil); !errors.Is(err, ErrAborted) {
		t.Errorf("aborted while writing: ended with %v", err)
	}
	_, _, err := dial(t, addr).Exchange(t.Context(), time.Second, request, Timeouts{Request: 30 * time.Millisecond}, nil)
	wantClass(t, err, record.TimedOut)
}

// A server may refuse a large request before it has read all of it, and hang up.
// Its response counts, not the broken pipe.
func TestAnswerBeforeTheRequestIsRead(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "too large.")
		_ = c.CloseWrite()
	})
	c := dial(t, addr)
	var got string
	_, _, err := c.Exchange(t.Context(), c.sock.clock.Now(), make([]byte, 32<<20), Timeouts{}, func(p []byte, _ Stamp) bool {
		got += string(p)
		return !strings.HasSuffix(got, ".")
	})
	if err != nil || got != "too large." {
		t.Fatalf("got %q, error %v", got, err)
	}
	if c.Usable() {
		t.Error("a connection with half a request on it is said to be usable")
	}
}

func TestServerThatHangsUp(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "fir")
	})
	reads, _, _, err := ask(t.Context(), dial(t, addr), Timeouts{})
	if !errors.Is(err, io.EOF) || len(reads) != 1 {
		t.Errorf("reads %v, error %v, want an end of stream after one", reads, err)
	}
	addr = serve(t, func(c *net.TCPConn) {
		askLine(c)
		_ = c.SetLinger(0)
	})
	_, _, _, err = ask(t.Context(), dial(t, addr), Timeouts{})
	wantClass(t, err, record.Reset)
}

func TestDialFailures(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name, addr string
		ctx        context.Context
		class      record.Class
	}{
		{"refused", closed.Addr().String(), t.Context(), record.ConnectFailed},
		{"no such host", "host.invalid:80", t.Context(), record.ResolveFailed},
		{"no port", "127.0.0.1", t.Context(), record.ResolveFailed},
		{"context ended", closed.Addr().String(), ended, record.ConnectFailed},
	} {
		d := NewDialer(NewClock(), tt.addr, DialOptions{Timeout: patience})
		_, err := d.Dial(tt.ctx)
		d.Close()
		if err == nil || Classify(err) != tt.class {
			t.Errorf("%s: %v, want class %s", tt.name, err, tt.class)
		}
	}
}

func TestOpenedTellsTheSteps(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) { hold(c) })
	_, port, _ := net.SplitHostPort(addr)
	c := dial(t, net.JoinHostPort("localhost", port))
	if o := c.Opened(); o.Connect <= 0 || o.Resolve <= 0 || o.TLS != 0 || o.Reused {
		t.Errorf("opening by name: %+v", o)
	}
	if o := dial(t, addr).Opened(); o.Connect <= 0 {
		t.Errorf("opening by address: %+v", o)
	}
}
