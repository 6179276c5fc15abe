package http1

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	netclock "github.com/inferometer/inferometer/internal/wire/timedconn"
)

// serve lets handle play the server on each connection, numbered from 0, and gives
// its address.
func serve(t *testing.T, handle func(n int, c *net.TCPConn, in *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				handle(n, c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// request reads one request; nil: the client left.
func request(in *bufio.Reader) []byte {
	r, err := http.ReadRequest(in)
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil
	}
	return append([]byte{}, body...)
}

// answer says the same to each request.
func answer(text string) func(int, *net.TCPConn, *bufio.Reader) {
	return func(_ int, c *net.TCPConn, in *bufio.Reader) {
		for request(in) != nil {
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
}

// answerAndLeave says something to the first request and hangs up.
func answerAndLeave(text string) func(int, *net.TCPConn, *bufio.Reader) {
	return func(_ int, c *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, _ = io.WriteString(c, text)
	}
}

// answerAndStay says something to the first request, perhaps nothing, and waits.
func answerAndStay(text string) func(int, *net.TCPConn, *bufio.Reader) {
	return func(_ int, c *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, in)
	}
}

func client(t *testing.T, addr string, lim netclock.Timeouts) *Client {
	t.Helper()
	clock := netclock.NewClock()
	c := NewClient(clock, netclock.NewDialer(clock, addr, netclock.DialOptions{Timeout: 10 * time.Second}), lim)
	t.Cleanup(func() { c.Close() })
	return c
}

func head(addr string) *Head {
	return NewHead(&url.URL{Scheme: "http", Host: addr, Path: "/v1/chat/completions"}, []Field{{"Content-Type", "application/json"}}, nil)
}

// send carries out a request with a body.
func send(ctx context.Context, c *Client, addr, body string) *record.Exchange {
	rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never}}
	c.Do(ctx, head(addr).Encode([]byte(body)), rec)
	return rec
}

func succeeded(t *testing.T, rec *record.Exchange, body string) {
	t.Helper()
	if rec.Failure != nil {
		t.Fatalf("failed: %+v", *rec.Failure)
	}
	if string(rec.Body) != body {
		t.Fatalf("the answer is %.100q, %d bytes long; want %.100q, %d bytes", rec.Body, len(rec.Body), body, len(body))
	}
	consistent(t, rec)
}

// consistent checks what holds for each request that came to an answer.
func consistent(t *testing.T, rec *record.Exchange) {
	t.Helper()
	if rec.Sent < 0 || rec.Written < rec.Sent || len(rec.Marks) == 0 {
		t.Fatalf("sent %v, written %v, %d reads", rec.Sent, rec.Written, len(rec.Marks))
	}
	var before record.Read
	for i, m := range rec.Marks {
		if m.Off < before.Off || m.User < before.User || m.Time() < before.Time() || m.Time() > m.User || m.User < rec.Sent {
			t.Fatalf("read %d is %+v, the one before %+v, sent %v", i, m, before, rec.Sent)
		}
		before = m
	}
	if before.Off != len(rec.Body) || rec.End < before.Time() {
		t.Fatalf("the last read is %+v, the answer %d bytes long and ended at %v", before, len(rec.Body), rec.End)
	}
}

func failed(t *testing.T, rec *record.Exchange, class record.Class, message string) {
	t.Helper()
	f := rec.Failure
	if f == nil {
		t.Fatalf("succeeded with %q, want a failure of class %s", rec.Body, class)
	}
	if f.Class != class || !strings.Contains(f.Message, message) {
		t.Fatalf("failed with %+v, want class %s and a message with %q", *f, class, message)
	}
	if f.At <= 0 || rec.End <= 0 || f.Status != rec.Status {
		t.Errorf("noticed at %v, ended at %v, status %d and %d", f.At, rec.End, f.Status, rec.Status)
	}
}

const hello = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"

func TestConnectionsAreUsedAgain(t *testing.T) {
	var opened atomic.Int64
	addr := serve(t, func(n int, c *net.TCPConn, in *bufio.Reader) {
		opened.Add(1)
		answer(hello)(n, c, in)
	})
	c := client(t, addr, netclock.Timeouts{})
	for i := range 5 {
		rec := send(t.Context(), c, addr, "{}")
		succeeded(t, rec, "hello")
		if rec.Conn.Reused != (i > 0) || (rec.Conn.Connect > 0) != (i == 0) {
			t.Errorf("request %d: connection %+v", i, rec.Conn)
		}
		if rec.Status != 200 || rec.ContentType != "text/plain" {
			t.Errorf("status %d, content type %q", rec.Status, rec.ContentType)
		}
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections for five requests one after the other", opened.Load())
	}
}

func TestSlotsHaveConnectionsOfTheirOwn(t *testing.T) {
	addr := serve(t, func(n int, c *net.TCPConn, in *bufio.Reader) {
		answer(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", n))(n, c, in)
	})
	c := client(t, addr, netclock.Timeouts{})
	bodies := map[int]string{}
	for i := range 6 {
		rec := &record.Exchange{Record: record.Record{Slot: i % 2}}
		c.Do(t.Context(), head(addr).Encode(nil), rec)
		if before, ok := bodies[rec.Slot]; ok && before != string(rec.Body) {
			t.Errorf("slot %d was served by connection %s, then by %s", rec.Slot, before, rec.Body)
		}
		bodies[rec.Slot] = string(rec.Body)
	}
	if bodies[0] == bodies[1] {
		t.Errorf("both slots were served by connection %s", bodies[0])
	}
}

func TestConnectionsThatAreNotUsedAgain(t *testing.T) {
	for name, text := range map[string]string{
		"close":            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
		"old":              "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"bytes behind":     hello + "HTTP/1.1 408 Request Timeout\r\n\r\n",
		"closed, not said": "HTTP/1.1 200 OK\r\n\r\nhello",
	} {
		addr := serve(t, answerAndLeave(text))
		c := client(t, addr, netclock.Timeouts{})
		for range 3 {
			rec := send(t.Context(), c, addr, "{}")
			succeeded(t, rec, "hello")
			if rec.Conn.Reused {
				t.Errorf("%s: the connection was used again", name)
			}
		}
	}
}

func TestAnswersThatBreakOff(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		class      record.Class
		message    string
		body       string
	}{
		{"in the head", "HTTP/1.1 200 OK\r\nContent-", record.Truncated, "inside the response's headers", ""},
		{"in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", record.Truncated, "4 bytes before", "hello"},
		{"in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", record.Truncated, "inside a chunked response", "hello"},
		{"before the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", record.Truncated, "inside a chunked response", "hello"},
		{"no HTTP", "220 mail.example.com ESMTP\r\n", record.BadBody, "not an HTTP/1.1 response", ""},
		{"hardly anything", "?", record.BadBody, "not an HTTP/1.1 response", ""},
		{"a page", "<html><body>It works!</body></html>", record.BadBody, "not an HTTP/1.1 response", ""},
		{"bad framing", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nworld\r\n", record.BadBody, "not a chunk size", "hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := serve(t, answerAndLeave(tt.text))
			rec := send(t.Context(), client(t, addr, netclock.Timeouts{}), addr, "{}")
			failed(t, rec, tt.class, tt.message)
			if string(rec.Body) != tt.body {
				t.Errorf("kept %q of the answer, want %q", rec.Body, tt.body)
			}
			consistent(t, rec)
		})
	}
}

func TestResetInTheMiddle(t *testing.T) {
	got := make(chan struct{})
	addr := serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
		<-got
		_ = c.SetLinger(0)
	})
	c := client(t, addr, netclock.Timeouts{})
	rec := &record.Exchange{}
	go func() {
		// The reset must not overtake what the client has yet to read.
		<-time.After(20 * time.Millisecond)
		close(got)
	}()
	c.Do(t.Context(), head(addr).Encode(nil), rec)
	failed(t, rec, record.Reset, "")
}

func TestLimits(t *testing.T) {
	const short = 200 * time.Millisecond // what is sent at all is sent within it
	begun := "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"
	for _, tt := range []struct {
		name, text string
		lim        netclock.Timeouts
		class      record.Class
	}{
		{"no first byte", "", netclock.Timeouts{FirstByte: short}, record.NoFirstByte},
		{"no first byte, whole request", "", netclock.Timeouts{FirstByte: time.Minute, Request: short}, record.TimedOut},
		{"stall", begun, netclock.Timeouts{FirstByte: time.Minute, Stall: short, Request: time.Minute}, record.Stalled},
		{"stall in the head", "HTTP/1.1 200 OK\r\n", netclock.Timeouts{Stall: short}, record.Stalled},
		{"whole request", begun, netclock.Timeouts{FirstByte: time.Minute, Request: short}, record.TimedOut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			addr := serve(t, answerAndStay(tt.text))
			c := client(t, addr, tt.lim)
			rec := send(t.Context(), c, addr, "{}")
			failed(t, rec, tt.class, "in time")
			if rec.Sent == record.Never || rec.Written == record.Never {
				t.Errorf("sent %v, written %v", rec.Sent, rec.Written)
			}
			if l := c.idleConn(0); l != nil {
				t.Error("the connection was kept")
			}
		})
	}
}

func TestStoppedFromOutside(t *testing.T) {
	for _, tt := range []struct {
		cause error
		class record.Class
	}{
		{context.Canceled, record.Cancelled},
		{record.ErrCutOff, record.CutOff},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		addr := serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
			request(in)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
			cancel(tt.cause)
			_, _ = io.Copy(io.Discard, in)
		})
		c := client(t, addr, netclock.Timeouts{})
		failed(t, send(ctx, c, addr, "{}"), tt.class, "")
		failed(t, send(ctx, c, addr, "{}"), tt.class, "") // and before it was sent
	}
}

func TestServersThatCannotBeReached(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for addr, class := range map[string]record.Class{
		closed.Addr().String(): record.ConnectFailed,
		"host.invalid:80":      record.ResolveFailed,
	} {
		c := client(t, addr, netclock.Timeouts{})
		rec := send(t.Context(), c, addr, "{}")
		failed(t, rec, class, "")
		if rec.Sent != record.Never || rec.Written != record.Never || len(rec.Marks) != 0 {
			t.Errorf("%s: sent %v, written %v, %d reads", addr, rec.Sent, rec.Written, len(rec.Marks))
		}
		if err := c.Warm(t.Context(), 3); err == nil || netclock.Classify(err) != class || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: warming up says %v, want one error of class %s", addr, err, class)
		}
	}
}

func TestRefusedRequestsKeepTheirConnection(t *testing.T) {
	addr := serve(t, answer("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy"))
	c := client(t, addr, netclock.Timeouts{})
	for i := range 2 {
		rec := send(t.Context(), c, addr, "{}")
		failed(t, rec, record.HTTPStatus, "")
		if rec.Status != 503 || rec.RetryAfter != "7" || string(rec.Body) != "busy" || rec.Conn.Reused != (i > 0) {
			t.Errorf("status %d, Retry-After %q, body %q, connection %+v", rec.Status, rec.RetryAfter, rec.Body, rec.Conn)
		}
		consistent(t, rec)
	}
}
