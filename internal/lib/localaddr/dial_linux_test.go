package localaddr

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// listen gives an address whose connections stay open.
func listen(t *testing.T, at string) string {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Skip(err) // a machine without IPv6
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

// dial opens a connection and gives the address that it comes from.
func dial(t *testing.T, d *Dialer, to string) (netip.AddrPort, error) {
	t.Helper()
	c, err := d.Dial(t.Context(), to)
	if err != nil {
		return netip.AddrPort{}, err
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().(*net.TCPAddr).AddrPort(), nil
}

func TestAddressesTakeTurns(t *testing.T) {
	for _, tt := range []struct{ at, ranges, want string }{
		{"127.0.0.1:0", "127.0.0.2 127.0.0.3", "127.0.0.2 127.0.0.3 127.0.0.2 127.0.0.3 127.0.0.2"},
		{"127.0.0.1:0", "127.0.9.0/30 ::1 127.0.0.1", "127.0.9.1 127.0.9.2 127.0.0.1 127.0.9.1 127.0.9.2"},
		{"127.0.0.1:0", "127.16.0.0/12", "127.16.0.1 127.16.0.2 127.16.0.3 127.16.0.4 127.16.0.5"},
		{"[::1]:0", "127.0.0.2 ::1", "::1 ::1 ::1 ::1 ::1"},
		{"127.0.0.1:0", "198.51.100.1 127.0.0.3", "127.0.0.3 127.0.0.3 127.0.0.3 127.0.0.3 127.0.0.3"}, // one is not this machine's
	} {
		t.Run(tt.ranges, func(t *testing.T) {
			to := listen(t, tt.at)
			d := NewDialer(prefixes(t, tt.ranges))
			var got []string
			for range 5 {
				from, err := dial(t, d, to)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, from.Addr().String())
			}
			if have := strings.Join(got, " "); have != tt.want {
				t.Errorf("connections came from %s, want %s", have, tt.want)
			}
		})
	}
}

// Each pair of a local address and a destination has all ports: n addresses carry n times
// the connections of one, and the next one fails for want of a port. A port that another
// process listens on is none of them, so that one range of ports may fail by chance.
func TestEachAddressHasItsOwnPorts(t *testing.T) {
	one, other := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	var err error
	for low := 41000; low < 60000; low += 3000 {
		d := NewDialer(prefixes(t, "127.0.7.1 127.0.7.2 127.0.7.3"))
		d.control = narrow(low, 4)
		if err = fill(t, d, one, other, 4*3); err == nil {
			return
		}
		if errors.Is(err, syscall.ENOPROTOOPT) {
			t.Skip("the kernel cannot narrow the ports of a socket")
		}
	}
	t.Error(err)
}

// narrow lets sockets use n ports from low on.
func narrow(low, n int) func(network, address string, c syscall.RawConn) error {
	return func(network, address string, c syscall.RawConn) error {
		const portRange = 51 // IP_LOCAL_PORT_RANGE
		var err error
		if also := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, portRange, low|(low+n-1)<<16)
		}); also != nil || err != nil {
			return errors.Join(also, err)
		}
		return connectPicksPort(network, address, c)
	}
}

// fill opens all the connections that there are ports for, to two destinations.
func fill(t *testing.T, d *Dialer, one, other string, room int) error {
	seen := map[netip.AddrPort]bool{}
	for range room {
		from, err := dial(t, d, one)
		if err != nil {
			return fmt.Errorf("after %d connections: %w", len(seen), err)
		}
		seen[from] = true
	}
	if len(seen) != room {
		return fmt.Errorf("%d connections came from %v", room, seen)
	}
	if from, err := dial(t, d, one); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("one connection more than there are ports: from %v, %w", from, err)
	}
	for range room { // the other destination has them all again
		if _, err := dial(t, d, other); err != nil {
			return fmt.Errorf("to another destination: %w", err)
		}
	}
	return nil
}

func TestNoAddressOfTheKind(t *testing.T) {
	d := NewDialer(prefixes(t, "127.0.0.2"))
	if _, err := d.Dial(t.Context(), "[::1]:9"); !errors.Is(err, ErrFamily) {
		t.Error(err)
	}
	if _, err := d.Dial(t.Context(), "nonsense"); err == nil {
		t.Error("connected to nonsense")
	}
}

func TestNoAddressesLeaveTheChoiceToTheSystem(t *testing.T) {
	to := listen(t, "127.0.0.1:0")
	for _, d := range []*Dialer{nil, NewDialer(nil)} {
		if from, err := dial(t, d, to); err != nil || from.Addr().String() != "127.0.0.1" {
			t.Errorf("from %v, %v", from, err)
		}
		transport := new(http.Transport)
		if d.Use(transport); transport.DialContext != nil {
			t.Error("a transport was changed for no address")
		}
	}
}

// A name may stand for addresses of both kinds, one of which cannot be reached from here.
func TestNames(t *testing.T) {
	to := listen(t, "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(to)
	transport := new(http.Transport)
	NewDialer(prefixes(t, "127.0.0.4")).Use(transport)
	c, err := transport.DialContext(t.Context(), "tcp", net.JoinHostPort("localhost", port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if from := c.LocalAddr().String(); !strings.HasPrefix(from, "127.0.0.4:") {
		t.Error(from)
	}
	for _, wrong := range []string{"no port", "host.invalid:1", "localhost:1"} {
		if _, err := transport.DialContext(t.Context(), "tcp", wrong); err == nil {
			t.Errorf("connected to %q", wrong)
		}
	}
}

// Addresses are dealt out evenly to dials at once.
func TestManyAtOnce(t *testing.T) {
	to := listen(t, "127.0.0.1:0")
	d := NewDialer(prefixes(t, "127.0.8.0/29"))
	const each = 5
	from := make(chan string, 6*each)
	for range cap(from) {
		go func() {
			c, err := d.Dial(t.Context(), to)
			if err != nil {
				from <- err.Error()
				return
			}
			from <- c.LocalAddr().(*net.TCPAddr).IP.String()
			c.Close()
		}()
	}
	var all []string
	for range cap(from) {
		all = append(all, <-from)
	}
	slices.Sort(all)
	if kinds := slices.Compact(slices.Clone(all)); len(kinds) != 6 || all[0] != all[each-1] {
		t.Errorf("connections came from %v", all)
	}
}
