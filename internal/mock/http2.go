package mock

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// http2 serves connections that turned out to speak HTTP/2, by net/http.
type http2 struct {
	s      *Server
	server *http.Server
	conns  chan net.Conn
	done   chan struct{}
	calls  sync.Pool
	active sync.WaitGroup
}

func newHTTP2(s *Server) *http2 {
	h := &http2{s: s, conns: make(chan net.Conn), done: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	h.server = &http.Server{
		Handler: h, Protocols: protocols,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 4096},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	h.active.Go(func() { _ = h.server.Serve(h) })
	return h
}

func (h *http2) serve(nc net.Conn) {
	select {
	case h.conns <- nc:
	case <-h.done:
		_ = nc.Close()
	}
}

// Accept makes the connections that were handed over a listener's.
func (h *http2) Accept() (net.Conn, error) {
	select {
	case nc := <-h.conns:
		return nc, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close does nothing: close ends the listener.
func (h *http2) Close() error { return nil }

// Addr is asked for by net/http only to pass it on.
func (h *http2) Addr() net.Addr { return &net.TCPAddr{} }

func (h *http2) close() {
	close(h.done)
	_ = h.server.Close()
	h.active.Wait()
}

// ServeHTTP answers one stream.
func (h *http2) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.active.Add(1)
	defer h.active.Done()
	read := time.Now()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out := &http2Sender{w: w, flush: http.NewResponseController(w).Flush, ctx: r.Context(), tokenHeader: h.s.cfg.SessionToken}
	c, _ := h.calls.Get().(*call)
	if c == nil {
		c = newCall(h.s, nil, nil)
	}
	c.out, c.watch = out, out.watch
	_, port, _ := net.SplitHostPort(r.RemoteAddr)
	n, _ := strconv.Atoi(port)
	jsonLength, _ := strconv.Atoi(r.Header.Get("Inference-Header-Content-Length"))
	c.reset(request{
		method: r.Method, path: r.URL.Path, auth: r.Header.Get("Authorization"), id: r.Header.Get("X-Request-Id"),
		port: n, proto: r.Proto, stamp: "handler", read: read, body: body,
		key: r.Header.Get("X-Api-Key"), version: r.Header.Get("Anthropic-Version"),
		session: header(r, h.s.cfg.SessionID), token: header(r, h.s.cfg.SessionToken),
		encoding: r.Header.Get("Content-Encoding"), ctype: r.Header.Get("Content-Type"), jsonLength: jsonLength,
	})
	h.s.answer(c)
	h.calls.Put(c)
	if out.broken {
		panic(http.ErrAbortHandler) // how net/http is told to reset the stream
	}
}

func header(r *http.Request, name string) string {
	if value := r.Header.Get(name); name != "" && len(value) <= maxToken {
		return value
	}
	return ""
}

// http2Sender is the way to the client of one stream.
type http2Sender struct {
	w     http.ResponseWriter
	flush func() error
	ctx   context.Context
	// tokenHeader is what the header with a session's token is called.
	tokenHeader string
	head        head
	begun       bool
	broken      bool
}

var _ sender = (*http2Sender)(nil)

func (o *http2Sender) watch() <-chan struct{} { return o.ctx.Done() }

func (o *http2Sender) begin(h head) { o.head = h }

func (o *http2Sender) send(buf *[]byte, last bool) (time.Time, error) {
	if !o.begun {
		o.begun = true
		o.writeHead()
	}
	at := time.Now()
	if _, err := o.w.Write((*buf)[reserve:]); err != nil {
		return at, err
	}
	if last {
		return at, nil // net/http sends the rest together with the end of the stream
	}
	return at, o.flush()
}

func (o *http2Sender) writeHead() {
	h := o.w.Header()
	h.Set("Server", "inferometer-mock")
	h.Set("Content-Type", o.head.ctype)
	if o.head.length >= 0 {
		h.Set("Content-Length", strconv.Itoa(o.head.length))
	}
	o.head.more(o.tokenHeader, h.Set)
	o.w.WriteHeader(o.head.status)
}

func (o *http2Sender) cut(bool) { o.broken = true }

// replay is a connection whose first bytes have been read already.
type replay struct {
	net.Conn
	all io.Reader // them and the rest
}

func (r *replay) Read(p []byte) (int, error) { return r.all.Read(p) }
