package h2

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	netclock "github.com/inferometer/inferometer/internal/wire/timedconn"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// target is a server under test and how to reach it.
type target struct {
	url *url.URL
	tls *tls.Config
	srv *httptest.Server
}

// serve starts net/http's own HTTP/2 server.
func serve(t *testing.T, secure bool, h http.HandlerFunc, change ...func(*http.Server)) target {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetUnencryptedHTTP2(!secure)
	srv.Config.Protocols.SetHTTP2(secure)
	for _, f := range change {
		f(srv.Config)
	}
	to := target{srv: srv}
	if secure {
		srv.EnableHTTP2 = true
		srv.StartTLS()
		pool := x509.NewCertPool()
		pool.AddCert(srv.Certificate())
		to.tls = &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}, ServerName: "example.com"}
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	to.url, _ = url.Parse(srv.URL + "/v1/x?y=z")
	return to
}

// client makes a Client for a target. It is closed before the server is.
func (to target) client(t *testing.T, lim netclock.Timeouts, streams int) *Client {
	t.Helper()
	clock := netclock.NewClock()
	d := netclock.NewDialer(clock, to.url.Host, netclock.DialOptions{TLS: to.tls, Timeout: patience})
	c := NewClient(clock, d, Options{Limits: lim, Streams: streams, Secure: to.tls != nil})
	t.Cleanup(func() { c.Close() })
	return c
}

// do carries out a request with a body and some headers.
func (to target) do(ctx context.Context, c *Client, slot int, body string, own ...http1.Field) *record.Exchange {
	head := http1.NewHead(to.url, []http1.Field{{Name: "Content-Type", Value: "text/plain"}, {Name: "Connection", Value: "keep-alive"}}, nil)
	rec := &record.Exchange{Record: record.Record{Slot: slot, Streamed: true, Sent: record.Never, Written: record.Never}}
	c.Do(ctx, head.Encode([]byte(body), own...), rec)
	return rec
}

// wantOK makes sure that a record is that of a request that went well.
func wantOK(t *testing.T, rec *record.Exchange, body string) {
	t.Helper()
	if rec.Failure != nil {
		t.Fatalf("failed: %+v", *rec.Failure)
	}
	if string(rec.Body) != body {
		t.Fatalf("a body of %d bytes, want %d: %.40q", len(rec.Body), len(body), rec.Body)
	}
	n := len(rec.Marks)
	if n == 0 || rec.Marks[n-1].Off != len(body) || rec.End != rec.Marks[n-1].Time() {
		t.Fatalf("marks %+v, end %v", rec.Marks, rec.End)
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
func wantFailure(t *testing.T, rec *record.Exchange, class record.Class, text string) {
	t.Helper()
	if rec.Failure == nil || rec.Failure.Class != class || !strings.Contains(rec.Failure.Message, text) {
		t.Fatalf("failure %+v, want class %s and %q in its message", rec.Failure, class, text)
	}
}

// both runs a test over TLS and without.
func both(t *testing.T, f func(t *testing.T, secure bool)) {
	t.Run("tls", func(t *testing.T) { f(t, true) })
	t.Run("plain", func(t *testing.T) { f(t, false) })
}
