package bus

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"
)

// Frames are added before, during and after each cut; all come, in order, each once.
func TestWorkerIsCutOff(t *testing.T) {
	s := serve(t, ServerOptions{})
	p := newProxy(t, s)
	o, f := outbox(t, dial(t, p.url(), "run"), "w1")
	in := inbox(t, dial(t, s.URL(), "run"), "w1")
	cuts(t, p, o, f, in)
}

func TestCoordinatorIsCutOff(t *testing.T) {
	s := serve(t, ServerOptions{})
	p := newProxy(t, s)
	o, f := outbox(t, dial(t, s.URL(), "run"), "w1")
	in := inbox(t, dial(t, p.url(), "run"), "w1")
	cuts(t, p, o, f, in)
}

func cuts(t *testing.T, p *proxy, o *Outbox, f *file, in *Inbox) {
	t.Helper()
	const rounds, frames = 3, 20
	read := 1
	for n := range rounds * frames {
		f.add(o, frame("w1", n+1))
		switch n % frames {
		case 5: // in the middle of things
			receive(t, in, read, 3)
			read += 3
			p.cut()
		case 15:
			p.restore()
		}
	}
	closing := closes(t, o)
	receive(t, in, read, -1)
	closing.Wait()
	if in.frames != rounds*frames || o.Acknowledged() != rounds*frames {
		t.Errorf("of %d frames %d came and %d are acknowledged", rounds*frames, in.frames, o.Acknowledged())
	}
}

// A server that comes back empty gets everything again that is not on the coordinator's disk.
func TestServerIsRestarted(t *testing.T) {
	first := serve(t, ServerOptions{})
	p := newProxy(t, first)
	o, f := outbox(t, dial(t, p.url(), "run"), "w1")
	in := inbox(t, dial(t, p.url(), "run"), "w1")
	for i := 1; i <= 20; i++ {
		f.add(o, frame("w1", i))
	}
	receive(t, in, 1, 10)
	eventually(t, "a purge", func() bool { return o.Acknowledged() >= 1 })
	p.cut()
	for i := 21; i <= 30; i++ {
		f.add(o, frame("w1", i))
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	p.retarget(serve(t, ServerOptions{}))
	p.restore()
	receive(t, in, 11, 20)
	closing := closes(t, o)
	receive(t, in, 31, -1)
	closing.Wait()
	if in.frames != 30 || o.Acknowledged() != 30 {
		t.Errorf("of 30 frames %d came and %d are acknowledged", in.frames, o.Acknowledged())
	}
}

// All that was sent is on the coordinator's disk, but NATS is gone before the worker knows: it learns it from the new stream.
func TestServerIsRestartedBeforeTheWorkerKnows(t *testing.T) {
	first := serve(t, ServerOptions{})
	worker, coordinator := newProxy(t, first), newProxy(t, first)
	o, f := outbox(t, dial(t, worker.url(), "run"), "w1")
	in := inbox(t, dial(t, coordinator.url(), "run"), "w1")
	for i := 1; i <= 10; i++ {
		f.add(o, frame("w1", i))
	}
	for i := 1; i <= 10; i++ {
		if _, err := in.Next(limited(t)); err != nil {
			t.Fatal(err)
		}
	}
	worker.cut()
	coordinator.cut()
	in.Acknowledge(10)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := serve(t, ServerOptions{})
	for _, p := range []*proxy{worker, coordinator} {
		p.retarget(second)
		p.restore()
	}
	closing := closes(t, o)
	receive(t, in, 11, -1)
	closing.Wait()
	if in.frames != 10 || o.Acknowledged() != 10 {
		t.Errorf("of 10 frames %d came and %d are acknowledged", in.frames, o.Acknowledged())
	}
}

// A stream that was made anew can be given up as well as the first.
func TestWorkerIsGivenUpAfterARestart(t *testing.T) {
	first := serve(t, ServerOptions{})
	p := newProxy(t, first)
	o, f := outbox(t, dial(t, p.url(), "run"), "w1")
	in := inbox(t, dial(t, p.url(), "run"), "w1")
	f.add(o, frame("w1", 1))
	receive(t, in, 1, 1)
	eventually(t, "an acknowledgement", func() bool { return o.Acknowledged() == 1 })
	p.cut()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	p.retarget(serve(t, ServerOptions{}))
	p.restore()
	f.add(o, frame("w1", 2))
	receive(t, in, 2, 1)
	if err := in.Lost(limited(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Next(limited(t)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("after the last frame of a lost worker: %v", err)
	}
	f.add(o, frame("w1", 3))
	if err := o.Close(limited(t)); !errors.Is(err, ErrLost) {
		t.Errorf("Close returned %v", err)
	}
}

func TestCutsAreTold(t *testing.T) {
	s := serve(t, ServerOptions{})
	p := newProxy(t, s)
	var down, up atomic.Int32
	b := dialWith(t, DialOptions{URL: p.url(), Run: "run", Changed: func(connected bool, _ error) {
		if connected {
			up.Add(1)
		} else {
			down.Add(1)
		}
	}})
	if b.Away() != 0 {
		t.Errorf("away for %v at the start", b.Away())
	}
	p.cut()
	eventually(t, "word of the cut", func() bool { return down.Load() == 1 && b.Away() > 0 })
	p.restore()
	eventually(t, "word of its end", func() bool { return up.Load() == 1 && b.Away() == 0 })
}

// Acknowledged is how many frames, from the first, the coordinator has on disk.
func (o *Outbox) Acknowledged() uint64 {
	o.state.Lock()
	defer o.state.Unlock()
	return o.acked
}
