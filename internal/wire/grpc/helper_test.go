package grpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	real "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"

	"github.com/inferometer/inferometer/internal/record"
	netclock "github.com/inferometer/inferometer/internal/wire/timedconn"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

const (
	unaryMethod  = "/test.Service/Unary"
	streamMethod = "/test.Service/Stream"
)

// raw passes messages through as they are.
type raw struct{}

func (raw) Name() string { return "raw" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// server is a gRPC server of grpc-go's.
type server struct {
	addr  string
	tls   *tls.Config
	srv   *real.Server
	conns atomic.Int64
}

// counted counts the connections that a listener accepts.
type counted struct {
	net.Listener
	n *atomic.Int64
}

func (l counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.n.Add(1)
	}
	return c, err
}

// serve starts a server whose calls are all handled by h.
func serve(t testing.TB, h real.StreamHandler, options ...real.ServerOption) *server {
	t.Helper()
	return serveOn(t, "127.0.0.1:0", h, options...)
}

func serveOn(t testing.TB, addr string, h real.StreamHandler, options ...real.ServerOption) *server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String()}
	s.srv = real.NewServer(append(options, real.ForceServerCodecV2(raw{}), real.UnknownServiceHandler(h), real.MaxRecvMsgSize(largest),
		real.MaxConcurrentStreams(1000))...)
	go func() { _ = s.srv.Serve(counted{l, &s.conns}) }()
	t.Cleanup(s.srv.Stop)
	return s
}

// client makes a Client for a server.
func (s *server) client(t testing.TB, o Options) *Client {
	t.Helper()
	clock := netclock.NewClock()
	d := netclock.NewDialer(clock, s.addr, netclock.DialOptions{TLS: s.tls, Timeout: patience})
	if o.Authority == "" {
		o.Authority = s.addr
	}
	o.Secure = s.tls != nil
	c := NewClient(clock, d, o)
	c.linger = 10 * time.Millisecond
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// secure makes a server speak TLS.
func secure(t testing.TB, cert tls.Certificate) real.ServerOption {
	t.Helper()
	return real.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{cert}}))
}

// The test's own messages: a mark, the id of the request, a space, text. The mark is
// '>' for one that others follow, '.' for the last one, '!' for an error.
func sortTest(m []byte) (id []byte, last, failed bool) {
	if len(m) == 0 {
		return nil, false, false
	}
	id, _, _ = bytes.Cut(m[1:], []byte(" "))
	return id, m[0] == '.', m[0] == '!'
}

// texts are the messages of a record's body.
func texts(t testing.TB, rec *record.Exchange) []string {
	t.Helper()
	var all []string
	s := splitter{most: largest}
	for p := rec.Body; len(p) > 0; {
		m, rest, err := s.next(p)
		if err != nil || m == nil {
			t.Errorf("a body of %q: %v", rec.Body, err)
			return all
		}
		all = append(all, string(m[prefix:]))
		p = rest
	}
	return all
}

// recv takes the next message of a stream.
func recv(s real.ServerStream) (string, error) {
	var m []byte
	err := s.RecvMsg(&m)
	return string(m), err
}

// send sends a message.
func send(s real.ServerStream, format string, args ...any) error {
	m := fmt.Appendf(nil, format, args...)
	return s.SendMsg(&m)
}

// counting answers each request, "id n text", with n messages that repeat the text.
func counting(_ any, s real.ServerStream) error {
	for {
		m, err := recv(s)
		if err != nil {
			return nil
		}
		var id, text string
		var n int
		if _, err := fmt.Sscan(m, &id, &n, &text); err != nil {
			return err
		}
		for i := 1; i <= n; i++ {
			mark := ">"
			if i == n {
				mark = "."
			}
			if err := send(s, "%s%s %d %s", mark, id, i, text); err != nil {
				return err
			}
		}
	}
}

// want are the messages that counting answers with.
func want(id string, n int, text string) string {
	var all []string
	for i := 1; i <= n; i++ {
		mark := ">"
		if i == n {
			mark = "."
		}
		all = append(all, fmt.Sprintf("%s%s %d %s", mark, id, i, text))
	}
	return strings.Join(all, "|")
}

func message(t testing.TB, c *Client, format string, args ...any) Message {
	t.Helper()
	m, err := c.Prepare(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// await waits until something holds that is bound to.
func await(t testing.TB, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); <-time.After(100 * time.Microsecond) {
		if time.Since(begin) > patience {
			t.Error("it did not come to what the test waits for")
			return
		}
	}
}

// none: a request is not on the stream of its slot.
const none = -1

// heard is how many messages of a request have come, or none.
func (c *Client) heard(slot int, id string) int {
	f := c.lane(slot).flow.Load()
	if f == nil {
		return none
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if q := f.waiting[id]; q != nil {
		return q.messages
	}
	return none
}

// ask carries out a request on a stream.
func ask(t testing.TB, ctx context.Context, c *Client, slot int, id, format string, args ...any) *record.Exchange {
	t.Helper()
	rec := &record.Exchange{Record: record.Record{Slot: slot, Streamed: true}}
	c.Stream(ctx, streamMethod, id, message(t, c, format, args...), rec, sortTest)
	return rec
}

// wantOK makes sure that a record is that of a request that went well.
func wantOK(t testing.TB, rec *record.Exchange, text string) {
	t.Helper()
	if rec.Failure != nil {
		t.Errorf("failed: %+v", *rec.Failure)
		return
	}
	if got := strings.Join(texts(t, rec), "|"); got != text {
		t.Errorf("answer %.200q, want %.200q", got, text)
		return
	}
	checkTimes(t, rec)
}

// checkTimes makes sure that the moments of a record stand in order.
func checkTimes(t testing.TB, rec *record.Exchange) {
	t.Helper()
	n := len(rec.Marks)
	if n == 0 || rec.Marks[n-1].Off != len(rec.Body) || rec.End != rec.Marks[n-1].Time() {
		t.Errorf("marks %+v, end %v", rec.Marks, rec.End)
		return
	}
	if rec.Status != 200 || rec.ContentType != contentType {
		t.Errorf("status %d, content type %q", rec.Status, rec.ContentType)
	}
	if rec.Sent < 0 || rec.Written < rec.Sent || rec.Marks[0].Time() < rec.Sent {
		t.Errorf("sent %v, written %v, first read %v", rec.Sent, rec.Written, rec.Marks[0].Time())
	}
	for i, m := range rec.Marks {
		if i > 0 && (m.Off < rec.Marks[i-1].Off || m.User <= rec.Marks[i-1].User || m.Time() < rec.Marks[i-1].Time()) {
			t.Errorf("mark %d %+v does not follow %+v", i, m, rec.Marks[i-1])
		}
		if m.Kernel > m.User {
			t.Errorf("mark %d %+v: read before it came", i, m)
		}
	}
}

// wantFailure makes sure of a record's failure.
func wantFailure(t testing.TB, rec *record.Exchange, class record.Class, status int, text string) {
	t.Helper()
	if rec.Failure == nil || rec.Failure.Class != class || rec.Failure.Status != status || !strings.Contains(rec.Failure.Message, text) {
		t.Errorf("failure %+v, want class %s, status %d and %q in its message", rec.Failure, class, status, text)
		return
	}
	if rec.End < rec.Sent || rec.Failure.At < rec.End {
		t.Errorf("sent %v, ended %v, noticed %v", rec.Sent, rec.End, rec.Failure.At)
	}
}

func newCancel(t testing.TB) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}
