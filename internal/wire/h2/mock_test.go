package h2

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// slack is what the wall clock may be slewed by during a test: the server's stamps
// are on it, ours are on the monotonic clock.
const slack = 200 * time.Microsecond

// Every event that the server sent has the stamp of a read that came after its
// sending, in order, and none is lost, with many streams on each connection.
func TestStampsAgreeWithTheServersTruth(t *testing.T) {
	const slots, each = 40, 4
	both(t, func(t *testing.T, secure bool) {
		cfg := config.Default()
		cfg.HTTP2, cfg.TLS.SelfSigned = true, secure
		cfg.Latency.TTFT, cfg.Latency.ITL = 2*time.Millisecond, time.Millisecond
		cfg.Output.Tokens = 20
		truth := new(bytes.Buffer)
		server, err := mock.New(cfg, mock.WithTruth(truth))
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Serve(l) }()
		to := target{url: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/v1/chat/completions"}}
		if secure {
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(server.CertPEM())
			to.tls = &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}, ServerName: "localhost"}
		}
		c := to.client(t, timedconn.Timeouts{Request: patience}, 16)
		if err := c.Warm(t.Context(), slots); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		records := make(map[string]*record.Exchange)
		var wg sync.WaitGroup
		for slot := range slots {
			wg.Go(func() {
				for n := range each {
					id := fmt.Sprintf("%d-%d", slot, n)
					rec := to.do(t.Context(), c, slot, `{"model":"mock","stream":true,"messages":[{"role":"user","content":"a b c"}]}`,
						http1.Field{Name: "X-Request-Id", Value: id})
					mu.Lock()
					records[id] = rec
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		c.Close()
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
		truths, err := truthfile.Read(truth)
		if err != nil || len(truths) != slots*each {
			t.Fatalf("%d truths, error %v", len(truths), err)
		}
		for _, tr := range truths {
			if tr.Proto != "HTTP/2.0" {
				t.Errorf("%s came over %s", tr.ID, tr.Proto)
			}
			agree(t, c.clock.Start(), records[tr.ID], tr)
		}
	})
}

// agree compares a record with what the server sent and when.
func agree(t *testing.T, start time.Time, rec *record.Exchange, tr truthfile.Request) {
	t.Helper()
	if rec == nil || rec.Failure != nil {
		t.Fatalf("%s: %+v", tr.ID, rec)
	}
	wall := func(at time.Duration) int64 { return start.UnixNano() + int64(at) }
	if wall(rec.Sent) > tr.Read+int64(slack) {
		t.Errorf("%s: sent %d ns after the server had read it", tr.ID, wall(rec.Sent)-tr.Read)
	}
	off, m, last := 0, 0, rec.Sent
	for i, e := range tr.Events {
		off += e.Bytes
		for m < len(rec.Marks) && rec.Marks[m].Off < off {
			m++
		}
		if m == len(rec.Marks) {
			t.Fatalf("%s: event %d of %d is missing: %d bytes of %d", tr.ID, i, len(tr.Events), len(rec.Body), off)
		}
		at := rec.Marks[m].Time()
		if wall(at) < e.At-int64(slack) {
			t.Errorf("%s: event %d has a stamp %d ns before it was sent", tr.ID, i, e.At-wall(at))
		}
		if at < last {
			t.Errorf("%s: event %d has a stamp before the last one's", tr.ID, i)
		}
		last = at
	}
	if off != len(rec.Body) || strings.Count(string(rec.Body), "data: ") != len(tr.Events) {
		t.Errorf("%s: %d bytes came, %d were sent in %d events", tr.ID, len(rec.Body), off, len(tr.Events))
	}
}
