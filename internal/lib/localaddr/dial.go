package localaddr

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"syscall"
)

// Dialer opens TCP connections from addresses in turn. Without any the system chooses.
type Dialer struct {
	four, six turns
	control   func(network, address string, c syscall.RawConn) error // of a socket, before it is bound
}

// turns are the addresses of one family and how many were taken.
type turns struct {
	list  List
	taken atomic.Uint64
}

func (t *turns) next() netip.Addr {
	return t.list.Addr(int((t.taken.Add(1) - 1) % uint64(t.list.Len())))
}

// NewDialer makes a Dialer for the addresses of ranges.
func NewDialer(ranges []netip.Prefix) *Dialer {
	d := &Dialer{control: connectPicksPort}
	d.four.list, d.six.list = Split(ranges)
	return d
}

func (d *Dialer) binds() bool { return d != nil && d.four.list.Len()+d.six.list.Len() > 0 }

// ErrFamily: there is no address to come from of the kind that is to be reached.
var ErrFamily = errors.New("no source address of its kind")

// atOnce is how many addresses a connection tries whose own have no port left.
const atOnce = 64

// Dial connects to an IP:port. Where an address has no port left for it, the next are tried.
func (d *Dialer) Dial(ctx context.Context, to string) (conn net.Conn, err error) {
	if !d.binds() {
		return new(net.Dialer).DialContext(ctx, "tcp", to)
	}
	there, err := netip.ParseAddrPort(to)
	if err != nil {
		return nil, err
	}
	from := &d.six
	if there.Addr().Unmap().Is4() {
		from = &d.four
	}
	if from.list.Len() == 0 {
		return nil, fmt.Errorf("connecting to %s: %w", to, ErrFamily)
	}
	for range min(from.list.Len(), atOnce) {
		local := net.TCPAddrFromAddrPort(netip.AddrPortFrom(from.next(), 0))
		conn, err = (&net.Dialer{LocalAddr: local, Control: d.control}).DialContext(ctx, "tcp", to)
		if !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return conn, err
}

// DialContext connects to a host:port, whose name may stand for several addresses.
func (d *Dialer) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, host) // of an IP address: itself
	if err != nil {
		return nil, err
	}
	var first error
	for _, h := range hosts {
		conn, err := d.Dial(ctx, net.JoinHostPort(h, port))
		if err == nil {
			return conn, nil
		}
		if first == nil || errors.Is(first, ErrFamily) {
			first = err
		}
	}
	return nil, first
}

// Use has the connections of an HTTP transport come from the addresses, where there are any.
func (d *Dialer) Use(t *http.Transport) {
	if d.binds() {
		t.DialContext = d.DialContext
	}
}
