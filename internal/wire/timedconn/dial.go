package timedconn

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/record"
)

// Dialer opens connections to one address.
type Dialer struct {
	clock      *Clock
	addr       string      // host:port to reach
	tls        *tls.Config // nil means plain
	proxy      *url.URL    // nil means direct
	from       *localaddr.Dialer
	tunnels    bool // go through the proxy by CONNECT
	timeout    time.Duration
	release    func()
	hangups    *hangups
	dog        *watchdog
	stamps     bool
	coalescers []*coalescer // one for each core: connections are dealt out to them
	dialled    atomic.Uint64
	share      sync.Once // of the clock's pollers
	pollers    []*poller // which wake connections; nil means not asked for yet, or none
	shares     bool
	closed     sync.Once
}

// DialOptions say how a Dialer reaches its address.
type DialOptions struct {
	TLS     *tls.Config   // nil means plain TCP
	Proxy   *url.URL      // of scheme http; nil means direct
	Tunnel  bool          // go through the proxy by CONNECT, as TLS always does
	Timeout time.Duration // for all steps of opening together; 0: none
	// Sources are the local addresses that connections come from in turn; none: the system
	// chooses.
	Sources []netip.Prefix
}

// NewDialer makes a Dialer for addr, a host:port.
func NewDialer(clock *Clock, addr string, o DialOptions) *Dialer {
	d := &Dialer{clock: clock, addr: addr, tls: o.TLS, proxy: o.Proxy, timeout: o.Timeout, from: localaddr.NewDialer(o.Sources)}
	d.tunnels = o.Proxy != nil && (o.Tunnel || o.TLS != nil)
	d.release, d.stamps = primeStamps()
	for range runtime.GOMAXPROCS(0) {
		d.coalescers = append(d.coalescers, newCoalescer(d.stamps))
	}
	d.hangups = newHangups()
	d.dog = newWatchdog(clock)
	return d
}

// KernelStamps reports whether the kernel stamps what is received.
func (d *Dialer) KernelStamps() bool { return d.stamps }

// Close gives back what the Dialer holds; connections stay open. It may be called
// more than once.
func (d *Dialer) Close() {
	d.closed.Do(func() {
		d.release()
		d.hangups.close()
		d.dog.close()
		d.share.Do(func() {})
		if d.shares {
			d.clock.pollers.release()
		}
	})
}

// Error is an error with the class of failure that it means for a request.
type Error struct {
	Class record.Class
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Dial opens a connection.
func (d *Dialer) Dial(ctx context.Context) (*Conn, error) {
	return d.DialFor(ctx, int(d.dialled.Add(1)))
}

// DialFor opens a connection of a slot, which is woken for its responses on the core that sent its
// request, where that can be. Slots whose numbers differ by the number of cores go together.
func (d *Dialer) DialFor(ctx context.Context, slot int) (*Conn, error) {
	d.share.Do(func() { d.pollers, d.shares = d.clock.pollers.use(d.clock), true })
	var p *poller
	if n := len(d.pollers); n > 0 {
		p = d.pollers[slot%n]
	}
	return d.dial(ctx, uint64(slot), p)
}

// dial opens a connection of the k-th core's share, which p wakes; nil means the runtime does.
func (d *Dialer) dial(ctx context.Context, k uint64, p *poller) (*Conn, error) {
	if d.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.timeout)
		defer cancel()
	}
	var opened record.Conn
	tcp, err := d.connect(ctx, &opened)
	if err != nil {
		return nil, err
	}
	sock, err := newSocket(tcp, d.clock, d.coalescers[k%uint64(len(d.coalescers))])
	if err != nil {
		tcp.Close()
		return nil, &Error{record.ConnectFailed, err}
	}
	c := &Conn{sock: sock, hangups: d.hangups, dog: d.dog}
	if d.tunnels {
		begin := d.clock.Now()
		if err := d.tunnel(ctx, sock); err != nil {
			tcp.Close()
			return nil, &Error{record.ConnectFailed, err}
		}
		opened.Connect += d.clock.Now() - begin
	}
	if d.tls != nil {
		begin := d.clock.Now()
		sock.records = &records{}
		c.tls = tls.Client(sock, d.tls)
		if err := c.tls.HandshakeContext(ctx); err != nil {
			tcp.Close()
			return nil, &Error{record.TLSFailed, err}
		}
		opened.TLS = d.clock.Now() - begin
	}
	if p != nil {
		sock.move(p, tcp)
	}
	c.limit = deadline{conn: sock.Conn, clock: d.clock}
	c.opened = opened
	if n, bytes, ok := sock.rx.received(sock.raw); ok {
		sock.segments.told(n, bytes)
	}
	c.Park(d.clock.Now())
	d.dog.add(c)
	return c, nil
}

// connect resolves and connects, to the proxy where there is one.
func (d *Dialer) connect(ctx context.Context, opened *record.Conn) (*net.TCPConn, error) {
	addr := d.addr
	if d.proxy != nil {
		addr = proxyAddr(d.proxy)
	}
	begin := d.clock.Now()
	addrs, err := resolve(ctx, addr)
	if err != nil {
		return nil, &Error{record.ResolveFailed, err}
	}
	resolved := d.clock.Now()
	opened.Resolve = resolved - begin
	var first error // of the address that the resolver prefers
	for _, a := range addrs {
		conn, err := d.from.Dial(ctx, a)
		if err == nil {
			opened.Connect = d.clock.Now() - resolved
			return conn.(*net.TCPConn), nil
		}
		if first == nil || errors.Is(first, localaddr.ErrFamily) || isOwnFault(err) && !errors.Is(err, syscall.EADDRNOTAVAIL) {
			first = err
		}
	}
	return nil, &Error{record.ConnectFailed, first}
}

// resolve gives the addresses behind a host:port.
func resolve(ctx context.Context, addr string) ([]string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) != nil {
		return []string{addr}, nil
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	for i, h := range hosts {
		hosts[i] = net.JoinHostPort(h, port)
	}
	return hosts, nil
}

// tunnel asks the proxy for a connection to the server.
func (d *Dialer) tunnel(ctx context.Context, sock *socket) error {
	defer context.AfterFunc(ctx, func() { _ = sock.SetDeadline(time.Unix(1, 0)) })()
	head := "CONNECT " + d.addr + " HTTP/1.1\r\nHost: " + d.addr + "\r\n"
	if auth := ProxyAuthorization(d.proxy); auth != "" {
		head += "Proxy-Authorization: " + auth + "\r\n"
	}
	if _, err := sock.Write([]byte(head + "\r\n")); err != nil {
		return fmt.Errorf("opening a tunnel through proxy %s: %w", d.proxy.Host, err)
	}
	// Byte by byte, because the first words of the server may follow at once.
	one := bufio.NewReaderSize(oneByte{sock}, 1)
	answer, err := http.ReadResponse(one, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return fmt.Errorf("reading the response of proxy %s: %w", d.proxy.Host, err)
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("proxy %s refused a tunnel to %s: %s", d.proxy.Host, d.addr, answer.Status)
	}
	return nil
}

// oneByte reads a single byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

// ProxyAuthorization is the header value for a proxy URL with a user in it.
func ProxyAuthorization(proxy *url.URL) string {
	if proxy == nil || proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

func proxyAddr(proxy *url.URL) string {
	if proxy.Port() != "" {
		return proxy.Host
	}
	port := "80"
	if proxy.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}

// ownFaults are errors of a machine that has run out of something: file descriptors,
// local ports, memory. EADDRNOTAVAIL is also what an address gives whose kind this
// machine does not speak; EADDRINUSE is of sockets bound to an address on systems that choose
// the port then.
var ownFaults = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, syscall.ENOBUFS, syscall.ENOMEM}

// isOwnFault reports whether an error is this machine's, not the server's.
func isOwnFault(err error) bool {
	var name *net.DNSError // which keeps the words of its cause alone
	lookup := errors.As(err, &name)
	return slices.ContainsFunc(ownFaults, func(n syscall.Errno) bool {
		return errors.Is(err, n) || lookup && strings.HasSuffix(name.Err, n.Error())
	})
}

// Classify gives the failure class of an error that Dial or Exchange returned.
func Classify(err error) record.Class {
	var known *Error
	var expired *Expired
	var alert *net.OpError
	switch {
	case isOwnFault(err):
		return record.ClientResource
	case errors.As(err, &known):
		return known.Class
	case errors.As(err, &expired):
		return expired.Class
	case errors.Is(err, ErrAborted), errors.Is(err, ErrBarred):
		return record.Cancelled
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"):
		// How crypto/tls reports an alert. A server that does not like a client's
		// certificate says so only after the handshake.
		return record.TLSFailed
	default:
		return record.Reset
	}
}
