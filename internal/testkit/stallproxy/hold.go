// Package stallproxy is a TCP proxy that can stop passing bytes and go on later, as a network that is cut and comes back.
package stallproxy

import (
	"net"
	"sync"
	"testing"
)

// Proxy passes connections on to an address.
type Proxy struct {
	listener net.Listener
	to       string
	gate     sync.RWMutex // locked while nothing passes
}

// New starts a proxy that ends with the test.
func New(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, to: to}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go p.carry(from)
		}
	}()
	return p
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Hold lets nothing pass until Release. Connections stay open.
func (p *Proxy) Hold() { p.gate.Lock() }

// Release lets everything pass that was held, too.
func (p *Proxy) Release() { p.gate.Unlock() }

func (p *Proxy) carry(from net.Conn) {
	defer from.Close()
	to, err := p.dial()
	if err != nil {
		return
	}
	defer to.Close()
	go p.copy(from, to)
	p.copy(to, from)
}

// dial connects, once something passes.
func (p *Proxy) dial() (net.Conn, error) {
	p.gate.RLock()
	defer p.gate.RUnlock()
	return net.Dial("tcp", p.to)
}

func (p *Proxy) write(to net.Conn, text []byte) error {
	p.gate.RLock()
	defer p.gate.RUnlock()
	_, err := to.Write(text)
	return err
}

func (p *Proxy) copy(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if failed := p.write(to, buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}
