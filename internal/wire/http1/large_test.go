package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// noise is n bytes that do not repeat.
func noise(n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return string(b)
}

func TestLargeAnswers(t *testing.T) {
	body := noise(8<<20 + 1)
	var pieces strings.Builder
	for i, size := 0, 1; i < len(body); i, size = i+size, size%100_000*7+1 {
		size = min(size, len(body)-i)
		fmt.Fprintf(&pieces, "%x\r\n%s\r\n", size, body[i:i+size])
	}
	for name, text := range map[string]string{
		"length":      "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body,
		"chunked":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + pieces.String() + "0\r\n\r\n",
		"until close": "HTTP/1.1 200 OK\r\n\r\n" + body,
	} {
		t.Run(name, func(t *testing.T) {
			addr := serve(t, answerAndLeave(text))
			rec := send(t.Context(), client(t, addr, timedconn.Timeouts{Stall: time.Minute}), addr, "{}")
			succeeded(t, rec, body)
		})
	}
}

func TestLargeRequestToASlowReader(t *testing.T) {
	body := noise(4 << 20)
	got := make(chan string, 1)
	addr := serve(t, func(_ int, c *net.TCPConn, _ *bufio.Reader) {
		r, err := http.ReadRequest(bufio.NewReaderSize(trickle{c}, 16<<10))
		if err != nil {
			return
		}
		b, _ := io.ReadAll(r.Body)
		got <- string(b)
		_, _ = io.WriteString(c, hello)
	})
	rec := send(t.Context(), client(t, addr, timedconn.Timeouts{FirstByte: time.Minute}), addr, body)
	succeeded(t, rec, "hello")
	if <-got != body {
		t.Error("the server read another body than was sent")
	}
}

// trickle reads a little at a time.
type trickle struct{ io.Reader }

func (s trickle) Read(p []byte) (int, error) {
	<-time.After(100 * time.Microsecond)
	return s.Reader.Read(p[:min(len(p), 64<<10)])
}

func TestStreamHasOneMarkPerEvent(t *testing.T) {
	const events = 50
	next := make(chan struct{}, 1)
	addr := serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for i := range events {
			<-next
			event := fmt.Sprintf("data: %d\n\n", i)
			_, _ = fmt.Fprintf(c, "%x\r\n%s\r\n", len(event), event)
		}
		<-next
		_, _ = io.WriteString(c, "0\r\n\r\n")
	})
	c := client(t, addr, timedconn.Timeouts{})
	rec := &record.Exchange{Record: record.Record{Streamed: true}}
	// The reads are paced by looking at the response's own growing body.
	l := &pooledConn{}
	conn, err := c.dialer.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l.conn = conn
	l.resp.reset(nil)
	_, _, err = conn.Exchange(t.Context(), c.clock.Now(), head(addr).Encode(nil).wire, timedconn.Timeouts{},
		func(p []byte, at timedconn.Stamp) bool {
			done, bad := l.resp.feed(p)
			Mark(rec, l.resp.body, at)
			next <- struct{}{}
			return !done && bad == nil
		})
	rec.Body = l.resp.body
	if err != nil || bytes.Count(rec.Body, []byte("data:")) != events {
		t.Fatalf("error %v after %q", err, rec.Body)
	}
	if len(rec.Marks) != events+2 { // the head alone, and the end of the chunks
		t.Errorf("%d marks for %d events, each read before the next was sent", len(rec.Marks), events)
	}
	for i, m := range rec.Marks[1 : events+1] {
		if !bytes.HasSuffix(rec.Body[:m.Off], fmt.Appendf(nil, "data: %d\n\n", i)) {
			t.Errorf("mark %d does not stand at the end of event %d", i+1, i)
		}
	}
}

func TestWarmOpensConnectionsAhead(t *testing.T) {
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	addr := strings.TrimPrefix(s.URL, "http://")
	c := client(t, addr, timedconn.Timeouts{})
	const slots = 50
	if err := c.Warm(t.Context(), slots); err != nil {
		t.Fatal(err)
	}
	for slot := range slots {
		rec := &record.Exchange{Record: record.Record{Slot: slot}}
		c.Do(t.Context(), head(addr).Encode(nil), rec)
		succeeded(t, rec, "hello")
		// The time of opening belongs to the first request on a connection.
		if rec.Conn.Reused || rec.Conn.Connect == 0 {
			t.Errorf("slot %d: connection %+v", slot, rec.Conn)
		}
	}
	if opened.Load() != slots {
		t.Errorf("%d connections were opened, want the %d that were asked for", opened.Load(), slots)
	}
}
