package mock

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// maxHead bounds the head of a request and each line of a chunked body.
const maxHead = 64 << 10

// http2Preface is what a client that speaks HTTP/2 without TLS begins with.
const http2Preface = "PRI * HTTP/2.0\r\n\r\n"

// http1 serves one connection, one request after the other.
type http1 struct {
	s    *Server
	wire *wire    // below TLS
	nc   net.Conn // wire, or TLS above it
	call *call
	port int

	in   []byte // what was read and not yet used is in[r:w]
	r, w int
	body []byte // of chunked requests

	// about the request
	minor     int // HTTP/1.x
	keep      bool
	chunkedIn bool
	length    int
	expect    bool

	// about the response
	head     head
	headSent bool
	headOnly bool
	chunked  bool
	headBuf  []byte

	watcher watcher
}

// watcher notices a client that leaves while its response is being waited for.
type watcher struct {
	on       bool
	gone     chan struct{}
	stopped  chan struct{}
	stopping atomic.Bool
	n        int // bytes that it read: the beginning of the next request
	b        [1]byte
}

func newHTTP1(s *Server, w *wire, nc net.Conn) *http1 {
	h := &http1{s: s, wire: w, nc: nc, port: remotePort(w.RemoteAddr()), in: make([]byte, 8<<10)}
	h.watcher.stopped = make(chan struct{}, 1)
	h.call = newCall(s, h, h.watch)
	return h
}

var errBadRequest = errors.New("malformed request")

func (h *http1) serve() {
	for {
		req, err := h.read()
		if errors.Is(err, errHTTP2) {
			h.s.http2.serve(&replay{h.wire, io.MultiReader(bytes.NewReader(h.in[h.r:h.w]), h.wire)})
			return
		}
		if err != nil {
			if errors.Is(err, errBadRequest) {
				h.refuse(err)
			}
			_ = h.nc.Close()
			return
		}
		h.headSent, h.headOnly = false, req.method == http.MethodHead
		h.call.reset(req)
		h.s.answer(h.call)
		h.unwatch()
		if !h.keep {
			_ = h.nc.Close()
			return
		}
		if h.r == h.w && len(h.in) > 1<<20 {
			h.in, h.r, h.w = make([]byte, 8<<10), 0, 0
		}
	}
}

// refuse rejects what is not HTTP. It reads on for a moment, because closing
// with bytes unread would reset the connection and take the response away.
func (h *http1) refuse(err error) {
	h.headSent, h.headOnly, h.keep, h.minor = false, false, false, 1
	h.call.reset(request{})
	h.call.fail(http.StatusBadRequest, err.Error())
	if c, ok := h.wire.Conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
		_ = h.wire.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		_, _ = io.Copy(io.Discard, h.wire.Conn)
	}
}

var errHTTP2 = errors.New("the connection speaks HTTP/2")

func (h *http1) read() (request, error) {
	end, err := h.find("\r\n\r\n")
	if err != nil {
		return request{}, err
	}
	text := h.in[h.r:end]
	if h.s.http2 != nil && bytes.HasPrefix(text, []byte(http2Preface)) {
		return request{}, errHTTP2
	}
	req := request{port: h.port, proto: "HTTP/1.1", stamp: "write", read: time.Now()}
	if err := h.parse(text, &req); err != nil {
		return request{}, err
	}
	h.r = end
	switch {
	case h.chunkedIn:
		req.body, err = h.readChunks()
	case h.length > 0:
		if h.expect && h.w-h.r < h.length {
			err = h.proceed()
		}
		if err == nil {
			err = h.need(h.length)
		}
		if err == nil {
			req.body = h.in[h.r : h.r+h.length]
			h.r += h.length
		}
	}
	return req, err
}

// find reads until a mark is there and returns where it ends.
func (h *http1) find(mark string) (int, error) {
	for seen := 0; ; {
		if i := bytes.Index(h.in[h.r+seen:h.w], []byte(mark)); i >= 0 {
			return h.r + seen + i + len(mark), nil
		}
		if h.w-h.r > maxHead {
			return 0, errBadRequest
		}
		seen = max(0, h.w-h.r-len(mark)+1)
		if err := h.need(h.w - h.r + 1); err != nil {
			return 0, err
		}
	}
}

// need reads until n unused bytes are there.
func (h *http1) need(n int) error {
	if h.r == h.w {
		h.r, h.w = 0, 0
	}
	if h.r+n > len(h.in) {
		to := h.in
		if n > len(h.in) {
			to = make([]byte, max(n, 2*len(h.in)))
		}
		copy(to, h.in[h.r:h.w])
		h.in, h.w, h.r = to, h.w-h.r, 0
	}
	for h.w-h.r < n {
		k, err := h.nc.Read(h.in[h.w:])
		h.w += k
		if err != nil && h.w-h.r < n {
			return err
		}
	}
	return nil
}

// parse reads the request line and the headers that matter.
func (h *http1) parse(text []byte, req *request) error {
	line, rest, _ := bytes.Cut(text, []byte("\r\n"))
	method, line, ok := bytes.Cut(line, []byte(" "))
	target, version, ok2 := bytes.Cut(line, []byte(" "))
	if !ok || !ok2 || len(version) != 8 || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return errBadRequest
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	req.method, req.path = intern(method), intern(path)
	h.minor = int(version[7] - '0')
	h.keep = h.minor >= 1
	h.length, h.chunkedIn, h.expect = 0, false, false
	for len(rest) > 2 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return errBadRequest
		}
		if err := h.header(name, bytes.TrimSpace(value), req); err != nil {
			return err
		}
	}
	return nil
}

func (h *http1) header(name, value []byte, req *request) error {
	h.sessionHeader(name, value, req)
	var room [len("inference-header-content-length")]byte
	if len(name) > len(room) {
		return nil
	}
	lower := room[:len(name)]
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	switch string(lower) {
	case "expect":
		h.expect = bytes.EqualFold(value, []byte("100-continue"))
	case "x-api-key":
		req.key = string(value)
	case "connection":
		v := strings.ToLower(string(value))
		h.keep = (h.keep || strings.Contains(v, "keep-alive")) && !strings.Contains(v, "close")
	case "x-request-id":
		req.id = string(value)
	case "authorization":
		req.auth = string(value)
	case "content-length":
		n, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil || n > maxBody {
			return errBadRequest
		}
		h.length = int(n)
	case "content-type":
		if !bytes.Equal(value, []byte("application/json")) { // nearly all, of which nobody asks
			req.ctype = string(value)
		}
	case "content-encoding":
		req.encoding = string(value)
	case "inference-header-content-length":
		n, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil {
			return errBadRequest
		}
		req.jsonLength = int(n)
	case "anthropic-version":
		req.version = string(value)
	case "transfer-encoding":
		if !bytes.EqualFold(value, []byte("chunked")) {
			return errBadRequest
		}
		h.chunkedIn = true
	}
	return nil
}

// sessionHeader takes in the headers that the configuration names.
func (h *http1) sessionHeader(name, value []byte, req *request) {
	if id := h.s.cfg.SessionID; id != "" && strings.EqualFold(string(name), id) {
		req.session = string(value)
	}
	if token := h.s.cfg.SessionToken; token != "" && strings.EqualFold(string(name), token) && len(value) <= maxToken {
		req.token = string(value)
	}
}

// maxToken bounds a token that is sent back: the head of a response has little room.
const maxToken = 200

// intern spares the usual methods and paths an allocation.
func intern(b []byte) string {
	for _, usual := range [...]string{http.MethodPost, http.MethodGet, "/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/messages", "/v1/responses"} {
		if string(b) == usual {
			return usual
		}
	}
	return string(b)
}

// proceed tells a client that waits before its body to go on.
func (h *http1) proceed() error {
	_, err := h.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err
}

func (h *http1) readChunks() ([]byte, error) {
	if h.expect && h.r == h.w {
		if err := h.proceed(); err != nil {
			return nil, err
		}
	}
	if cap(h.body) > 1<<20 {
		h.body = nil
	}
	h.body = h.body[:0]
	for {
		line, err := h.readLine()
		if err != nil {
			return nil, err
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 31)
		if err != nil || len(h.body)+int(n) > maxBody {
			return nil, errBadRequest
		}
		if n == 0 {
			return h.body, h.skipTrailer()
		}
		if err := h.need(int(n) + 2); err != nil {
			return nil, err
		}
		h.body = append(h.body, h.in[h.r:h.r+int(n)]...)
		if string(h.in[h.r+int(n):h.r+int(n)+2]) != "\r\n" {
			return nil, errBadRequest
		}
		h.r += int(n) + 2
	}
}

func (h *http1) skipTrailer() error {
	for {
		line, err := h.readLine()
		if err != nil || len(line) == 0 {
			return err
		}
	}
}

// readLine returns a line without its end; it is valid until the next read.
func (h *http1) readLine() ([]byte, error) {
	end, err := h.find("\r\n")
	if err != nil {
		return nil, err
	}
	line := h.in[h.r : end-2]
	h.r = end
	return line, nil
}
