package h2

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	netclock "github.com/inferometer/inferometer/internal/wire/timedconn"
)

// listener takes down what comes on an open-ended stream.
type listener struct {
	mu      sync.Mutex
	status  int
	fields  []http1.Field
	body    []byte
	reads   []netclock.Stamp
	trailer []http1.Field
	err     error
	refuse  error // what Data answers with
	leaving int
	some    chan struct{} // gets a value with each piece of data
	ended   chan struct{}
}

func newListener() *listener {
	return &listener{some: make(chan struct{}, 10_000), ended: make(chan struct{})}
}

func (l *listener) Head(status int, fields []http1.Field, _ netclock.Stamp) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status, l.fields = status, slices.Clone(fields)
	return nil
}

func (l *listener) Data(p []byte, at netclock.Stamp, _ bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.body = append(l.body, p...)
	l.reads = append(l.reads, at)
	select {
	case l.some <- struct{}{}:
	default:
	}
	return l.refuse
}

func (l *listener) End(trailer []http1.Field, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trailer, l.err = slices.Clone(trailer), err
	close(l.ended)
}

func (l *listener) Leaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving++
	return true
}

// until waits for n bytes.
func (l *listener) until(t *testing.T, n int) {
	t.Helper()
	for {
		l.mu.Lock()
		have := len(l.body)
		l.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-l.some:
		case <-time.After(patience):
			t.Fatalf("%d bytes of %d", have, n)
		}
	}
}

// over waits for the end.
func (l *listener) over(t *testing.T) {
	t.Helper()
	select {
	case <-l.ended:
	case <-time.After(patience):
		t.Fatal("the stream does not end")
	}
}

// wrote is told when a piece went.
type wrote struct {
	mu            sync.Mutex
	sent, written time.Duration
	done          chan struct{}
}

func newWrote() *wrote {
	return &wrote{sent: record.Never, written: record.Never, done: make(chan struct{})}
}

func (w *wrote) Wrote(sent, written time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent != record.Never {
		w.sent = sent
	}
	if written != record.Never {
		w.written = written
		close(w.done)
	}
}

// fieldsFor are those of a POST to a target.
func (to target) fields() []http1.Field {
	return http1.NewHead(to.url, []http1.Field{{Name: "Content-Type", Value: "text/plain"}}, nil).HTTP2()
}

func field(fields []http1.Field, name string) string {
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// A stream goes both ways for as long as it lasts: far beyond the first windows.
func TestOpenStream(t *testing.T) {
	const pieces, size = 60, 20_000
	both(t, func(t *testing.T, secure bool) {
		to := serve(t, secure, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "Sum")
			w.Header().Set("Kind", "echo")
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			buf := make([]byte, 8000)
			for {
				n, err := r.Body.Read(buf)
				_, _ = w.Write(buf[:n])
				_ = http.NewResponseController(w).Flush()
				if err != nil {
					break
				}
			}
			w.Header().Set("Sum", "all")
		})
		c := to.client(t, netclock.Timeouts{Request: time.Nanosecond}, 4) // limits are not for open-ended streams
		c.windows = windows{stream: 70_000, conn: 100_000}
		l := newListener()
		s, err := c.Open(t.Context(), 0, to.fields(), l)
		if err != nil {
			t.Fatal(err)
		}
		if o := s.Opened(); o.Reused || o.Connect == 0 {
			t.Errorf("opened %+v", o)
		}
		all := ""
		for i := range pieces {
			text := strings.Repeat(string(rune('a'+i%26)), size)
			all += text
			w := newWrote()
			if !s.Send([]byte(text), w) {
				t.Fatal("it takes no more")
			}
			l.until(t, len(all))
			<-w.done
			w.mu.Lock()
			if w.sent < 0 || w.written < w.sent {
				t.Errorf("piece %d: sent %v, written %v", i, w.sent, w.written)
			}
			w.mu.Unlock()
		}
		s.Close()
		s.Close()
		l.over(t)
		if s.Send([]byte("x"), nil) {
			t.Error("a stream that is over takes more")
		}
		if l.err != nil || string(l.body) != all || l.status != 200 || field(l.fields, "kind") != "echo" || field(l.trailer, "sum") != "all" {
			t.Errorf("error %v, %d bytes of %d, status %d, fields %v, trailer %v", l.err, len(l.body), len(all), l.status, l.fields, l.trailer)
		}
		if len(l.reads) == 0 || !slices.IsSortedFunc(l.reads, func(a, b netclock.Stamp) int { return int(a.User - b.User) }) {
			t.Errorf("reads %v", l.reads)
		}
	})
}

func TestPostWithTrailers(t *testing.T) {
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != -1 {
			t.Errorf("a length of %d was announced", r.ContentLength)
		}
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = io.Copy(w, r.Body)
		w.Header().Set("Grpc-Status", "7")
	})
	c := to.client(t, netclock.Timeouts{}, 4)
	var answer Response
	for _, body := range []string{"one", "other"} {
		rec := &record.Exchange{}
		if err := c.Post(t.Context(), to.fields(), []byte(body), rec, &answer); err != nil {
			t.Fatal(err)
		}
		if string(rec.Body) != body || rec.Status != 200 || field(answer.Head, ":status") != "200" || len(answer.Trailer) != 1 || field(answer.Trailer, "grpc-status") != "7" {
			t.Errorf("%q, %+v", rec.Body, answer)
		}
	}
}

// Requests and open-ended streams share a connection, and do not disturb each other.
func TestOpenStreamAmongRequests(t *testing.T) {
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	c := to.client(t, netclock.Timeouts{Request: patience}, 8)
	l := newListener()
	s, err := c.Open(t.Context(), 0, to.fields(), l)
	if err != nil {
		t.Fatal(err)
	}
	s.Send([]byte("piece"), nil)
	for range 20 {
		wantOK(t, to.do(t.Context(), c, 0, "body"), "body")
	}
	if n := len(*c.conns.Load()); n != 1 {
		t.Errorf("%d connections", n)
	}
	if !s.Reset(record.Never) || s.Reset(record.Never) {
		t.Error("a stream ends once")
	}
	wantOK(t, to.do(t.Context(), c, 0, "body"), "body")
	select {
	case <-l.ended:
		t.Error("the receiver was told of an end that it asked for")
	default:
	}
}

func TestHowOpenStreamsEnd(t *testing.T) {
	refusal := errors.New("no more of this")
	for _, tt := range []struct {
		name   string
		script func(p *peer, id uint32)
		refuse error
		check  func(err error) bool
	}{
		{"refused", func(p *peer, id uint32) { _ = p.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, nil, Unprocessed},
		{"not looked at", func(p *peer, id uint32) { _ = p.framer.WriteGoAway(0, http2.ErrCodeNo, nil) }, nil, Unprocessed},
		{"closed", func(p *peer, id uint32) { _ = p.conn.CloseWrite() }, nil, func(err error) bool { return errors.Is(err, errClosed) }},
		{"data first", func(p *peer, id uint32) { p.data(id, false, "x") }, nil, func(err error) bool {
			return netclock.Classify(err) == record.BadBody
		}},
		{"refused by the receiver", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			p.data(id, false, "x")
			if f, ok := next[*http2.RSTStreamFrame](p); !ok || f.StreamID != id || f.ErrCode != http2.ErrCodeCancel {
				p.t.Errorf("the server was told %v", f)
			}
		}, refusal, func(err error) bool { return errors.Is(err, refusal) }},
		{"ended by the server", func(p *peer, id uint32) {
			p.head(id, false, ":status", "100")
			p.head(id, false, ":status", "200")
			p.data(id, true, "x")
			if f, ok := next[*http2.RSTStreamFrame](p); !ok || f.StreamID != id {
				p.t.Errorf("the server was told %v", f)
			}
		}, nil, func(err error) bool { return err == nil }},
		{"headers only", func(p *peer, id uint32) { p.head(id, true, ":status", "200") }, nil, func(err error) bool { return err == nil }},
		{"GOAWAY", func(p *peer, id uint32) {
			_ = p.framer.WriteGoAway(id, http2.ErrCodeNo, nil)
			for { // the client has nothing under way and closes its side
				if f, ok := next[*http2.DataFrame](p); !ok || f.StreamEnded() {
					break
				}
			}
			p.head(id, true, ":status", "200")
		}, nil, func(err error) bool { return err == nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			played := make(chan struct{})
			to := play(t, func(p *peer) {
				p.settings()
				id, _ := p.request()
				tt.script(p, id)
				close(played)
				p.hold()
			})
			c := to.client(t, netclock.Timeouts{}, 8)
			l := newListener()
			l.refuse = tt.refuse
			s, err := c.Open(t.Context(), 0, to.fields(), l)
			if err != nil {
				t.Fatal(err)
			}
			s.Send([]byte("piece"), nil)
			l.over(t)
			<-played
			if !tt.check(l.err) {
				t.Errorf("ended with %v", l.err)
			}
			if s.Send(nil, nil) || s.Reset(record.Never) {
				t.Error("it takes more")
			}
		})
	}
}

// Who gives up a piece need not know that the stream has ended meanwhile.
func TestWithdrawFromAStreamThatHasEnded(t *testing.T) {
	gone := make(chan struct{})
	to := play(t, func(p *peer) {
		p.settings()
		p.request()
		<-gone
		_ = p.conn.CloseWrite()
		p.hold()
	})
	c := to.client(t, netclock.Timeouts{}, 8)
	l := newListener()
	s, err := c.Open(t.Context(), 0, to.fields(), l)
	if err != nil {
		t.Fatal(err)
	}
	small, large := newWrote(), newWrote()
	s.conn.mu.Lock() // both go out in one write, as far as they may
	s.pieces = append(s.pieces, piece{rest: []byte("small"), by: small}, piece{rest: make([]byte, 1<<20), by: large})
	s.conn.enqueue(s.st)
	s.conn.mu.Unlock()
	<-small.done
	close(gone)
	l.over(t)
	s.Withdraw(large)
	if s.Send(nil, nil) {
		t.Error("it takes more")
	}
}

// A connection that brings nothing after a request went counts as dead.
func TestResetOfASilentConnection(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		p.hold()
	})
	c := to.client(t, netclock.Timeouts{}, 8)
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		since time.Duration
		left  int
	}{{record.Never, 1}, {time.Hour, 0}} {
		s, err := c.Open(t.Context(), 0, to.fields(), newListener())
		if err != nil {
			t.Fatal(err)
		}
		s.Reset(tt.since)
		if n := len(*c.conns.Load()); n != tt.left {
			t.Errorf("%d connections are left, want %d", n, tt.left)
		}
	}
}

// A connection that nobody uses is not pinged.
func TestNoPingsWhileIdle(t *testing.T) {
	pings := make(chan struct{}, 100)
	to := play(t, func(p *peer) {
		p.settings()
		for {
			f, err := p.framer.ReadFrame()
			if err != nil {
				return
			}
			if f, ok := f.(*http2.PingFrame); ok && !f.IsAck() {
				pings <- struct{}{}
				_ = p.framer.WritePing(true, f.Data)
			}
		}
	})
	clock := netclock.NewClock()
	d := netclock.NewDialer(clock, to.url.Host, netclock.DialOptions{Timeout: patience})
	c := NewClient(clock, d, Options{Streams: 1, KeepAlive: KeepAlive{Every: 5 * time.Millisecond}})
	defer c.Close()
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	<-time.After(50 * time.Millisecond)
	if n := len(pings); n != 0 {
		t.Errorf("%d pings on an idle connection", n)
	}
	if _, err := c.Open(t.Context(), 0, to.fields(), newListener()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		select {
		case <-pings:
		case <-time.After(patience):
			t.Fatal("no pings")
		}
	}
}
