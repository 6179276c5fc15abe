package localaddr

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// connectPicksPort leaves the choice of the port to connect(2), which knows the other end: the
// same port can then serve connections to several destinations. Without it bind(2) takes a port
// that is free altogether; kernels before 4.2 can do no better.
func connectPicksPort(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
}
