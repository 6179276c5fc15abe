package timedconn

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// A limit that is far away has no timer until the watchdog has seen it come near.
func TestFarLimitsAreLeftToTheWatchdog(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	clock := NewClock()
	d := NewDialer(clock, l.Addr().String(), DialOptions{})
	defer d.Close()
	c, err := d.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.limit.arm(clock.Now()+time.Hour, clock.Now())
	if c.limit.armed != 0 || c.limit.far.Load() == 0 {
		t.Fatalf("armed for %v, far %v: want no timer for a limit an hour away", c.limit.armed, c.limit.far.Load())
	}
	d.dog.poll()
	if c.limit.far.Load() == 0 {
		t.Fatal("the watchdog took a limit an hour away for near")
	}
	// As if the hour had passed but for a moment.
	c.limit.far.Store(int64(clock.Now() + time.Millisecond))
	d.dog.poll()
	if _, err := c.sock.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a wait ended with %v, want its limit", err)
	}
}
