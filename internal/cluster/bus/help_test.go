package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// patient bounds what a test waits for; no test that passes comes near it.
const patient = 2 * time.Minute

func limited(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	t.Cleanup(cancel)
	return ctx
}

func serve(t testing.TB, o ServerOptions) *Server {
	t.Helper()
	s, err := Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dial(t testing.TB, url, run string) *Bus {
	t.Helper()
	return dialWith(t, DialOptions{URL: url, Run: run})
}

func dialWith(t testing.TB, o DialOptions) *Bus {
	t.Helper()
	b, err := Dial(limited(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// file is a worker's own: frames one after another, in memory.
type file struct {
	mu   sync.Mutex
	data []byte
}

func (f *file) ReadAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.NewReader(f.data).ReadAt(p, at)
}

// add writes a frame and puts it into the outbox.
func (f *file) add(o *Outbox, frame []byte) {
	f.mu.Lock()
	at := int64(len(f.data))
	f.data = append(f.data, frame...)
	f.mu.Unlock()
	o.Add(at, len(frame))
}

func outbox(t testing.TB, b *Bus, worker string) (*Outbox, *file) {
	t.Helper()
	f := &file{}
	o, err := b.Outbox(limited(t), worker, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.end)
	return o, f
}

func inbox(t testing.TB, b *Bus, worker string) *Inbox {
	t.Helper()
	in, err := b.Inbox(limited(t), worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(limited(t)) })
	return in
}

// frame is what the n-th frame of a worker holds: its length and its bytes follow from the number.
func frame(worker string, n int) []byte {
	text := fmt.Sprintf("%s-%d.", worker, n)
	return bytes.Repeat([]byte(text), 1+n%7)
}

// receive takes so many frames and compares each; the rest until the end mark where n is negative.
func receive(t testing.TB, in *Inbox, from, n int) {
	t.Helper()
	ctx := limited(t)
	for i := from; n < 0 || i < from+n; i++ {
		f, err := in.Next(ctx)
		if n < 0 && errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("frame %d of %s: %v", i, in.worker, err)
		}
		if want := frame(in.worker, i); f.Number != uint64(i) || !bytes.Equal(f.Data, want) {
			t.Fatalf("frame %d of %s is frame %d, %.40q; want %.40q", i, in.worker, f.Number, f.Data, want)
		}
		in.Acknowledge(f.Number)
	}
}

// eventually waits until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx := limited(t)
	for tick := time.NewTicker(5 * time.Millisecond); !holds(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: not in %v", what, patient)
		}
	}
}

// proxy stands between clients and a server, if there is one, and can be cut.
type proxy struct {
	listener net.Listener

	mu     sync.Mutex
	target string
	down   bool
	conns  []net.Conn
}

func newProxy(t testing.TB, s *Server) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l}
	if s != nil {
		p.retarget(s)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { p.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.cut()
		work.Wait()
	})
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) carry(c net.Conn) {
	defer c.Close()
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	s, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer s.Close()
	p.mu.Lock()
	p.conns = append(p.conns, c, s)
	down := p.down
	p.mu.Unlock()
	if down {
		return
	}
	var work sync.WaitGroup
	for _, pair := range [][2]net.Conn{{c, s}, {s, c}} {
		work.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			pair[0].Close()
			pair[1].Close()
		})
	}
	work.Wait()
}

// cut breaks all connections, and lets none through until restore.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func (p *proxy) restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// retarget sends connections that come from now on to another server.
func (p *proxy) retarget(s *Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, p.target, _ = strings.Cut(s.URL(), "://")
}
