//go:build linux

package adversary

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
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

// kill lets all connections be reset and accepts no more; it may be called by a response.
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
		over := tls.Server(&recordConn{Conn: tcp, in: in}, s.tls)
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

// stampedReader takes the kernel's stamp of the first read after it was armed, or of the one
// before where what it brought is enough.
type stampedReader struct {
	conn   *net.TCPConn
	armed  bool
	at     time.Time
	latest time.Time
	empty  int // how often there was nothing to read: what comes between two such moments may have one stamp
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
		if errors.Is(failed, syscall.EAGAIN) {
			r.empty++
			return false
		}
		return true
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
