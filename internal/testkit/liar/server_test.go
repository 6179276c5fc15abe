//go:build linux

package liar

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server answers chat completions as its situation says, and writes down what came and
// what it sent, and when. It shares no code with the program, its mock included.
type server struct {
	url    string
	listen net.Listener
	answer func(*call)
	begin  time.Time
	closed chan struct{}
	work   sync.WaitGroup
	dog    *watchdog
	h2     bool
	tls    *tls.Config // nil: it speaks in the clear

	mu    sync.Mutex
	calls []*call
	conns map[net.Conn]bool
}

// serve starts a server that ends with the test.
func serve(t testing.TB, answer func(*call), how ...wire) *server {
	t.Helper()
	stamped := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			// Accepted connections inherit it. Where it fails, the clock of this process stands in.
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
		})
	}}
	l, err := stamped.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		url: "http://" + l.Addr().String(), listen: l, answer: answer, begin: time.Now(),
		closed: make(chan struct{}), conns: map[net.Conn]bool{}, dog: watch(),
	}
	for _, w := range how {
		s.h2 = s.h2 || w == overH2
		if w == overTLS {
			s.url = "https://" + l.Addr().String()
			s.tls = secure(t, s.h2 || slices.Contains(how, overH2))
		}
	}
	s.work.Go(s.accept)
	return s
}

// wire is what a server speaks other than plain HTTP/1.1.
type wire string

const (
	overH2  wire = "HTTP/2"
	overTLS wire = "TLS"
)

// close ends everything at once, as the death of the server would.
func (s *server) close() {
	s.mu.Lock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	_ = s.listen.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
	s.dog.stop()
}

// kill lets all connections be reset and accepts no more; it may be called by an answer.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.listen.Close()
	for c := range s.conns {
		abort(c)
	}
}

func (s *server) accept() {
	for {
		c, err := s.listen.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.work.Go(func() {
			s.connection(c.(*net.TCPConn))
			_ = c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
	}
}

// connection serves one connection, request after request.
func (s *server) connection(tcp *net.TCPConn) {
	in := &stampedReader{conn: tcp}
	c := net.Conn(stampedConn{tcp, in})
	if s.tls != nil {
		over := tls.Server(c, s.tls)
		if over.Handshake() != nil {
			return
		}
		c = over
	}
	if s.h2 {
		s.serveH2(c, in)
		return
	}
	r := bufio.NewReader(c)
	for nth := 0; ; nth++ {
		in.arm()
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if req.Method != http.MethodPost {
			if !s.list(c, req) {
				return
			}
			continue
		}
		x := s.take(&call{server: s, conn: c, nth: nth, id: req.Header.Get("X-Request-Id"), path: req.URL.Path, header: req.Header, body: body, arrived: in.at, read: time.Now()})
		if x.closed {
			return
		}
	}
}

// take writes a call down and answers it.
func (s *server) take(x *call) *call {
	s.mu.Lock()
	x.n = len(s.calls)
	s.calls = append(s.calls, x)
	s.mu.Unlock()
	s.answer(x)
	return x
}

// models is the list of them.
const models = `{"object":"list","data":[{"id":"m","object":"model"}]}`

// list answers what is asked ahead of the run: which models there are.
func (s *server) list(c net.Conn, req *http.Request) bool {
	status, body := http.StatusOK, models
	if !strings.HasSuffix(req.URL.Path, "/models") {
		status, body = http.StatusNotFound, `{"error":{"message":"not found"}}`
	}
	_, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
	return err == nil
}

// seen are the calls so far.
func (s *server) seen() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*call(nil), s.calls...)
}

// forget clears the calls, so that those of the run stand alone.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// fate is what became of a call, on the server's side.
type fate string

const (
	answered fate = "answered"
	refused  fate = "refused" // with a status, or with an error in the stream
	dropped  fate = "dropped" // closed without an answer
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

	began  bool // the head of the answer is out
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
	var b strings.Builder
	for _, e := range append(append([]string{finish}, events...), done) {
		b.WriteString(c.piece(e))
	}
	if c.over == nil {
		b.WriteString("0\r\n\r\n")
	}
	c.ending = true
	c.write([]byte(b.String()))
	if !c.closed {
		c.fate = answered
	}
}

// stream is a whole answer: the first token after ttft, the others itl apart.
func (c *call) stream(ttft, itl time.Duration, tokens int) {
	c.words(ttft, itl, tokens)
	c.end()
}

// words is the answer short of its end. Tokens are due at multiples of itl, so that a late
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
	}
	_ = c.Close()
}

// stampedReader takes the kernel's stamp of the first read after it was armed, or of the one
// before where what it brought is enough.
type stampedReader struct {
	conn   *net.TCPConn
	armed  bool
	at     time.Time
	latest time.Time
	oob    [128]byte
}

func (r *stampedReader) arm() { r.armed, r.at = true, r.latest }

func (r *stampedReader) Read(p []byte) (int, error) {
	raw, err := r.conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n, oobn int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, failed = syscall.Recvmsg(int(fd), p, r.oob[:], 0)
		return !errors.Is(failed, syscall.EAGAIN)
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	case n == 0:
		return 0, io.EOF
	}
	r.latest = stampOf(r.oob[:oobn])
	if r.armed {
		r.armed, r.at = false, r.latest
	}
	return n, nil
}

// stampOf is the kernel's receive time, or the present.
func stampOf(oob []byte) time.Time {
	list, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Now()
	}
	for _, m := range list {
		if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == syscall.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			return time.Unix(int64(le(m.Data[:8])), int64(le(m.Data[8:16])))
		}
	}
	return time.Now()
}

// le reads a number of the machine, which is little-endian wherever this program runs.
func le(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

func itoa(n int) string { return strconv.Itoa(n) }
