package bus

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/inferometer/inferometer/internal/lib/access"
	"github.com/inferometer/inferometer/internal/lib/filelock"
)

// ServerOptions say how the embedded server is run.
type ServerOptions struct {
	Listen string // host:port; "": 127.0.0.1 and a free port
	Token  string // what clients must present; required beyond loopback, and then one that cannot be guessed

	Cert, Key string // PEM files; both or neither: TLS

	// StoreDir is where JetStream keeps its files. Left out, that is a temporary directory, which Close removes;
	// where this process is killed, the next one does.
	StoreDir string

	// Log takes the warnings and errors of the server; nil means they are dropped.
	Log func(string)
}

// Server is a NATS server with JetStream inside this process.
type Server struct {
	nats *server.Server
	url  string
	temp *filelock.Dir // to remove, or nil
}

// maxPayload is the largest message that the embedded server takes: a plan may be larger than NATS's 1 MiB.
const maxPayload = 8 << 20

// Serve starts a server.
func Serve(o ServerOptions) (*Server, error) {
	listen := cmp.Or(o.Listen, "127.0.0.1:0")
	host, port, err := splitAddress(listen)
	if err != nil {
		return nil, fmt.Errorf("NATS server: %w", err)
	}
	if !loopback(host) {
		if err := access.CheckToken("the token", o.Token); err != nil {
			return nil, fmt.Errorf("NATS server: listening on %s lets other machines in: %w, or listen on 127.0.0.1", listen, err)
		}
	}
	so := &server.Options{
		ServerName: "inferometer", Host: host, Port: port, Authorization: o.Token, MaxPayload: maxPayload,
		JetStream: true, StoreDir: o.StoreDir, DisableJetStreamBanner: true,
		NoSigs: true,
	}
	if port == 0 {
		so.Port = server.RANDOM_PORT
	}
	scheme := "nats"
	if o.Cert != "" || o.Key != "" {
		if so.TLSConfig, err = certificate(o.Cert, o.Key); err != nil {
			return nil, fmt.Errorf("NATS server: %w", err)
		}
		so.TLS, so.TLSTimeout, scheme = true, 10, "tls"
	}
	s := &Server{}
	if o.StoreDir == "" {
		if s.temp, err = filelock.NewDir("inferometer-nats-"); err != nil {
			return nil, fmt.Errorf("NATS server: make a directory for JetStream: %w", err)
		}
		so.StoreDir = s.temp.Path
	}
	log := &serverLog{tell: o.Log, secret: o.Token}
	if s.nats, err = server.NewServer(so); err != nil {
		return nil, errors.Join(fmt.Errorf("NATS server: %s", redact(err.Error(), o.Token)), s.Close())
	}
	s.nats.SetLoggerV2(log, false, false, false)
	s.nats.Start() // returns once it listens, or cannot
	at, ok := s.nats.Addr().(*net.TCPAddr)
	if !ok || !s.nats.JetStreamEnabled() {
		err := fmt.Errorf("NATS server on %s with JetStream in %s did not start: %s", listen, so.StoreDir, cmp.Or(log.last(), "no reason given"))
		return nil, errors.Join(err, s.Close())
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	s.url = scheme + "://" + net.JoinHostPort(host, strconv.Itoa(at.Port))
	return s, nil
}

// URL is where clients on this machine find the server. It holds no token.
func (s *Server) URL() string { return s.url }

// Close stops the server and removes the files that it made for itself.
func (s *Server) Close() error {
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	if s.temp == nil {
		return nil
	}
	return s.temp.Remove()
}

func splitAddress(listen string) (host string, port int, err error) {
	host, number, err := net.SplitHostPort(listen)
	if err == nil {
		port, err = strconv.Atoi(number)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("cannot listen on %q: write host:port, such as 127.0.0.1:4222", listen)
	}
	return cmp.Or(host, "0.0.0.0"), port, nil
}

// loopback reports whether a host is this machine alone.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || host == "localhost"
}

func certificate(cert, key string) (*tls.Config, error) {
	if cert == "" || key == "" {
		return nil, errors.New("TLS needs a certificate and its key: only one of them is set")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("load certificate %s with key %s: %w", cert, key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

func redact(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}

// serverLog hands warnings and errors on, and remembers the last error for a server that does not start.
type serverLog struct {
	tell   func(string)
	secret string

	mu    sync.Mutex
	error string
}

func (l *serverLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.error
}

func (l *serverLog) format(format string, v []any) string {
	text := redact(fmt.Sprintf(format, v...), l.secret)
	if l.tell != nil {
		l.tell(text)
	}
	return text
}

// Errorf is called for what the server cannot do.
func (l *serverLog) Errorf(format string, v ...any) {
	text := l.format(format, v)
	l.mu.Lock()
	l.error = text
	l.mu.Unlock()
}

// Fatalf is called before the server gives up; this process goes on.
func (l *serverLog) Fatalf(format string, v ...any) { l.Errorf(format, v...) }

// Warnf is called for what the server can live with.
func (l *serverLog) Warnf(format string, v ...any) { l.format(format, v) }

// The rest is too much for anybody.

func (l *serverLog) Noticef(string, ...any) {}
func (l *serverLog) Debugf(string, ...any)  {}
func (l *serverLog) Tracef(string, ...any)  {}
