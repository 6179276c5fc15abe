package http1

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func TestUntaken(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		ending timedconn.CloseReason
		alone  bool
		want   bool
	}{
		{"closed before it was sent", timedconn.CloseReason{At: 90 * ms}, true, true},
		{"reset at once", timedconn.CloseReason{At: 101 * ms}, true, true},
		{"reset after some work", timedconn.CloseReason{At: 140 * ms}, true, false},
		{"reset after some work, not confirmed yet", timedconn.CloseReason{At: 140 * ms, Known: true, Lacks: true}, true, false},
		{"reset within a long round trip", timedconn.CloseReason{At: 140 * ms, RTT: 60 * ms}, true, true},
		{"closed at once, all received", timedconn.CloseReason{At: 101 * ms, Orderly: true, Known: true}, true, false},
		{"closed, not received", timedconn.CloseReason{At: 101 * ms, Orderly: true, Known: true, Lacks: true}, true, true},
		{"closed, not received, noticed late", timedconn.CloseReason{At: 900 * ms, Orderly: true, Known: true, Lacks: true}, true, true},
		{"the same among others", timedconn.CloseReason{At: 900 * ms, Orderly: true, Known: true, Lacks: true}, false, false},
		{"closed at once among others, not received", timedconn.CloseReason{At: 101 * ms, Orderly: true, Known: true, Lacks: true}, false, true},
		{"closed at once, the system does not say", timedconn.CloseReason{At: 101 * ms, Orderly: true}, true, true},
		{"closed late, the system does not say", timedconn.CloseReason{At: 140 * ms, Orderly: true}, true, false},
	} {
		if got := (&Dropped{CloseReason: tt.ending}).SafeToResend(100*ms, Soon, tt.alone); got != tt.want {
			t.Errorf("%s: goes again: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// dropping answers the first request of each connection and drops every later one,
// in order or with a reset. It counts the requests that it has read.
func dropping(t *testing.T, reset bool) (addr string, read *atomic.Int64) {
	read = new(atomic.Int64)
	return serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
		for i := 0; request(in) != nil; i++ {
			if read.Add(1); i > 0 {
				if reset {
					_ = c.SetLinger(0)
				}
				return
			}
			_, _ = io.WriteString(c, hello)
		}
	}), read
}

// differs: ip-resent
func TestDroppedRequests(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reset bool
		soon  time.Duration
		again bool
	}{
		{"closed", false, 0, false},
		{"reset after some work", true, 0, false},
		{"reset at once", true, time.Hour, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr, read := dropping(t, tt.reset)
			c := client(t, addr, timedconn.Timeouts{})
			c.soon = tt.soon
			succeeded(t, send(t.Context(), c, addr, "{}"), "hello")
			rec := send(t.Context(), c, addr, "{}")
			if tt.again {
				succeeded(t, rec, "hello")
				if rec.Resent != 1 || rec.Conn.Reused || read.Load() != 3 {
					t.Errorf("sent again %d times, on connection %+v, and the server read %d requests", rec.Resent, rec.Conn, read.Load())
				}
				if rec.LastTry <= rec.Sent {
					t.Errorf("sent at %v, and last at %v", rec.Sent, rec.LastTry)
				}
				if first := rec.Marks[0].User - rec.Conn.Connect; rec.Sent > first {
					t.Errorf("sent at %v, when its second connection was open already", rec.Sent)
				}
				return
			}
			failed(t, rec, record.Dropped, "without a response")
			if rec.Resent != 0 || rec.Sent == record.Never || read.Load() != 2 {
				t.Errorf("sent again %d times, sent %v, and the server read %d requests", rec.Resent, rec.Sent, read.Load())
			}
		})
	}
}

// A request goes again once, and never where its connection is a new one.
func TestDroppedTwice(t *testing.T) {
	var opened atomic.Int64
	addr := serve(t, func(n int, c *net.TCPConn, in *bufio.Reader) {
		opened.Add(1)
		if request(in); n == 0 {
			_, _ = io.WriteString(c, hello)
			request(in)
		}
		_ = c.SetLinger(0)
	})
	c := client(t, addr, timedconn.Timeouts{})
	c.soon = time.Hour
	succeeded(t, send(t.Context(), c, addr, "{}"), "hello")
	rec := send(t.Context(), c, addr, "{}")
	failed(t, rec, record.Dropped, "reset the connection without a response")
	if rec.Resent != 1 || opened.Load() != 2 {
		t.Errorf("sent again %d times on %d connections", rec.Resent, opened.Load())
	}
	rec = send(t.Context(), c, addr, "{}")
	failed(t, rec, record.Dropped, "reset the connection without a response")
	if rec.Resent != 0 || opened.Load() != 3 {
		t.Errorf("on a new connection: sent again %d times, %d connections", rec.Resent, opened.Load())
	}
}

// A server has closed an idle connection, and the request that meets it there is one
// that it cannot have taken, however late this side looks.
func TestClosedBeforeItWasSent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what the server has received")
	}
	leave := make(chan struct{})
	addr := serve(t, func(n int, c *net.TCPConn, in *bufio.Reader) {
		if n > 0 {
			answer(hello)(n, c, in)
			return
		}
		request(in)
		_, _ = io.WriteString(c, hello)
		<-leave
	})
	c := client(t, addr, timedconn.Timeouts{})
	c.soon = -time.Hour
	succeeded(t, send(t.Context(), c, addr, "{}"), "hello")
	l := c.idleConn(0)
	close(leave)
	for l.conn.Usable() { // until the end has come
		runtime.Gosched()
	}
	rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never}}
	c.carry(t.Context(), l, head(addr).Encode([]byte("{}")), rec)
	succeeded(t, rec, "hello")
	if rec.Resent != 1 {
		t.Errorf("sent again %d times", rec.Resent)
	}
}

func TestServerThatNeverAnswers(t *testing.T) {
	var opened atomic.Int64
	addr := serve(t, func(_ int, _ *net.TCPConn, in *bufio.Reader) {
		opened.Add(1)
		request(in)
	})
	c := client(t, addr, timedconn.Timeouts{})
	c.soon = time.Hour
	rec := send(t.Context(), c, addr, "{}")
	failed(t, rec, record.Dropped, "closed the connection without a response")
	if opened.Load() != 1 || rec.Sent == record.Never {
		t.Errorf("%d connections, sent %v; a new connection's failure is not tried again", opened.Load(), rec.Sent)
	}
}

// TestAlertThenEnd: a server that turns a certificate down says so and hangs up. The
// connection's end does not hide why.
func TestAlertThenEnd(t *testing.T) {
	rec := new(record.Exchange)
	Fail(t.Context(), rec, &Dropped{Err: &net.OpError{Op: "remote error", Err: tls.AlertError(48)}}, 0)
	if rec.Failure.Class != record.TLSFailed {
		t.Errorf("%+v", rec.Failure)
	}
}
