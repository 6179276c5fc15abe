//go:build linux

package adversary

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// fate is what became of a call, on the server's side.
type fate string

const (
	answered fate = "answered"
	refused  fate = "refused" // with a status, or with an error in the stream
	dropped  fate = "dropped" // closed without a response
	cut      fate = "cut"     // closed in the middle of one
)

// moment is a write: it happened between two readings of the clock.
type moment struct {
	before, after time.Time
	tokens        int
	events        int // that the tokens are in
}

// call is one request as the server sees it.
type call struct {
	server  *server
	conn    net.Conn
	over    *h2stream // what answers go through on HTTP/2; nil: conn
	n       int       // its place in the order of arrival
	nth     int       // its place on its connection
	id      string
	path    string
	header  http.Header
	body    []byte
	arrived time.Time // the kernel's stamp of its first bytes
	read    time.Time // when this process had all of it
	unsure  bool      // it may have come earlier, with others behind it

	began  bool // the head of the response is out
	ending bool // what is written next is the last of it
	closed bool
	start  moment   // the first write
	opened moment   // that of the first event
	shown  moment   // that of the first visible token
	writes []moment // of events with tokens
	last   moment   // the latest of all
	tokens int
	fate   fate
}

// wait lets time pass; less of it when the server ends.
func (c *call) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.server.closed:
	}
}

// forever holds the request until the server ends or the client leaves.
func (c *call) forever() {
	if c.over != nil {
		for !c.over.over() {
			c.wait(10 * ms)
		}
		c.closed = true
		return
	}
	gone := make(chan struct{})
	go func() {
		_, _ = c.conn.Read(make([]byte, 1))
		close(gone)
	}()
	select {
	case <-gone:
	case <-c.server.closed:
	}
	c.closed = true
}

// write sends bytes in one write(2).
func (c *call) write(b []byte) {
	if c.closed {
		return
	}
	m := moment{before: time.Now()}
	var err error
	if c.over == nil {
		_, err = c.conn.Write(b)
	} else {
		err = c.over.write(b, c.ending)
	}
	m.after = time.Now()
	if err != nil {
		c.closed = true
		return
	}
	c.last = m
	if c.start.before.IsZero() {
		c.start = m
	}
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// head sends the head of a stream ahead of its first event.
func (c *call) head() {
	if !c.began {
		c.began = true
		c.write([]byte(c.first()))
	}
}

// first is the head of a stream as bytes; HTTP/2 makes its own.
func (c *call) first() string {
	if c.over != nil {
		c.over.head(http.StatusOK, "text/event-stream")
		return ""
	}
	return streamHead
}

// piece is text of the body as bytes.
func (c *call) piece(text string) string {
	if c.over != nil {
		return text
	}
	return chunk(text)
}

// chunk makes a piece of a chunked body.
func chunk(text string) string {
	return strconv.FormatInt(int64(len(text)), 16) + "\r\n" + text + "\r\n"
}

// delta is an event of a chat stream.
func delta(fields string) string {
	return `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}` + "\n\n"
}

// word is an event with one token.
func word(i int) string { return delta(fmt.Sprintf(`"content":" w%d"`, i%10)) }

// send writes text of the body, with tokens in it, in one write. The head goes with it
// where it has not been sent.
func (c *call) send(tokens int, texts ...string) {
	var b []byte
	if !c.began {
		c.began = true
		b = append(b, c.first()...)
	}
	for _, t := range texts {
		b = append(b, c.piece(t)...)
	}
	c.write(b)
	c.note(tokens, strings.Join(texts, ""))
}

// note writes down what the last write held. Tokens of several events are spread evenly.
func (c *call) note(tokens int, text string) {
	if c.closed {
		return
	}
	m := c.last
	events := strings.Count(text, "data:")
	if events > 0 && c.opened.before.IsZero() {
		c.opened = m
	}
	if tokens == 0 {
		return
	}
	if strings.Contains(text, `"content":`) && c.shown.before.IsZero() {
		c.shown = m
	}
	m.tokens, m.events = tokens, max(1, min(events, tokens))
	c.writes = append(c.writes, m)
	c.tokens += tokens
}

// usage is the event that counts.
func usage(prompt, completion string) string {
	return `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":` + prompt + `,"completion_tokens":` + completion + "}}\n\n"
}

const finish = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
const done = "data: [DONE]\n\n"

// end closes a stream with what was really sent as its usage.
func (c *call) end() { c.endWith(usage("8", strconv.Itoa(c.tokens))) }

// endWith closes a stream with other events than the usual usage.
func (c *call) endWith(events ...string) {
	c.closing(append(append([]string{finish}, events...), done)...)
	if !c.closed {
		c.fate = answered
	}
}

// closing ends a stream with just these events.
func (c *call) closing(events ...string) {
	var b strings.Builder
	if !c.began {
		c.began = true
		b.WriteString(c.first())
	}
	for _, e := range events {
		b.WriteString(c.piece(e))
	}
	if c.over == nil {
		b.WriteString("0\r\n\r\n")
	}
	c.ending = true
	c.write([]byte(b.String()))
}

// stream is a whole response: the first token after ttft, the others itl apart.
func (c *call) stream(ttft, itl time.Duration, tokens int) {
	c.words(ttft, itl, tokens)
	c.end()
}

// words is the response short of its end. Tokens are due at multiples of itl, so that a late
// one does not move the others.
func (c *call) words(ttft, itl time.Duration, tokens int) {
	due := c.read.Add(ttft)
	for i := range tokens {
		c.wait(time.Until(due))
		if c.closed {
			return
		}
		c.send(1, word(i))
		due = due.Add(itl)
	}
}

// status refuses a request.
func (c *call) status(code int, body string, fields ...string) {
	if c.over != nil {
		c.over.head(code, "application/json")
		c.fate, c.ending = refused, true
		c.write([]byte(body))
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", code, http.StatusText(code), len(body))
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	b.WriteString("\r\n" + body)
	c.fate = refused
	c.write(b.Bytes())
}

// drop closes the connection, with or without something sent.
func (c *call) drop() {
	c.fate = dropped
	if c.began {
		c.fate = cut
	}
	_ = c.conn.Close()
	c.closed = true
}

// abort closes a connection with a reset.
func abort(c net.Conn) {
	switch t := c.(type) {
	case *net.TCPConn:
		_ = t.SetLinger(0)
	case stampedConn:
		abort(t.Conn)
	case *recordConn:
		abort(t.Conn)
	case *tls.Conn:
		abort(t.NetConn())
	}
	_ = c.Close()
}

func itoa(n int) string { return strconv.Itoa(n) }
