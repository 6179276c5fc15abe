package http1

import (
	"bufio"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// lease allows so many requests.
func lease(n int) func() bool {
	return func() bool { n--; return n >= 0 }
}

// A request that may not be sent by the time its connection is open is not. On one that was used before nothing has come between it and the
// engine, which has asked.
func TestBarred(t *testing.T) {
	var read atomic.Int64
	addr := serve(t, func(n int, c *net.TCPConn, in *bufio.Reader) {
		for request(in) != nil {
			read.Add(1)
			_, _ = io.WriteString(c, hello)
		}
	})
	c := client(t, addr, timedconn.Timeouts{})
	rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never}, MaySend: lease(0)}
	c.Do(t.Context(), head(addr).Encode([]byte("{}")), rec)
	failed(t, rec, record.Cancelled, "nothing may be sent any more")
	if rec.Sent != record.Never || rec.Conn.Reused {
		t.Errorf("sent at %v on connection %+v", rec.Sent, rec.Conn)
	}
	if n := read.Load(); n != 0 {
		t.Errorf("the server read %d requests", n)
	}
}

// One that a server has dropped does not go again; why it failed stands.
func TestBarredFromGoingAgain(t *testing.T) {
	addr, read := dropping(t, true)
	c := client(t, addr, timedconn.Timeouts{})
	c.soon = time.Hour
	succeeded(t, send(t.Context(), c, addr, "{}"), "hello")
	rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never}, MaySend: lease(0)}
	c.Do(t.Context(), head(addr).Encode([]byte("{}")), rec)
	failed(t, rec, record.Dropped, "without a response")
	if rec.Resent != 0 || rec.Sent == record.Never || read.Load() != 2 {
		t.Errorf("sent again %d times, first at %v, and the server read %d requests", rec.Resent, rec.Sent, read.Load())
	}
}
