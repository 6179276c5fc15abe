package h2

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func TestRequestAndAnswer(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		to := serve(t, secure, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "text/odd")
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Trailer", "X-Sum")
			w.WriteHeader(http.StatusEarlyHints)
			fmt.Fprint(w, r.Method, r.Proto, r.Host, r.RequestURI, r.Header["Content-Type"], r.Header["X-Request-Id"], r.ContentLength, string(body), len(r.Header))
			w.Header().Set("X-Sum", "1")
		})
		c := to.client(t, timedconn.Timeouts{}, 8)
		for i, name := range []string{"first", "second"} {
			rec := to.do(t.Context(), c, 0, name, http1.Field{Name: "X-Request-Id", Value: "id-" + name})
			wantOK(t, rec, fmt.Sprint("POST", "HTTP/2.0", to.url.Host, "/v1/x?y=z", []string{"text/plain"}, []string{"id-" + name}, len(name), name, 3))
			if rec.Status != 200 || rec.ContentType != "text/odd" || rec.RetryAfter != "7" {
				t.Errorf("status %d, type %q, retry after %q", rec.Status, rec.ContentType, rec.RetryAfter)
			}
			if first := i == 0; rec.Conn.Reused == first || (rec.Conn.Connect > 0) != first || (rec.Conn.TLS > 0) != (first && secure) {
				t.Errorf("the %s request's connection: %+v", name, rec.Conn)
			}
		}
	})
}

func TestStatusesAndEmptyAnswers(t *testing.T) {
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.Header.Get("Code"))
		w.WriteHeader(code)
	})
	c := to.client(t, timedconn.Timeouts{}, 8)
	for _, code := range []int{200, 204, 404, 500, 503} {
		rec := to.do(t.Context(), c, 0, "", http1.Field{Name: "code", Value: strconv.Itoa(code)})
		if code < 300 {
			wantOK(t, rec, "")
		} else if rec.Failure == nil || rec.Failure.Class != record.HTTPStatus || rec.Failure.Status != code {
			t.Errorf("%d: failure %+v", code, rec.Failure)
		}
		if rec.Status != code {
			t.Errorf("status %d, want %d", rec.Status, code)
		}
	}
}

// Each event waits for the one before to have been seen, on many streams at once.
func TestStreamsSideBySide(t *testing.T) {
	const events, slots = 5, 40
	both(t, func(t *testing.T, secure bool) {
		to := serve(t, secure, func(w http.ResponseWriter, r *http.Request) {
			id := r.Header.Get("Id")
			for i := range events {
				fmt.Fprintf(w, "data: %s %d\n\n", id, i)
				_ = http.NewResponseController(w).Flush()
			}
		})
		c := to.client(t, timedconn.Timeouts{}, 16)
		if err := c.Warm(t.Context(), slots); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for slot := range slots {
			wg.Go(func() {
				for n := range 10 {
					id := fmt.Sprintf("%d.%d", slot, n)
					var want strings.Builder
					for i := range events {
						fmt.Fprintf(&want, "data: %s %d\n\n", id, i)
					}
					rec := to.do(t.Context(), c, slot, strings.Repeat("x", slot*100), http1.Field{Name: "Id", Value: id})
					if rec.Failure != nil || string(rec.Body) != want.String() {
						t.Errorf("%s: %q, failure %+v", id, rec.Body, rec.Failure)
					}
				}
			})
		}
		wg.Wait()
		if n := len(*c.conns.Load()); n != 3 {
			t.Errorf("%d connections for %d requests at once, 16 on each", n, slots)
		}
	})
}

// perConn counts requests at once on each connection.
type perConn struct{ now, most, conns atomic.Int64 }

type perConnKey struct{}

func TestServersLimitOfStreams(t *testing.T) {
	const limit, slots = 3, 20
	var all perConn
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		on := r.Context().Value(perConnKey{}).(*perConn)
		if n := on.now.Add(1); n > all.most.Load() {
			all.most.Store(n)
		}
		defer on.now.Add(-1)
		_, _ = io.Copy(w, r.Body)
	}, func(s *http.Server) {
		s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: limit}
		s.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
			all.conns.Add(1)
			return context.WithValue(ctx, perConnKey{}, new(perConn))
		}
	})
	for _, warm := range []bool{true, false} {
		all.conns.Store(0)
		c := to.client(t, timedconn.Timeouts{}, 8)
		if warm {
			if err := c.Warm(t.Context(), slots); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for slot := range slots {
			wg.Go(func() {
				for range 20 {
					if rec := to.do(t.Context(), c, slot, "ping"); rec.Failure != nil || string(rec.Body) != "ping" {
						t.Errorf("slot %d: %q, failure %+v", slot, rec.Body, rec.Failure)
					}
				}
			})
		}
		wg.Wait()
		if warm && all.conns.Load() != 7 {
			t.Errorf("warmed %d connections for %d requests, %d on each", all.conns.Load(), slots, limit)
		}
		if all.most.Load() > limit {
			t.Errorf("%d requests at once on a connection, the server said %d", all.most.Load(), limit)
		}
	}
}

// pattern is n bytes that show where they are from.
func pattern(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + (i*7+i>>9)%26)
	}
	return string(b)
}

func TestLargeBodies(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		to := serve(t, secure, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
		})
		c := to.client(t, timedconn.Timeouts{}, 8)
		c.windows = windows{stream: 256 << 10, conn: 1 << 20} // so that they have to be opened again and again
		var wg sync.WaitGroup
		for slot := range 4 {
			wg.Go(func() {
				body := pattern(1<<20 + slot)
				rec := to.do(t.Context(), c, slot, body)
				if rec.Failure != nil || string(rec.Body) != body {
					t.Errorf("%d bytes of %d, failure %+v", len(rec.Body), len(body), rec.Failure)
				}
			})
		}
		wg.Wait()
	})
}

// A server may answer before it has read the whole request.
func TestAnswerBeforeTheRequestIsRead(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		to := serve(t, secure, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 10 {
				http.Error(w, "too large", http.StatusRequestEntityTooLarge)
				return
			}
			// The next request has to wait for room that the first took: a response without this may be there before it is written.
			_, _ = io.Copy(io.Discard, r.Body)
		})
		c := to.client(t, timedconn.Timeouts{}, 8)
		rec := to.do(t.Context(), c, 0, strings.Repeat("x", 8<<20))
		if rec.Failure == nil || rec.Failure.Class != record.HTTPStatus || rec.Status != 413 || string(rec.Body) != "too large\n" {
			t.Fatalf("status %d, %q, failure %+v", rec.Status, rec.Body, rec.Failure)
		}
		again := to.do(t.Context(), c, 0, "small")
		wantOK(t, again, "")
		if !again.Conn.Reused {
			t.Error("the connection was given up")
		}
	})
}

func TestResetEndsOneStreamOnly(t *testing.T) {
	reset := make(chan struct{})
	started := make(chan struct{})
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		if r.Header.Get("Fate") == "reset" {
			<-started
			panic(http.ErrAbortHandler)
		}
		close(started)
		<-reset
	})
	c := to.client(t, timedconn.Timeouts{}, 8)
	if err := c.Warm(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	other := make(chan *record.Exchange)
	go func() { other <- to.do(t.Context(), c, 1, "") }()
	rec := to.do(t.Context(), c, 0, "", http1.Field{Name: "Fate", Value: "reset"})
	wantFailure(t, rec, record.Reset, "INTERNAL_ERROR")
	if string(rec.Body) != "begun" || rec.Failure.Status != 200 {
		t.Errorf("body %q, status %d", rec.Body, rec.Failure.Status)
	}
	close(reset)
	wantOK(t, <-other, "begun")
	if n := len(*c.conns.Load()); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestLimits(t *testing.T) {
	const short = 100 * time.Millisecond
	gone := make(chan error, 1)
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		flush := http.NewResponseController(w).Flush
		switch r.Header.Get("Fate") {
		case "stall":
			_, _ = io.WriteString(w, "begun")
			_ = flush()
		case "drip":
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ".")
				_ = flush()
				<-tick.C
			}
		case "late":
			<-time.After(2 * short)
			return
		}
		<-r.Context().Done()
		gone <- r.Context().Err()
	})
	for _, tt := range []struct {
		fate  string
		lim   timedconn.Timeouts
		class record.Class
		body  bool
	}{
		{"silent", timedconn.Timeouts{FirstByte: short, Stall: time.Minute}, record.NoFirstByte, false},
		{"stall", timedconn.Timeouts{Stall: short, FirstByte: time.Minute}, record.Stalled, true},
		{"silent", timedconn.Timeouts{Request: short}, record.TimedOut, false},
		{"drip", timedconn.Timeouts{Request: short, FirstByte: patience, Stall: patience}, record.TimedOut, true},
		{"late", timedconn.Timeouts{Stall: short}, "", false}, // the first byte may take its time
	} {
		var rec *record.Exchange
		for range 6 {
			rec = to.do(t.Context(), to.client(t, tt.lim, 8), 0, "", http1.Field{Name: "Fate", Value: tt.fate})
			if tt.class == "" {
				break
			}
			wantFailure(t, rec, tt.class, "in time")
			select {
			case <-gone: // the server was told
			case <-time.After(patience):
				t.Fatalf("%s: the server was not told", tt.fate)
			}
			if len(rec.Body) > 0 || !tt.body {
				break
			}
			tt.lim.Stall, tt.lim.Request = 2*tt.lim.Stall, 2*tt.lim.Request // the machine was too slow for any of the body
		}
		if tt.class == "" {
			wantOK(t, rec, "")
		} else if rec.Sent == record.Never || rec.Written == record.Never || (len(rec.Body) > 0) != tt.body {
			t.Errorf("%s: sent %v, written %v, body %q", tt.fate, rec.Sent, rec.Written, rec.Body)
		}
	}
}

func TestEndOfContextEndsItsStreamsOnly(t *testing.T) {
	for _, tt := range []struct {
		cause error
		class record.Class
	}{{nil, record.Cancelled}, {record.ErrCutOff, record.CutOff}} {
		begun, gone, release := make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
		to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
			begun <- struct{}{}
			select {
			case <-r.Context().Done():
				gone <- struct{}{}
			case <-release:
			}
		})
		c := to.client(t, timedconn.Timeouts{}, 8)
		if err := c.Warm(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cut, stays := make(chan *record.Exchange), make(chan *record.Exchange)
		go func() { cut <- to.do(ctx, c, 0, "") }()
		go func() { stays <- to.do(t.Context(), c, 1, "") }()
		<-begun
		<-begun
		cancel(tt.cause)
		wantFailure(t, <-cut, tt.class, "")
		<-gone
		wantFailure(t, to.do(ctx, c, 0, ""), tt.class, "") // one that comes too late
		close(release)
		wantOK(t, <-stays, "begun")
		if n := len(*c.conns.Load()); n != 1 {
			t.Errorf("%d connections", n)
		}
	}
}

// A server that shuts down completes what it has begun and takes nothing more.
func TestShutdown(t *testing.T) {
	begun, release := make(chan struct{}, 2), make(chan struct{})
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "one")
		_ = http.NewResponseController(w).Flush()
		begun <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "two")
	})
	c := to.client(t, timedconn.Timeouts{}, 8)
	got := make(chan *record.Exchange)
	go func() { got <- to.do(t.Context(), c, 0, "") }()
	<-begun
	cn := (*c.conns.Load())[0]
	down := make(chan error)
	go func() { down <- to.srv.Config.Shutdown(t.Context()) }()
	for begin := time.Now(); ; { // until its GOAWAY has come
		cn.mu.Lock()
		leaving := cn.leaving
		cn.mu.Unlock()
		if leaving {
			break
		}
		if time.Since(begin) > patience {
			t.Fatal("no GOAWAY")
		}
		<-time.After(time.Millisecond)
	}
	wantFailure(t, to.do(t.Context(), c, 1, ""), record.ConnectFailed, "refused")
	close(release)
	wantOK(t, <-got, "onetwo")
	if err := <-down; err != nil {
		t.Error(err)
	}
}

func TestServerWithoutHTTP2(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {}
	t.Run("tls", func(t *testing.T) {
		to := serve(t, true, h)
		to.srv.TLS.NextProtos = []string{"h2", "http/1.1"}
		for want, offer := range map[string][]string{"http/1.1": {"http/1.1"}, "nothing": nil} {
			to.tls.NextProtos = offer
			rec := to.do(t.Context(), to.client(t, timedconn.Timeouts{}, 8), 0, "")
			wantFailure(t, rec, record.TLSFailed, "negotiated "+want)
		}
	})
	t.Run("plain", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(h))
		defer srv.Close()
		u, _ := url.Parse(srv.URL)
		to := target{url: u}
		c := to.client(t, timedconn.Timeouts{}, 8)
		if err := c.Warm(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "does not speak HTTP/2") {
			t.Errorf("warming up: %v", err)
		}
		wantFailure(t, to.do(t.Context(), c, 0, ""), record.BadBody, "does not speak HTTP/2")
		c.Close()
	})
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := target{url: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}}
	l.Close()
	c := to.client(t, timedconn.Timeouts{}, 8)
	var wg sync.WaitGroup
	for slot := range 20 {
		wg.Go(func() {
			if rec := to.do(t.Context(), c, slot, ""); rec.Failure == nil || rec.Failure.Class != record.ConnectFailed {
				t.Errorf("failure %+v", rec.Failure)
			}
		})
	}
	wg.Wait()
	if err := c.Warm(t.Context(), 3); err == nil {
		t.Error("warming up went well")
	}
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	begun := make(chan struct{})
	to := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})
	c := to.client(t, timedconn.Timeouts{}, 8)
	got := make(chan *record.Exchange)
	go func() { got <- to.do(t.Context(), c, 0, "") }()
	<-begun
	c.Close() // waits for the goroutines of all connections
	wantFailure(t, <-got, record.Reset, "closed")
	if rec := to.do(t.Context(), c, 0, ""); rec.Failure == nil {
		t.Error("a closed client carried out a request")
	}
}

// Headers that do not fit a frame are continued in others.
func TestLongHeaders(t *testing.T) {
	to := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Long", r.Header.Get("Long"))
		_, _ = io.WriteString(w, r.Header.Get("Long"))
	})
	c := to.client(t, timedconn.Timeouts{}, 8)
	for range 2 {
		long := pattern(50 << 10)
		wantOK(t, to.do(t.Context(), c, 0, "", http1.Field{Name: "Long", Value: long}), long)
	}
}
