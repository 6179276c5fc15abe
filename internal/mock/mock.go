// Package mock is the built-in inference server: the endpoints of OpenAI, Anthropic,
// Triton, Text Generation Inference and of rankings, vLLM's metrics, a seeded latency model, faults on demand, and a truth file that
// tells what was sent when.
//
// It is the yardstick of the rest, so it shares no code with the client side:
// a mistake in both would hide itself. Nothing in it depends on who asks.
//
// HTTP/1.1 is served by a loop of its own rather than by net/http. That gives
// the exact time before each write(2), one write for each event or response, and
// the means to break a response anywhere; and on one core it serves several
// times as many requests, so the server is not what a benchmark of clients
// measures. HTTP/2 goes through net/http.
//
// Every token is one word. Prompt tokens are the white-space-separated words of
// the prompt, so client, server and usage count alike without a tokenizer.
package mock

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/cert"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/latency"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/mock/timer"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// Server is a running mock. Make it with New.
type Server struct {
	cfg        config.Server
	firstModel []byte // escaped for JSON
	clock      *timer.Sleeper
	model      *latency.Model
	metrics    *metrics
	truth      *truthfile.Writer
	tls        *tls.Config
	grpcTLS    *tls.Config
	ca         []byte
	http2      *http2
	triton     *repository.Repository
	date       atomic.Pointer[dateLine]
	lexicon    lexicon

	requests    atomic.Uint64
	connections atomic.Uint64

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[net.Conn]struct{}
	grpcs     map[*grpcConn]struct{}
	closed    bool
	closing   sync.Once
	closeErr  error
	active    sync.WaitGroup
}

// Option changes how a server is made.
type Option func(*options)

type options struct {
	truth io.Writer
	alarm func() timer.Alarm
}

// WithTruth writes the truth file's lines to w, which Close closes if it can.
func WithTruth(w io.Writer) Option { return func(o *options) { o.truth = w } }

// New makes a server. It opens the truth file and loads certificates.
func New(c config.Server, opts ...Option) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("mock server: %w", err)
	}
	o := options{alarm: timer.NewAlarm}
	for _, opt := range opts {
		opt(&o)
	}
	quoted := body.AppendQuoted(nil, c.Models[0])
	s := &Server{
		cfg: c, firstModel: quoted[1 : len(quoted)-1], model: latency.New(c.Latency), metrics: newMetrics(c.Output),
		listeners: make(map[net.Listener]struct{}), conns: make(map[net.Conn]struct{}),
		grpcs: make(map[*grpcConn]struct{}),
	}
	var err error
	if c.TLS.Enabled() {
		if s.tls, s.ca, err = cert.ServerTLS(c.TLS, c.HTTP2); err != nil {
			return nil, fmt.Errorf("mock server: %w", err)
		}
		s.grpcTLS = s.tls.Clone()
		s.grpcTLS.NextProtos = []string{"h2"}
	}
	if c.Truth != "" && o.truth == nil {
		if o.truth, err = os.Create(c.Truth); err != nil {
			return nil, fmt.Errorf("mock server: create truth file: %w", err)
		}
	}
	if o.truth != nil {
		s.truth = truthfile.NewWriter(o.truth)
	}
	s.clock = timer.NewSleeper(o.alarm())
	s.triton = repository.New(repository.Options{Names: c.Models, Conventions: c.Triton.Models, Convention: c.Triton.Convention,
		Strict: c.Strict})
	if c.HTTP2 {
		s.http2 = newHTTP2(s)
	}
	return s, nil
}

// CertPEM returns the made-up certificate of TLS.SelfSigned, for clients to
// trust; nil without it.
func (s *Server) CertPEM() []byte { return s.ca }

// Serve accepts connections, with TLS if configured, until the listener fails or the server is
// closed, which is no error. It may be called with several listeners.
func (s *Server) Serve(l net.Listener) error { return s.accept(l, s.serveHTTP) }

func (s *Server) accept(l net.Listener, serve func(*wire)) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			s.start(nc, serve)
		case s.isClosed():
			return nil
		case isTemporary(err):
			// Out of file descriptors, say: those in use will come back.
			s.clock.Until(timer.NewNap(), s.clock.Now()+int64(10*time.Millisecond), nil)
		default:
			return fmt.Errorf("mock server: accept: %w", err)
		}
	}
}

func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// start serves a connection on a goroutine of its own.
func (s *Server) start(nc net.Conn, serve func(*wire)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = nc.Close()
		return
	}
	s.conns[nc] = struct{}{}
	s.active.Go(func() { s.serveConn(nc, serve) })
}

// Salts of the seed that keep the draws for different purposes apart.
const (
	faultDraws      = 0x6661756c74
	connectionDraws = 0x636f6e6e
)

func (s *Server) serveConn(nc net.Conn, serve func(*wire)) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, nc)
		s.mu.Unlock()
	}()
	number := s.connections.Add(1) - 1
	if len(s.cfg.Faults) > 0 {
		u := rand.New(rand.NewPCG(s.cfg.Seed^connectionDraws, number)).Float64()
		if f, struck := config.PickFault(s.cfg.Faults, true, u); struck && !s.onAccept(nc, f) {
			return
		}
	}
	serve(&wire{Conn: nc})
}

func (s *Server) serveHTTP(w *wire) {
	nc, err := secure(w, s.tls)
	if err != nil {
		return
	}
	if t, ok := nc.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol == "h2" {
		s.http2.serve(t)
		return
	}
	newHTTP1(s, w, nc).serve()
}

// secure puts TLS on a connection where it is configured. One that fails is closed.
func secure(w *wire, config *tls.Config) (net.Conn, error) {
	if config == nil {
		return w, nil
	}
	t := tls.Server(w, config)
	err := t.Handshake()
	if err != nil {
		_ = w.Close()
	}
	return t, err
}

// onAccept plays a connection's fault. False: the connection is over.
func (s *Server) onAccept(nc net.Conn, f config.Fault) bool {
	if f.Kind == config.FaultRefuse {
		abort(nc)
		if s.truth != nil {
			c := newCall(s, nil, nil)
			c.reset(request{port: remotePort(nc.RemoteAddr()), read: time.Now()})
			c.faultName = f.Name()
			c.done()
		}
		return false
	}
	return s.clock.Until(timer.NewNap(), s.clock.Now()+int64(s.cfg.SlowFor), nil)
}

// abort closes a connection with a reset rather than in order.
func abort(nc net.Conn) {
	if l, ok := nc.(interface{ SetLinger(int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = nc.Close()
}

func remotePort(a net.Addr) int {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.Port
	}
	return 0
}

// Close ends all connections at once, waits for what runs on them, and
// completes the truth file. A second call waits for the first.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Server) close() error {
	s.mu.Lock()
	s.closed = true
	for l := range s.listeners {
		_ = l.Close()
	}
	for g := range s.grpcs {
		g.shutDown()
	}
	for nc := range s.conns {
		_ = nc.Close()
	}
	s.mu.Unlock()
	s.clock.Close()
	s.active.Wait()
	if s.http2 != nil {
		s.http2.close()
	}
	if s.truth != nil {
		return s.truth.Close()
	}
	return nil
}

type dateLine struct {
	second int64
	text   string
}

// dateHeader returns the Date header for t, made once a second.
func (s *Server) dateHeader(t time.Time) string {
	second := t.Unix()
	if d := s.date.Load(); d != nil && d.second == second {
		return d.text
	}
	d := &dateLine{second: second, text: "Date: " + t.UTC().Format(http.TimeFormat) + "\r\n"}
	s.date.Store(d)
	return d.text
}

// wire is the connection below TLS, if any. It takes the time before the first write once armed.
type wire struct {
	net.Conn

	mu    sync.Mutex // TLS may write on its own while it reads
	armed bool
	at    time.Time
}

func (w *wire) arm() {
	w.mu.Lock()
	w.armed = true
	w.mu.Unlock()
}

func (w *wire) stamp() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	if w.armed {
		w.armed = false
		w.at = time.Now()
	}
	w.mu.Unlock()
	return w.Conn.Write(p)
}
