package http1

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func TestSaysDone(t *testing.T) {
	for body, want := range map[string]bool{
		"":                                      false,
		"\n\n":                                  false,
		"data: [DONE]\n\n":                      true,
		"data: {}\n\ndata: [DONE]\n\n":          true,
		"data: {}\r\n\r\ndata:[DONE]\r\n\r\n":   true,
		"data: {}\n\ndata: [DONE]":              true,
		"data: {}\n\n":                          false,
		`data: {"a":["[DONE]`:                   false,
		"data: {\"a\":[1]":                      false,
		"data: [1]\n\n":                         false,
		": [DONE]\n\n":                          false,
		"data: [DONE]\n\n: still here\n\n":      true,
		"event: message_stop\n":                 true,
		"data: {\"type\":\"message_stop\"}\n\n": true,
		"data: {\"type\": \"message_stop\" }":   true,
		"data: {\"type\":\"message_stop\",\"amazon-bedrock-invocationMetrics\":{\"inputTokenCount\":9,\"outputTokenCount\":2}}\n": true,
		"event: message_start\n":        false,
		`data: {"text":"message_stop"}`: false,
	} {
		if got := SaysDone([]byte(body), 0); got != want {
			t.Errorf("%q: %v", body, got)
		}
		// In whatever pieces it comes, one of them says it.
		got := false
		for n := range len(body) {
			got = got || SaysDone([]byte(body[:n+1]), n)
		}
		if got != want {
			t.Errorf("%q byte by byte: %v", body, got)
		}
	}
	// Among many lines it is looked for in another way.
	for first, want := range map[string]bool{
		"data: {\"id\":\"D\"}\n\n":                     true,
		"data: {\"type\":\"content_block_delta\"}\n\n": true,
		"event: content_block_delta\ndata: {}\n\n":     true,
		": a comment\n\ndata: {}\n\n":                  true,
	} {
		for n := range 64 {
			body := strings.Repeat(first, n+1)
			for last, done := range map[string]bool{"": false, "data: [DONE]\n\n": want, "data: [DONE]": want, "data: {\"a\":\"[DONE]\"}\n\n": false, "data: [D\n\n": false, "data: [[DONE]\n\n": false} {
				if got := SaysDone([]byte(body+last), 0); got != done {
					t.Fatalf("%d times %q and then %q: %v", n+1, first, last, got)
				}
			}
			if strings.Contains(first, "type") || strings.HasPrefix(first, "event") {
				if !SaysDone([]byte(body+"data: {\"type\":\"message_stop\"}\n\n"), 0) {
					t.Fatalf("%d times %q and then message_stop", n+1, first)
				}
			}
		}
	}
	long := strings.Repeat("x", 100)
	if body := "data: " + long + "data: [DONE]\n"; SaysDone([]byte(body), 80) {
		t.Error("the middle of a long line counts as one")
	}
	if body := "data: " + long + "\ndata: [DONE]\n"; !SaysDone([]byte(body), 80) {
		t.Error("what follows a long line does not count")
	}
}

// stream begins a chunked answer; a chunk for each of the texts.
func stream(texts ...string) string {
	s := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, text := range texts {
		s += chunk(text)
	}
	return s
}

func chunk(text string) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[len(text)>>4], digits[len(text)&15]}) + "\r\n" + text + "\r\n"
}

const saidDone = "data: {}\n\ndata: [DONE]\n\n"

// A stream that says that it is done and does not end is complete after a while, whatever
// other limits there are; its connection is not used again.
func TestStreamThatDoesNotEnd(t *testing.T) {
	for name, lim := range map[string]timedconn.Timeouts{"no limits": {}, "a stall": {Stall: time.Millisecond}, "far limits": {Request: time.Hour, Stall: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			var opened atomic.Int64
			addr := serve(t, func(n int, c *net.TCPConn, in *bufio.Reader) {
				opened.Add(1)
				answerAndStay(stream("data: {}\n\n", "data: [DONE]\n\n"))(n, c, in)
			})
			c := client(t, addr, timedconn.Timeouts{Request: lim.Request, Stall: lim.Stall})
			if c.grace = time.Millisecond; lim.Stall == time.Millisecond {
				c.grace = time.Hour
			}
			for range 2 {
				rec := &record.Exchange{Record: record.Record{Streamed: true, Sent: record.Never}}
				c.Do(t.Context(), head(addr).Encode([]byte("{}")), rec)
				succeeded(t, rec, saidDone)
				if !rec.Unterminated || rec.End != rec.Marks[len(rec.Marks)-1].Time() {
					t.Errorf("unended %v, ended at %v, last read %+v", rec.Unterminated, rec.End, rec.Marks[len(rec.Marks)-1])
				}
			}
			if opened.Load() != 2 {
				t.Errorf("%d connections for two such answers", opened.Load())
			}
		})
	}
}

// A server that keeps the connection alive after it is done holds its slot no longer than a
// silent one. Its answer ends where it said so.
func TestCommentsAfterTheEnd(t *testing.T) {
	for name, last := range map[string]string{"[DONE]": "data: [DONE]\n\n", "message_stop": "event: message_stop\ndata: {}\n\n"} {
		t.Run(name, func(t *testing.T) {
			addr := serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
				request(in)
				_, err := io.WriteString(c, stream(last))
				for err == nil {
					_, err = io.WriteString(c, chunk(": still here\n\n"))
				}
			})
			c := client(t, addr, timedconn.Timeouts{Request: time.Minute})
			c.grace = time.Millisecond
			rec := &record.Exchange{Record: record.Record{Streamed: true, Sent: record.Never}}
			c.Do(t.Context(), head(addr).Encode([]byte("{}")), rec)
			if rec.Failure != nil || !rec.Unterminated || !bytes.HasPrefix(rec.Body, []byte(last)) {
				t.Fatalf("failure %+v, unended %v, body %.40q", rec.Failure, rec.Unterminated, rec.Body)
			}
			if rec.End != rec.Marks[0].Time() && rec.End != rec.Marks[1].Time() { // the headers may come by themselves
				t.Errorf("ended at %v, said so at %+v", rec.End, rec.Marks[0])
			}
		})
	}
}

// One whose end comes by itself, or that goes on, is left alone.
func TestStreamThatEndsLater(t *testing.T) {
	addr := serve(t, func(_ int, c *net.TCPConn, in *bufio.Reader) {
		for request(in) != nil {
			_, _ = io.WriteString(c, stream("data: [DONE]\n\n"))
			_, _ = io.WriteString(c, chunk("data: {}\n\n"))
			_, _ = io.WriteString(c, "0\r\n\r\n")
		}
	})
	c := client(t, addr, timedconn.Timeouts{})
	c.grace = time.Hour
	for i := range 3 {
		rec := &record.Exchange{Record: record.Record{Streamed: true, Sent: record.Never}}
		c.Do(t.Context(), head(addr).Encode([]byte("{}")), rec)
		succeeded(t, rec, "data: [DONE]\n\ndata: {}\n\n")
		if rec.Unterminated || rec.Conn.Reused != (i > 0) {
			t.Errorf("unended %v, connection %+v", rec.Unterminated, rec.Conn)
		}
	}
}

// BenchmarkSaysDone looks at reads of a stream as chat models send them, 64 events at a time.
func BenchmarkSaysDone(b *testing.B) {
	event := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}` + "\n\n"
	body := []byte(strings.Repeat(event, 64))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if SaysDone(body, 0) {
			b.Fatal("it is not done")
		}
	}
}
