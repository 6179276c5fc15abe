//go:build linux && !386 && !s390x && !nostamps

package timedconn

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// checkKernelStamp makes sure that a read of the loopback has the kernel's stamp,
// between the moment at which its last byte was written and that of the read.
func checkKernelStamp(t *testing.T, wrote time.Duration, at Stamp) {
	t.Helper()
	if at.Kernel == record.Never {
		t.Error("a read without a kernel stamp")
	} else if at.Kernel < wrote || at.Kernel > at.User {
		t.Errorf("written at %v, received by the kernel at %v, read at %v", wrote, at.Kernel, at.User)
	}
}

func TestKernelStampsAreOn(t *testing.T) {
	d := NewDialer(NewClock(), "127.0.0.1:1", DialOptions{})
	defer d.Close()
	if !d.KernelStamps() {
		t.Error("this kernel does not stamp what it receives")
	}
}

// awaitStamps waits until the kernel stamps what comes: it takes a moment to begin
// after the first socket of the system has asked for it.
func awaitStamps(t *testing.T) {
	t.Helper()
	addr := serve(t, func(c *net.TCPConn) {
		for askLine(c) {
			_, _ = io.WriteString(c, ".")
		}
	})
	c := dial(t, addr)
	for begin := time.Now(); ; {
		reads, _, _, err := ask(t.Context(), c, Timeouts{})
		if err != nil || time.Since(begin) > patience {
			t.Fatalf("no kernel stamps: %v", err)
		}
		if reads[0].at.Kernel != record.Never {
			return
		}
	}
}

// The kernel's stamp is that of the arrival, not of the read: a client that is late
// sees when its data came.
func TestKernelStampOfALateRead(t *testing.T) {
	awaitStamps(t)
	const late = 20 * time.Millisecond
	sent := make(chan struct{})
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "first")
		askLine(c)
		_, _ = io.WriteString(c, "last.")
		close(sent)
		hold(c)
	})
	c := dial(t, addr)
	var stamps []Stamp
	_, _, err := c.Exchange(t.Context(), c.sock.clock.Now(), []byte("?\n"), Timeouts{}, func(p []byte, at Stamp) bool {
		if stamps = append(stamps, at); len(stamps) == 1 {
			_, _ = c.sock.Conn.Write([]byte("!\n"))
			<-sent
			<-time.After(late)
		}
		return p[len(p)-1] != '.'
	})
	if err != nil || len(stamps) != 2 {
		t.Fatalf("%d reads, error %v", len(stamps), err)
	}
	if at := stamps[1]; at.Kernel == record.Never || at.User-at.Kernel < late {
		t.Errorf("read %v after the kernel's stamp: it had been there for %v", at.User-at.Kernel, late)
	}
}

// A read is said to be of one segment if it was, and if what came before it was read by then.
func TestReadsOfOneSegment(t *testing.T) {
	const pieces = 6
	sent := make(chan struct{}, 1)
	addr := serve(t, func(c *net.TCPConn) {
		for askLine(c) {
			_, _ = io.WriteString(c, "first")
			askLine(c)
			for range pieces - 1 {
				_, _ = io.WriteString(c, "more")
			}
			_, _ = io.WriteString(c, ".")
			sent <- struct{}{}
			askLine(c)
			_, _ = io.WriteString(c, "last!")
		}
	})
	c := dial(t, addr)
	for round := range 3 {
		var single []bool
		_, _, err := c.Exchange(t.Context(), c.sock.clock.Now(), []byte("?\n"), Timeouts{}, func(p []byte, _ Stamp) bool {
			c.sock.segments.pause = 0
			single = append(single, c.Single())
			switch p[len(p)-1] {
			case 't':
				// Let the rest pile up in the kernel before the next read.
				_, _ = c.sock.Conn.Write([]byte("!\n"))
				<-sent
			case '.':
				_, _ = c.sock.Conn.Write([]byte("!\n"))
			}
			return p[len(p)-1] != '!'
		})
		if want := []bool{true, false, true}; err != nil || !slices.Equal(single, want) {
			t.Errorf("round %d: reads of one segment %v, want %v; error %v", round, single, want, err)
		}
	}
}

// await waits until something has come for an idle connection.
func await(t *testing.T, c *Conn) {
	t.Helper()
	for begin := time.Now(); peek(c.sock.raw); {
		if time.Since(begin) > patience {
			t.Fatal("nothing came")
		}
		<-time.After(100 * time.Microsecond)
	}
}

func TestPeekSeesWhatCameWhileIdle(t *testing.T) {
	act := make(chan func(*net.TCPConn), 1)
	addr := serve(t, func(c *net.TCPConn) {
		(<-act)(c)
		hold(c)
	})
	for name, what := range map[string]func(*net.TCPConn){
		"bytes":  func(c *net.TCPConn) { _, _ = io.WriteString(c, "x") },
		"an end": func(c *net.TCPConn) { _ = c.CloseWrite() },
		"a reset": func(c *net.TCPConn) {
			_ = c.SetLinger(0)
			_ = c.Close()
		},
	} {
		c := dial(t, addr)
		if !peek(c.sock.raw) {
			t.Fatalf("%s: an open, silent connection is said to be dead", name)
		}
		act <- what
		await(t, c)
		c.idleSince = c.sock.clock.Now() - trustFor
		if c.Usable() {
			t.Errorf("a connection on which %s came is said to be usable", name)
		}
	}
}

// What stands behind a response, be it bytes or an end, is seen with its last read.
func TestLeftoverEndsAConnection(t *testing.T) {
	for name, more := range map[string]func(*net.TCPConn){
		"nothing": func(*net.TCPConn) {},
		"an end":  func(c *net.TCPConn) { _ = c.CloseWrite() },
	} {
		sent := make(chan struct{})
		addr := serve(t, func(c *net.TCPConn) {
			askLine(c)
			_, _ = io.WriteString(c, "first")
			askLine(c)
			_, _ = io.WriteString(c, "last.")
			more(c)
			close(sent)
			hold(c)
		})
		c := dial(t, addr)
		reads := 0
		_, _, err := c.Exchange(t.Context(), c.sock.clock.Now(), []byte("?\n"), Timeouts{}, func(p []byte, _ Stamp) bool {
			if reads++; reads == 1 {
				_, _ = c.sock.Conn.Write([]byte("!\n"))
				<-sent
			}
			return p[len(p)-1] != '.'
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := name == "nothing"; c.Usable() != want {
			t.Errorf("%s behind the answer: usable %v, want %v", name, c.Usable(), want)
		}
	}
}

// An end that came between two requests gives no signal of its own while the second
// one waits.
func TestEndBetweenTwoRequestsIsNoticed(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "answer.")
		_ = c.CloseWrite()
		hold(c)
	})
	c := dial(t, addr)
	if _, _, _, err := ask(t.Context(), c, Timeouts{}); err != nil {
		t.Fatal(err)
	}
	await(t, c)
	if reads, _, _, err := ask(t.Context(), c, Timeouts{Request: patience}); !errors.Is(err, io.EOF) {
		t.Errorf("reads %v, error %v, want an end of stream", reads, err)
	}
}

// A reset that comes right behind data, before the client has read that, gives one
// signal for both.
func TestResetRightBehindData(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "half")
		_ = c.SetLinger(0)
	})
	for range 50 {
		c := dial(t, addr)
		_, _, _, err := ask(t.Context(), c, Timeouts{Request: patience})
		wantClass(t, err, record.Reset)
		c.Close()
	}
}

func TestHangUpsAreForgottenWithTheirConnections(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		for askLine(c) {
			_, _ = io.WriteString(c, "answer.")
		}
	})
	d := NewDialer(NewClock(), addr, DialOptions{})
	defer d.Close()
	for range 10 {
		c, err := d.dial(t.Context(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := ask(t.Context(), c, Timeouts{}); err != nil || !c.sock.watched {
			t.Fatalf("error %v, watched %v", err, c.sock.watched)
		}
		c.Close()
	}
	if n := len(d.hangups.conns); n != 0 {
		t.Errorf("%d connections are watched that are closed", n)
	}
}

// Where hang-ups cannot be told of, a connection looks before it waits.
func TestConnectionThatIsNotWatched(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) {
		askLine(c)
		_, _ = io.WriteString(c, "answer.")
		askLine(c)
		_, _ = io.WriteString(c, "half")
		_ = c.SetLinger(0)
	})
	c := dial(t, addr)
	c.hangups = nil
	if reads, _, _, err := ask(t.Context(), c, Timeouts{}); err != nil || c.sock.watched {
		t.Fatalf("reads %v, error %v, watched %v", reads, err, c.sock.watched)
	}
	_, _, _, err := ask(t.Context(), c, Timeouts{Request: patience})
	wantClass(t, err, record.Reset)
}
